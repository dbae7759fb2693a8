// SPDX-License-Identifier: MPL-2.0

/// Moves samples of two bytes from the low bits of planes to the high bits, and chroma into one plane of CbCr pairs: P010
/// and its kin.
///
/// SAFETY: the callers vouch for `count` samples, of `interleave` pairs, at each address.
@unsafe package enum SamplePacking {
  /// Packs a row of luma.
  package static func shift(
    _ samples: UnsafeRawPointer, into packed: UnsafeMutableRawPointer, count: Int, by shift: UInt16
  ) {
    var column = 0
    while column < count & ~15 {
      let values = unsafe samples.loadUnaligned(fromByteOffset: 2 * column, as: SIMD16<UInt16>.self)
      unsafe packed.storeBytes(of: values &<< shift, toByteOffset: 2 * column, as: SIMD16<UInt16>.self)
      column += 16
    }
    while column < count {
      let value = unsafe samples.loadUnaligned(fromByteOffset: 2 * column, as: UInt16.self)
      unsafe packed.storeBytes(of: value &<< shift, toByteOffset: 2 * column, as: UInt16.self)
      column += 1
    }
  }

  /// Packs a row of Cb and one of Cr.
  package static func interleave(
    cb: UnsafeRawPointer, cr: UnsafeRawPointer, into packed: UnsafeMutableRawPointer, count: Int, by shift: UInt16
  ) {
    var column = 0
    while column < count & ~15 {
      let first = unsafe cb.loadUnaligned(fromByteOffset: 2 * column, as: SIMD16<UInt16>.self) &<< shift
      let second = unsafe cr.loadUnaligned(fromByteOffset: 2 * column, as: SIMD16<UInt16>.self) &<< shift
      // Little-endian: Cb is the low half and comes first.
      let pairs = SIMD16<UInt32>(truncatingIfNeeded: first) | SIMD16<UInt32>(truncatingIfNeeded: second) &<< 16
      unsafe packed.storeBytes(of: pairs, toByteOffset: 4 * column, as: SIMD16<UInt32>.self)
      column += 16
    }
    while column < count {
      let first = unsafe cb.loadUnaligned(fromByteOffset: 2 * column, as: UInt16.self) &<< shift
      let second = unsafe cr.loadUnaligned(fromByteOffset: 2 * column, as: UInt16.self) &<< shift
      unsafe packed.storeBytes(of: UInt32(first) | UInt32(second) &<< 16, toByteOffset: 4 * column, as: UInt32.self)
      column += 1
    }
  }
}
