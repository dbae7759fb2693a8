// SPDX-License-Identifier: MPL-2.0

extension NALPackaging {
  /// Visits the NAL units of an access unit, headers included, up to the first bad length. Returns the error in it;
  /// nil if there is none.
  @inline(__always)
  package func forEachNALUnit(of accessUnit: Span<UInt8>, _ visit: (Range<Int>) -> Void) -> BitstreamError? {
    switch self {
    case .annexB:
      var nalUnits = AnnexB.NALUnits(accessUnit)
      while let nalUnit = nalUnits.next() { visit(nalUnit.range) }
    case .lengthPrefixed(let size):
      var nalUnits = LengthPrefixed.NALUnits(accessUnit, lengthSize: size)
      do throws(BitstreamError) {
        while let range = try nalUnits.next() { visit(range) }
      } catch {
        return error
      }
    }
    return nil
  }

  /// The ranges of an access unit's NAL units, headers included, up to the first bad length.
  package func nalUnits(of accessUnit: Span<UInt8>) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    _ = forEachNALUnit(of: accessUnit) { ranges.append($0) }
    return ranges
  }
}
