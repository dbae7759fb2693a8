// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// Packs planar 4:2:0 of 10 or 12 bits as P010 or P012: samples in the high bits, Cb and Cr in one plane.
///
/// `GstVideoConverter` has no fast path for it and goes through 4:4:4:4 of 16 bits, at several times the cost.
struct SemiPlanarPacking {
  private let shift: UInt16

  /// - Returns: `nil` for other formats.
  init?(from source: VideoFormat, to target: VideoFormat) {
    switch (source.name, target.name) {
    case ("I420_10LE", "P010_10LE"): shift = 6
    case ("I420_12LE", "P012_LE"): shift = 4
    default: return nil
    }
  }

  /// Writes the picture in `source` to `target`, which has the same size.
  func pack(_ source: borrowing VideoFrameMap, into target: inout VideoFrameMap) {
    for row in 0..<source.rowCount(ofPlane: 0) {
      var packed = target.mutableRow(row, ofPlane: 0)
      packLuma(source.row(row, ofPlane: 0), into: &packed)
    }
    for row in 0..<source.rowCount(ofPlane: 1) {
      var packed = target.mutableRow(row, ofPlane: 1)
      packChroma(source.row(row, ofPlane: 1), source.row(row, ofPlane: 2), into: &packed)
    }
  }

  private func packLuma(_ samples: borrowing Span<UInt8>, into packed: inout MutableSpan<UInt8>) {
    // SAFETY: `count` samples of two bytes lie in both rows.
    let count = min(samples.count, packed.count) / 2
    unsafe samples.withUnsafeBytes { samples in
      unsafe packed.withUnsafeMutableBytes { packed in
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
    }
  }

  private func packChroma(
    _ cb: borrowing Span<UInt8>, _ cr: borrowing Span<UInt8>, into packed: inout MutableSpan<UInt8>
  ) {
    // SAFETY: `count` samples of two bytes lie in both rows, and as many pairs of them in the packed one.
    let count = min(cb.count, cr.count, packed.count / 2) / 2
    unsafe cb.withUnsafeBytes { cb in
      unsafe cr.withUnsafeBytes { cr in
        unsafe packed.withUnsafeMutableBytes { packed in
          var column = 0
          while column < count & ~15 {
            let first = unsafe cb.loadUnaligned(fromByteOffset: 2 * column, as: SIMD16<UInt16>.self) &<< shift
            let second = unsafe cr.loadUnaligned(fromByteOffset: 2 * column, as: SIMD16<UInt16>.self) &<< shift
            // Little-endian: Cb is the low half and comes first.
            let pairs =
              SIMD16<UInt32>(truncatingIfNeeded: first) | SIMD16<UInt32>(truncatingIfNeeded: second) &<< 16
            unsafe packed.storeBytes(of: pairs, toByteOffset: 4 * column, as: SIMD16<UInt32>.self)
            column += 16
          }
          while column < count {
            let first = unsafe cb.loadUnaligned(fromByteOffset: 2 * column, as: UInt16.self) &<< shift
            let second = unsafe cr.loadUnaligned(fromByteOffset: 2 * column, as: UInt16.self) &<< shift
            let pair = UInt32(first) | UInt32(second) &<< 16
            unsafe packed.storeBytes(of: pair, toByteOffset: 4 * column, as: UInt32.self)
            column += 1
          }
        }
      }
    }
  }
}
