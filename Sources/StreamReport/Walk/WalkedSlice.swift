// SPDX-License-Identifier: MPL-2.0
import H26x

/// The findings in a slice of H.264 whose header can be read.
struct H264WalkedSlice: Sendable {
  /// The findings in the first slice of a picture.
  struct PictureStart: Sendable {
    /// No picture came before it.
    var isFirst: Bool
    /// There is a recovery point SEI message in its access unit.
    var isRecoveryPoint: Bool
    /// Whether every picture that may be referred to has been seen.
    var isComplete: Bool
    /// `idr_pic_id` of the picture before, if that and this are IDR pictures.
    var previousIDRPictureID: UInt16?
    /// `PrevRefFrameNum`; nil before the first picture, for an IDR picture and for a second field.
    var previousFrameNumber: UInt32?
    /// Its POC.
    var order: Int32
    /// Its depth in output order, and whether its POC was there before; nil for a second field.
    var reorder: (depth: Int, isRepeated: Bool)?
    /// Nil for an IDR picture, and if the SPS stays.
    var activation: LateActivation?
    /// Frames that waited for output and that it discards.
    var discarded = 0
  }

  var header: H264.SliceHeader
  /// `SliceQPY`.
  var quantizationParameter: Int?
  /// Whether every `cabac_alignment_one_bit` is 1.
  var endsWithOnes: Bool
  /// The picture that it ends by beginning another.
  var ended: EndedPicture?
  /// nil for a slice that begins no picture, or one whose SPS is missing.
  var pictureStart: PictureStart?
  /// The first slice of its picture, and the start of the slice before it; nil for the first.
  var before: (first: H264.SliceHeader, lastMacroblock: UInt32)?
  /// Reference lists that name missing pictures, or have none initially.
  var defects: [(missing: [Int64], isEmpty: Bool)] = []
}

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
    /// Nil for a picture that begins a coded video sequence, and if the SPS stays.
    var activation: LateActivation?
    /// Pictures that waited for output and that it discards.
    var discarded = 0
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
