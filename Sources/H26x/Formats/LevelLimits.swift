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

extension H265.Level {
  /// Into how many parts pictures may be divided (Table A.8): MaxSliceSegmentsPerPicture, MaxTileRows and MaxTileCols;
  /// nil for the levels of newer editions, and for a number that is no level.
  package var partitionLimits: (sliceSegments: Int, tileRows: Int, tileColumns: Int)? {
    switch idc {
    case 30, 60: (16, 1, 1)
    case 63: (20, 1, 1)
    case 90: (30, 2, 2)
    case 93: (40, 3, 3)
    case 120, 123: (75, 5, 5)
    case 150, 153, 156: (200, 11, 10)
    case 180, 183, 186: (600, 22, 20)
    default: nil
    }
  }
}
