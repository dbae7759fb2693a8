// SPDX-License-Identifier: MPL-2.0
import H26x

/// Bytes of a span as an array.
func array(_ bytes: Span<UInt8>, _ range: Range<Int>) -> [UInt8] {
  range.map { bytes[$0] }
}

/// The NAL units of a byte stream as arrays.
func nalUnits(_ stream: [UInt8]) -> [[UInt8]] {
  var result: [[UInt8]] = []
  var units = AnnexB.NALUnits(stream.span)
  while let unit = units.next() { result.append(Array(stream[unit.range])) }
  return result
}
