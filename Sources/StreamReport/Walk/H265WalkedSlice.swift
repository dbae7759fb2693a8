// SPDX-License-Identifier: MPL-2.0
import H26x

/// The findings in a slice segment of H.265 whose header can be read.
struct H265WalkedSlice: Sendable {
  /// The findings in the first slice segment of a picture.
  struct PictureStart: Sendable {
    /// No IRAP picture came before it.
    var isFirst: Bool
    /// There is a recovery point SEI message in its access unit.
    var isRecoveryPoint: Bool
    /// Whether a trailing picture came between the last IRAP picture and this one.
    var followsTrailing: Bool
    /// The last IRAP picture before this one.
    var lastIRAP: H265.NALUnitType?
    /// Its POC.
    var order: Int32 = 0
    /// Its depth in output order, and whether its POC was there before; nil for one that is skipped.
    var reorder: (depth: Int, isRepeated: Bool)?
    /// The missing pictures of its reference picture set, and how many that has; nil while pictures before it may be
    /// missing.
    var references: (missing: [Int32], count: Int)?
  }

  var header: H265.SliceSegmentHeader
  /// `SliceQPY`.
  var quantizationParameter: Int?
  /// Its address in tile scan.
  var address: UInt32
  /// The picture that it ends by beginning another.
  var ended: EndedPicture?
  /// The id of the VPS that its SPS refers to and that is missing.
  var missingVPS: VideoParameterSetID?
  /// nil for a slice that begins no picture, or one whose SPS is missing.
  var pictureStart: PictureStart?
  /// The first slice segment of its picture, and the address of the segment before it; nil for the first.
  var before: (first: H265.SliceSegmentHeader, lastAddress: UInt32)?
}
