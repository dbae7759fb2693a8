// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// `vui_parameters()` (E.1.1): for display and buffering of the video, not for decoding it.
  public struct VUI: VUISyntax {
    /// `aspect_ratio_idc`; nil if absent. 255 is Extended_SAR.
    public var aspectRatioIDC: UInt8?
    /// `sar_width`, meaningful for Extended_SAR.
    public var sampleAspectRatioWidth: UInt16 = 0
    /// `sar_height`, meaningful for Extended_SAR.
    public var sampleAspectRatioHeight: UInt16 = 0
    /// `overscan_appropriate_flag`; nil if absent.
    public var isOverscanAppropriate: Bool?
    /// `video_format`, range and colour; nil if absent.
    public var videoSignal: VideoSignal?
    /// Location of chroma samples; nil if absent.
    public var chromaLocation: ChromaLocation?
    /// Timing; nil if absent.
    public var timing: Timing?
    /// `nal_hrd_parameters()`.
    public var nalHRD: HRDParameters?
    /// `vcl_hrd_parameters()`.
    public var vclHRD: HRDParameters?
    /// `low_delay_hrd_flag`; false without HRD parameters.
    public var isLowDelayHRD = false
    /// `pic_struct_present_flag`: picture timing SEI describes how pictures are displayed.
    public var isPictureStructurePresent = false
    /// Restrictions that the encoder kept to; nil if absent.
    public var bitstreamRestriction: BitstreamRestriction?

    /// `video_format`, range and colour.
    public typealias VideoSignal = H26x.VideoSignal
    /// Location of chroma samples.
    public typealias ChromaLocation = H26x.ChromaLocation
    /// "matrix_coefficients".
    public static var matrixElement: StaticString { "matrix_coefficients" }
    /// "H.264 E.2.1".
    public static var semanticsClause: StaticString { "H.264 E.2.1" }

    /// `timing_info_present_flag` and its fields.
    public struct Timing: Sendable, Hashable {
      /// `num_units_in_tick`.
      public var unitsInTick: UInt32
      /// `time_scale`, units a second. A frame lasts two ticks of `unitsInTick` units.
      public var timeScale: UInt32
      /// `fixed_frame_rate_flag`.
      public var isFixedFrameRate: Bool

      /// Creates one.
      public init(unitsInTick: UInt32, timeScale: UInt32, isFixedFrameRate: Bool) {
        self.unitsInTick = unitsInTick
        self.timeScale = timeScale
        self.isFixedFrameRate = isFixedFrameRate
      }
    }

    /// `bitstream_restriction_flag` and its fields.
    public struct BitstreamRestriction: Sendable, Hashable {
      /// `motion_vectors_over_pic_boundaries_flag`.
      public var motionVectorsOverPictureBoundaries: Bool
      /// `max_bytes_per_pic_denom`, 0 to 16.
      public var maximumBytesPerPictureDenominator: UInt8
      /// `max_bits_per_mb_denom`, 0 to 16.
      public var maximumBitsPerMacroblockDenominator: UInt8
      /// `log2_max_mv_length_horizontal`, 0 to 16.
      public var log2MaximumMotionVectorLengthHorizontal: UInt8
      /// `log2_max_mv_length_vertical`, 0 to 16.
      public var log2MaximumMotionVectorLengthVertical: UInt8
      /// `max_num_reorder_frames`, 0 to 16.
      public var maximumReorderFrames: UInt8
      /// `max_dec_frame_buffering`, 0 to 16.
      public var maximumDecodedFrameBuffering: UInt8
    }

    /// Creates an empty one.
    public init() {}

    /// Reads the fields one after another: those before an error are set.
    mutating func read(_ reader: inout BitReader) throws(BitstreamError) {
      try readDisplay(&reader)
      if try reader.flag("timing_info_present_flag") {
        // Zeros are illegal but common: kept, and ignored when the frame rate is derived.
        timing = Timing(
          unitsInTick: try reader.u(32, "num_units_in_tick"), timeScale: try reader.u(32, "time_scale"),
          isFixedFrameRate: try reader.flag("fixed_frame_rate_flag"))
      }
      if try reader.flag("nal_hrd_parameters_present_flag") { nalHRD = try HRDParameters(&reader) }
      if try reader.flag("vcl_hrd_parameters_present_flag") { vclHRD = try HRDParameters(&reader) }
      if nalHRD != nil || vclHRD != nil { isLowDelayHRD = try reader.flag("low_delay_hrd_flag") }
      isPictureStructurePresent = try reader.flag("pic_struct_present_flag")
      if try reader.flag("bitstream_restriction_flag") { bitstreamRestriction = try BitstreamRestriction(&reader) }
    }

    func write(to writer: inout BitWriter) {
      writeDisplay(to: &writer)
      writer.flag(timing != nil)
      if let timing {
        writer.u(32, timing.unitsInTick)
        writer.u(32, timing.timeScale)
        writer.flag(timing.isFixedFrameRate)
      }
      writer.flag(nalHRD != nil)
      nalHRD?.write(to: &writer)
      writer.flag(vclHRD != nil)
      vclHRD?.write(to: &writer)
      if nalHRD != nil || vclHRD != nil { writer.flag(isLowDelayHRD) }
      writer.flag(isPictureStructurePresent)
      writer.flag(bitstreamRestriction != nil)
      bitstreamRestriction?.write(to: &writer)
    }
  }
}

extension H264.VUI.BitstreamRestriction {
  fileprivate init(_ reader: inout BitReader) throws(BitstreamError) {
    motionVectorsOverPictureBoundaries = try reader.flag("motion_vectors_over_pic_boundaries_flag")
    // 0 to 16; no decoder uses these four, so illegal values are no reason to lose the SPS.
    maximumBytesPerPictureDenominator = try reader.ue8(in: 0...255, "max_bytes_per_pic_denom")
    maximumBitsPerMacroblockDenominator = try reader.ue8(in: 0...255, "max_bits_per_mb_denom")
    log2MaximumMotionVectorLengthHorizontal = try reader.ue8(in: 0...255, "log2_max_mv_length_horizontal")
    log2MaximumMotionVectorLengthVertical = try reader.ue8(in: 0...255, "log2_max_mv_length_vertical")
    let frames = 0...UInt8(FormatDescription.deepestReordering)
    maximumReorderFrames = try reader.ue8(in: frames, "max_num_reorder_frames")
    maximumDecodedFrameBuffering = try reader.ue8(in: frames, "max_dec_frame_buffering")
  }

  fileprivate func write(to writer: inout BitWriter) {
    writer.flag(motionVectorsOverPictureBoundaries)
    writer.ue(UInt32(maximumBytesPerPictureDenominator))
    writer.ue(UInt32(maximumBitsPerMacroblockDenominator))
    writer.ue(UInt32(log2MaximumMotionVectorLengthHorizontal))
    writer.ue(UInt32(log2MaximumMotionVectorLengthVertical))
    writer.ue(UInt32(maximumReorderFrames))
    writer.ue(UInt32(maximumDecodedFrameBuffering))
  }
}
