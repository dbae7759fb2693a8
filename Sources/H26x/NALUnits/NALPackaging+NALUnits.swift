// SPDX-License-Identifier: MPL-2.0

extension NALPackaging {
  /// Where an access unit's NAL units are, headers included, up to the first that is not packaged as it should be.
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
        // What stands before it can be read all the same.
      }
    }
    return ranges
  }
}
