// SPDX-License-Identifier: MPL-2.0

/// Looks for the picture in the NAL units of an access unit, for the edits of its SEI.
package struct PictureSearch<Codec: StreamEditing>: Sendable {
  /// The picture of an access unit.
  package struct Picture: Sendable {
    /// The index of the NAL unit that SEI is inserted before.
    package let insertion: Int
    /// The index of its first slice.
    package let slice: Int
    /// It is an IDR or IRAP picture, or has a recovery point.
    package let isKeyframe: Bool
    let sps: Codec.SequenceParameterSet?
    /// There is picture timing in front of it.
    let hasTiming: Bool
    /// Messages in front of it, of whose types there is one at most.
    let messages: [SEIPayloadType: [UInt8]]
  }

  private var index = 0
  private var messages: [SEIPayloadType: [UInt8]] = [:]
  private var hasTiming = false
  /// NAL units just before the next one that belong to the slice behind them.
  private var prefixes = 0

  /// Creates a search at the start of an access unit.
  package init() {}

  /// Takes the next NAL unit. Returns the picture when this is its first slice.
  mutating func take(_ nalUnit: Span<UInt8>, _ sets: Codec.ParameterSets) -> Picture? {
    defer { index += 1 }
    let role = Codec.role(of: nalUnit)
    if role == .sei { read(nalUnit) }
    guard role == .slice || role == .slicePart || role == .layerSlice else {
      prefixes = Codec.isPrefix(nalUnit) ? prefixes + 1 : 0
      return nil
    }
    return Picture(
      insertion: index - prefixes, slice: index,
      isKeyframe: messages[.recoveryPoint] != nil || Codec.NALUnitType(headerByte: nalUnit[0]).isRandomAccessPoint,
      sps: Self.sequenceParameterSetID(of: nalUnit, sets).flatMap { sets.sequenceParameterSet($0) },
      hasTiming: hasTiming, messages: messages)
  }

  private mutating func read(_ nalUnit: Span<UInt8>) {
    do throws(BitstreamError) {
      var found = SEIMessages(nalUnit, headerLength: Codec.nalUnitHeaderLength)
      while let message = try found.next() {
        if message.type == .pictureTiming { hasTiming = true }
        if SEIEdits.single.contains(message.type) { messages[message.type] = try message.payload() }
      }
    } catch {
      // The messages before it were read.
    }
  }

  /// The id of the SPS that a slice refers to; nil if that cannot be read.
  package static func sequenceParameterSetID(
    of slice: Span<UInt8>, _ sets: Codec.ParameterSets
  ) -> SequenceParameterSetID? {
    do throws(BitstreamError) {
      return try Codec.SliceHeader(nalUnit: slice, parameterSets: sets, depth: .pictureIdentity).sequenceParameterSetID
    } catch {
      return nil
    }
  }
}
