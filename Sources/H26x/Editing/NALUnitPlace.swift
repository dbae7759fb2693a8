// SPDX-License-Identifier: MPL-2.0

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
