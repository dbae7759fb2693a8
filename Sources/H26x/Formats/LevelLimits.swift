// SPDX-License-Identifier: MPL-2.0

/// The limits of a level (Annex A).
package struct LevelLimits: Sendable {
  /// The most macroblocks (H.264) or luma samples (H.265) in a picture.
  package let pictureSize: UInt64
  /// The most macroblocks or luma samples a second.
  package let rate: UInt64
  /// The highest bit rate of the VCL HRD, in bits a second.
  package let bitRate: UInt64
  /// The largest coded picture buffer of the VCL HRD, in bits.
  package let codedBuffer: UInt64
  /// The highest bit rate of the NAL HRD, in bits a second.
  package let nalBitRate: UInt64
  /// The largest coded picture buffer of the NAL HRD, in bits.
  package let nalCodedBuffer: UInt64

  /// Whether pictures of this size, so many in so many seconds, are more than ``rate`` allows. Any numbers may be
  /// given.
  package func isExceeded(bySize size: UInt64, pictures: UInt64, inSeconds seconds: UInt64) -> Bool {
    let (sent, allowed) = (size.multipliedFullWidth(by: pictures), rate.multipliedFullWidth(by: seconds))
    return (sent.high, sent.low) > (allowed.high, allowed.low)
  }
}
