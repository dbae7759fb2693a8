// SPDX-License-Identifier: MPL-2.0

extension NALPackaging {
  /// The ranges of an access unit's NAL units, headers included, up to the first bad length.
  package func nalUnits(of accessUnit: Span<UInt8>) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    switch self {
    case .annexB:
      var nalUnits = AnnexB.NALUnits(accessUnit)
      while let nalUnit = nalUnits.next() { ranges.append(nalUnit.range) }
    case .lengthPrefixed(let size):
      var nalUnits = LengthPrefixed.NALUnits(accessUnit, lengthSize: size)
      do throws(BitstreamError) {
        while let range = try nalUnits.next() { ranges.append(range) }
      } catch {
        // What precedes it is good.
      }
    }
    return ranges
  }
}
