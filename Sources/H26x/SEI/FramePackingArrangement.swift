// SPDX-License-Identifier: MPL-2.0

/// `frame_packing_arrangement()` (D.1.26; H.265 D.2.16): two views in one picture.
public struct FramePackingArrangement: Sendable, Hashable {
  /// `frame_packing_arrangement_id`.
  public var id: UInt32
  /// `frame_packing_arrangement_cancel_flag`: ends the arrangement; all else is then zero.
  public var isCancelled: Bool
  /// `frame_packing_arrangement_type`: 0 checkerboard, 1 columns, 2 rows, 3 side by side, 4 top-bottom, 5 temporal,
  /// 6 two-dimensional, 7 tiles.
  public var type: UInt8 = 0
  /// `quincunx_sampling_flag`.
  public var usesQuincunxSampling = false
  /// `content_interpretation_type`: 1 frame 0 is the left view, 2 the right one, 0 unspecified.
  public var contentInterpretation: UInt8 = 0
  /// `spatial_flipping_flag`.
  public var isSpatiallyFlipped = false
  /// `frame0_flipped_flag`.
  public var isFrame0Flipped = false
  /// `field_views_flag`.
  public var hasFieldViews = false
  /// `current_frame_is_frame0_flag`.
  public var isFrame0 = false
  /// `frame_packing_arrangement_repetition_period`, 0 to 16384; of H.265 its persistence flag.
  public var repetitionPeriod: UInt32 = 0

  /// Reads a message of type ``SEIPayloadType/framePackingArrangement``.
  ///
  /// - Parameters:
  ///   - message: the message.
  ///   - codec: the codec of the stream, on which the meaning of ``repetitionPeriod`` depends.
  /// - Throws: any ``BitstreamError``.
  public init(
    _ message: borrowing SEIMessages.Message, codec: FormatDescription.Codec = .h264
  ) throws(BitstreamError) {
    var reader = message.reader
    id = try reader.ue(in: 0...UInt32.max - 1, "frame_packing_arrangement_id")
    isCancelled = try reader.flag("frame_packing_arrangement_cancel_flag")
    guard !isCancelled else { return }
    type = try reader.u8(7, "frame_packing_arrangement_type")
    usesQuincunxSampling = try reader.flag("quincunx_sampling_flag")
    contentInterpretation = try reader.u8(6, "content_interpretation_type")
    isSpatiallyFlipped = try reader.flag("spatial_flipping_flag")
    isFrame0Flipped = try reader.flag("frame0_flipped_flag")
    hasFieldViews = try reader.flag("field_views_flag")
    isFrame0 = try reader.flag("current_frame_is_frame0_flag")
    _ = try reader.u(2, "frame_self_contained_flags")
    if !usesQuincunxSampling, type != 5 { _ = try reader.u(16, "frame_grid_positions") }
    _ = try reader.byte("frame_packing_arrangement_reserved_byte")
    repetitionPeriod =
      codec == .h265
      ? try reader.u(1, "frame_packing_arrangement_persistence_flag")
      : try reader.ue(in: 0...16384, "frame_packing_arrangement_repetition_period")
  }
}
