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
