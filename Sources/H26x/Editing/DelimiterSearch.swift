// SPDX-License-Identifier: MPL-2.0

/// Finds the access unit delimiter that the slices of an access unit need. It is the first `primary_pic_type` (H.264
/// table 7-5) or `pic_type` (H.265 table 7-2) that allows all of them.
package struct DelimiterSearch<Codec: StreamEditing>: Sendable {
  private var hasPicture = false
  /// A bit for each `slice_type` that is there.
  private var sliceTypes: UInt8 = 0
  private var temporalID: UInt8 = 0
  /// Whether there is a delimiter.
  package private(set) var hasDelimiter = false

  /// Creates a search at the start of an access unit.
  package init() {}

  /// Takes the next NAL unit.
  package mutating func take(_ nalUnit: Span<UInt8>, _ sets: borrowing Codec.ParameterSets) {
    switch Codec.role(of: nalUnit) {
    case .accessUnitDelimiter: hasDelimiter = true
    case .slice:
      if !hasPicture { temporalID = Codec.temporalID(of: nalUnit) }
      hasPicture = true
      sliceTypes |= Codec.sliceTypes(of: nalUnit, sets)
    default: break
    }
  }

  /// The delimiter; nil without a slice.
  package var nalUnit: [UInt8]? {
    guard hasPicture else { return nil }
    var nalUnit = Codec.accessUnitDelimiter(temporalID: temporalID)
    nalUnit.removeLast()
    return nalUnit + [pictureType << 5 | 0x10]
  }

  /// The replacement for a delimiter that excludes a slice; nil if the delimiter stays.
  package func replacement(for delimiter: Span<UInt8>) -> [UInt8]? {
    let length = Codec.nalUnitHeaderLength
    guard hasPicture, delimiter.count > length else { return nil }
    let (type, types) = (Int(delimiter[length] >> 5), Codec.delimiterTypes)
    guard !types.indices.contains(type) || sliceTypes & ~types[type] != 0 else { return nil }
    return [UInt8](copying: delimiter.extracting(first: length)) + [pictureType << 5 | 0x10]
  }

  private var pictureType: UInt8 {
    let types = Codec.delimiterTypes
    // If all slices inherit their types from slices that are missing, any type may be there.
    let index = sliceTypes == 0 ? nil : types.firstIndex { sliceTypes & ~$0 == 0 }
    return UInt8(clamping: index ?? types.count - 1)
  }
}
