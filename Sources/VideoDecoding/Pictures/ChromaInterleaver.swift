// SPDX-License-Identifier: MPL-2.0

/// Interleaves Cb and Cr planes into one of CbCr pairs: the only samples that NV12 output copies.
enum ChromaInterleaver {
  /// Interleaves `rowCount` rows of `sampleCount` samples each.
  ///
  /// SAFETY: the caller vouches for `rowCount` rows of `sampleCount` bytes at `cb` and `cr` and twice that at
  /// `target`, at the strides given.
  @unsafe static func interleave(
    cb: UnsafePointer<UInt8>, cr: UnsafePointer<UInt8>, stride: Int, into target: UnsafeMutablePointer<UInt8>,
    targetStride: Int, sampleCount: Int, rowCount: Int
  ) {
    for row in 0..<rowCount {
      unsafe interleaveRow(
        cb: cb + row * stride, cr: cr + row * stride, into: target + row * targetStride, count: sampleCount)
    }
  }

  @inline(__always)
  private static func interleaveRow(
    cb: UnsafePointer<UInt8>, cr: UnsafePointer<UInt8>, into target: UnsafeMutablePointer<UInt8>, count: Int
  ) {
    // 16 at a time in the pattern that compiles to the machine's unpack instructions.
    let whole = count & ~15
    var column = 0
    while column < whole {
      let first = unsafe UnsafeRawPointer(cb + column).loadUnaligned(as: SIMD16<UInt8>.self)
      let second = unsafe UnsafeRawPointer(cr + column).loadUnaligned(as: SIMD16<UInt8>.self)
      let low = SIMD16<UInt16>(truncatingIfNeeded: first)
      let high = SIMD16<UInt16>(truncatingIfNeeded: second) &<< 8
      // Little-endian: Cb is the low byte and comes first.
      unsafe UnsafeMutableRawPointer(target + 2 * column).storeBytes(of: low | high, as: SIMD16<UInt16>.self)
      column += 16
    }
    while column < count {
      unsafe target[2 * column] = unsafe cb[column]
      unsafe target[2 * column + 1] = unsafe cr[column]
      column += 1
    }
  }
}
