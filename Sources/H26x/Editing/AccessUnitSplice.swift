// SPDX-License-Identifier: MPL-2.0

/// An access unit of which parts are replaced.
struct AccessUnitSplice: ~Escapable {
  private let accessUnit: Span<UInt8>
  private let packaging: NALPackaging
  private var output: [UInt8] = []
  private var copied = 0
  /// Whether the NAL unit in front of the next one was removed with a start code of four bytes. The first NAL unit of
  /// an access unit needs such a start code.
  private var owesZeroByte = false

  @_lifetime(copy accessUnit)
  init(_ accessUnit: Span<UInt8>, _ packaging: NALPackaging) {
    self.accessUnit = accessUnit
    self.packaging = packaging
  }

  /// Replaces a NAL unit; its start code stays.
  mutating func replace(_ place: NALUnitPlace, with nalUnit: [UInt8]) throws(StreamEditError) {
    keep(place)
    copy(to: place.start)
    switch packaging {
    case .annexB: copy(to: place.range.lowerBound)
    case .lengthPrefixed(let size): output += try Self.prefix(size, nalUnit.count)
    }
    output += nalUnit
    copied = place.range.upperBound
  }

  /// Removes a NAL unit with its start code or length prefix.
  mutating func remove(_ place: NALUnitPlace, isFirst: Bool) {
    let isLong = place.range.lowerBound - place.start == 4
    let owed = owesZeroByte
    copy(to: place.start)
    copied = place.range.upperBound
    owesZeroByte = packaging == .annexB && (owed || isFirst && isLong)
  }

  /// Adds a NAL unit in front of another one.
  mutating func insert(_ nalUnit: [UInt8], before place: NALUnitPlace) throws(StreamEditError) {
    try insert(nalUnit, at: place.start)
  }

  /// Adds a NAL unit at the end.
  mutating func append(_ nalUnit: [UInt8]) throws(StreamEditError) { try insert(nalUnit, at: accessUnit.count) }

  private mutating func insert(_ nalUnit: [UInt8], at offset: Int) throws(StreamEditError) {
    copy(to: offset)
    owesZeroByte = false
    switch packaging {
    case .annexB: output += [0, 0, 0, 1]
    case .lengthPrefixed(let size): output += try Self.prefix(size, nalUnit.count)
    }
    output += nalUnit
  }

  /// Leaves a NAL unit as it is.
  mutating func keep(_ place: NALUnitPlace) {
    guard owesZeroByte else { return }
    owesZeroByte = false
    guard place.range.lowerBound - place.start == 3 else { return }
    copy(to: place.start)
    output.append(0)
  }

  /// The result; nil if nothing was replaced.
  consuming func finish() -> [UInt8]? {
    guard copied > 0 || !output.isEmpty else { return nil }
    copy(to: accessUnit.count)
    return output
  }

  private mutating func copy(to end: Int) {
    guard end > copied else { return }
    output += [UInt8](copying: accessUnit.extracting(copied..<end))
    copied = end
  }

  private static func prefix(_ size: NALLengthSize, _ length: Int) throws(StreamEditError) -> [UInt8] {
    guard length <= size.maximumNALUnitLength else {
      throw StreamEditError(
        .lengthNotRepresentable, "NALUnitLength", Int64(length),
        "the length prefix is too short for the edited NAL unit", clause: "ISO/IEC 14496-15 4.3.3")
    }
    return (0..<size.byteCount).map { UInt8(truncatingIfNeeded: length >> (8 * (size.byteCount - 1 - $0))) }
  }
}

/// The place of a NAL unit in an access unit, with its start code or length prefix.
struct NALUnitPlace {
  /// The NAL unit, header included.
  let range: Range<Int>
  /// The offset of its start code or length prefix.
  let start: Int

  /// All up to the first bad length.
  static func all(_ accessUnit: Span<UInt8>, _ packaging: NALPackaging) -> [NALUnitPlace] {
    switch packaging {
    case .annexB:
      var places: [NALUnitPlace] = []
      var nalUnits = AnnexB.NALUnits(accessUnit)
      while let unit = nalUnits.next() { places.append(NALUnitPlace(range: unit.range, start: unit.startCodeOffset)) }
      return places
    case .lengthPrefixed(let size):
      return packaging.nalUnits(of: accessUnit).map { NALUnitPlace(range: $0, start: $0.lowerBound - size.byteCount) }
    }
  }
}
