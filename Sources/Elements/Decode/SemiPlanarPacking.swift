// SPDX-License-Identifier: MPL-2.0
import GStreamer
import VideoDecoding

/// Packs planar 4:2:0 of 10 or 12 bits as P010 or P012: samples in the high bits, Cb and Cr in one plane; and takes P010
/// apart.
///
/// `GstVideoConverter` has no fast path for it and goes through 4:4:4:4 of 16 bits, at several times the cost, and
/// dithers on the way back.
struct SemiPlanarPacking {
  private let shift: UInt16
  private let isUnpacking: Bool

  /// - Returns: `nil` for other formats.
  init?(from source: VideoFormat, to target: VideoFormat) {
    switch (source.name, target.name) {
    case ("I420_10LE", "P010_10LE"): shift = 6
    case ("I420_12LE", "P012_LE"): shift = 4
    case ("P010_10LE", "I420_10LE"): shift = 6
    default: return nil
    }
    isUnpacking = source.name == "P010_10LE"
  }

  /// Writes the picture in `source` to `target`, which has the same size.
  func pack(_ source: borrowing VideoFrameMap, into target: inout VideoFrameMap) {
    guard !isUnpacking else { return unpack(source, into: &target) }
    for row in 0..<source.rowCount(ofPlane: 0) {
      var packed = target.mutableRow(row, ofPlane: 0)
      packLuma(source.row(row, ofPlane: 0), into: &packed)
    }
    for row in 0..<source.rowCount(ofPlane: 1) {
      var packed = target.mutableRow(row, ofPlane: 1)
      packChroma(source.row(row, ofPlane: 1), source.row(row, ofPlane: 2), into: &packed)
    }
  }

  private func unpack(_ source: borrowing VideoFrameMap, into target: inout VideoFrameMap) {
    for row in 0..<target.rowCount(ofPlane: 0) {
      var samples = target.mutableRow(row, ofPlane: 0)
      unpack(source.row(row, ofPlane: 0), every: 1, from: 0, into: &samples)
    }
    for row in 0..<target.rowCount(ofPlane: 1) {
      for plane in 1...2 {
        var samples = target.mutableRow(row, ofPlane: plane)
        unpack(source.row(row, ofPlane: 1), every: 2, from: plane - 1, into: &samples)
      }
    }
  }

  private func unpack(
    _ packed: borrowing Span<UInt8>, every step: Int, from first: Int, into samples: inout MutableSpan<UInt8>
  ) {
    for column in 0..<min(samples.count / 2, packed.count / 2 / step) {
      let place = 2 * (step * column + first)
      let value = (UInt16(packed[place]) | UInt16(packed[place + 1]) << 8) >> shift
      samples[2 * column] = UInt8(truncatingIfNeeded: value)
      samples[2 * column + 1] = UInt8(truncatingIfNeeded: value >> 8)
    }
  }

  private func packLuma(_ samples: borrowing Span<UInt8>, into packed: inout MutableSpan<UInt8>) {
    let count = min(samples.count, packed.count) / 2
    unsafe samples.withUnsafeBytes { samples in
      unsafe packed.withUnsafeMutableBytes { packed in
        guard let samples = samples.baseAddress, let packed = packed.baseAddress else { return }
        // SAFETY: `count` samples of two bytes lie in both rows.
        unsafe SamplePacking.shift(samples, into: packed, count: count, by: shift)
      }
    }
  }

  private func packChroma(
    _ cb: borrowing Span<UInt8>, _ cr: borrowing Span<UInt8>, into packed: inout MutableSpan<UInt8>
  ) {
    let count = min(cb.count, cr.count, packed.count / 2) / 2
    unsafe cb.withUnsafeBytes { cb in
      unsafe cr.withUnsafeBytes { cr in
        unsafe packed.withUnsafeMutableBytes { packed in
          guard let cb = cb.baseAddress, let cr = cr.baseAddress, let packed = packed.baseAddress else { return }
          // SAFETY: `count` samples of two bytes lie in both rows, and as many pairs of them in the packed one.
          unsafe SamplePacking.interleave(cb: cb, cr: cr, into: packed, count: count, by: shift)
        }
      }
    }
  }
}
