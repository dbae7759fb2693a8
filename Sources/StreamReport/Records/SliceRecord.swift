// SPDX-License-Identifier: MPL-2.0
public import H26x

/// A slice or slice segment in a report.
public struct SliceRecord: Sendable {
  /// Its type: ASCII `I`, `P` or `B`.
  public var letter: UInt8
  /// `first_mb_in_slice` or `slice_segment_address`.
  public var first: UInt32
  /// `SliceQPY`; nil for a header without `slice_qp_delta`.
  public var quantizationParameter: Int?
  /// The id of the PPS that it refers to.
  public var pictureParameterSetID: PictureParameterSetID
  /// `frame_num`; nil in H.265.
  public var frameNumber: UInt32?
}
