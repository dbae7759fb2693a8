// SPDX-License-Identifier: MPL-2.0
import Testing

@testable import VideoDecoding

@Suite struct ChromaInterleaverTests {
  /// Sixteen samples go at once, the rest one by one; nothing is written beside them.
  @Test(arguments: [0, 1, 2, 15, 16, 17, 31, 32, 33, 47, 48]) func interleavesSamplesInPairs(_ sampleCount: Int) {
    let (stride, targetStride, rowCount) = (sampleCount + 3, 2 * sampleCount + 5, 3)
    let cb = (0..<stride * rowCount).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) }
    let cr = (0..<stride * rowCount).map { UInt8(truncatingIfNeeded: $0 &* 11 &+ 130) }
    var expected = [UInt8](repeating: 0xEE, count: targetStride * rowCount)
    for row in 0..<rowCount {
      for column in 0..<sampleCount {
        expected[row * targetStride + 2 * column] = cb[row * stride + column]
        expected[row * targetStride + 2 * column + 1] = cr[row * stride + column]
      }
    }
    var target = [UInt8](repeating: 0xEE, count: targetStride * rowCount)
    unsafe target.withUnsafeMutableBufferPointer { target in
      unsafe cb.withUnsafeBufferPointer { cb in
        unsafe cr.withUnsafeBufferPointer { cr in
          guard let cb = cb.baseAddress, let cr = cr.baseAddress, let target = target.baseAddress else { return }
          unsafe ChromaInterleaver.interleave(
            cb: cb, cr: cr, stride: stride, into: target, targetStride: targetStride, sampleCount: sampleCount,
            rowCount: rowCount)
        }
      }
    }
    #expect(target == expected)
  }
}
