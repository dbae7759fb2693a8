// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// `vui_parameters()` (E.1.1): what helps to show and to buffer the video, not to decode it.
  public struct VUI: Sendable, Hashable {
    /// `aspect_ratio_idc`; nil when absent. 255 is Extended_SAR.
    public var aspectRatioIDC: UInt8?
    /// `sar_width`, meaningful for Extended_SAR.
    public var sampleAspectRatioWidth: UInt16 = 0
    /// `sar_height`, meaningful for Extended_SAR.
    public var sampleAspectRatioHeight: UInt16 = 0
    /// `overscan_appropriate_flag`; nil when absent.
    public var isOverscanAppropriate: Bool?
    /// `video_format`, range and colour; nil when absent.
    public var videoSignal: VideoSignal?
    /// Where the chroma samples lie; nil when absent.
    public var chromaLocation: ChromaLocation?
    /// Time; nil when absent.
    public var timing: Timing?
    /// `nal_hrd_parameters()`.
    public var nalHRD: HRDParameters?
    /// `vcl_hrd_parameters()`.
    public var vclHRD: HRDParameters?
    /// `low_delay_hrd_flag`; false without HRD parameters.
    public var isLowDelayHRD = false
    /// `pic_struct_present_flag`: picture timing SEI says how pictures are to be shown.
    public var isPictureStructurePresent = false
    /// What the encoder restricted itself to; nil when absent.
    public var bitstreamRestriction: BitstreamRestriction?

    /// `video_signal_type_present_flag` and what it brings.
    public struct VideoSignal: Sendable, Hashable {
      /// `video_format`, 0 to 7 (Table E-2).
      public var format: UInt8
      /// `video_full_range_flag`.
      public var isFullRange: Bool
      /// Primaries, transfer and matrix; nil when absent.
      public var colour: ColourDescription?

      /// Creates one.
      public init(format: UInt8 = 5, isFullRange: Bool, colour: ColourDescription?) {
        self.format = format
        self.isFullRange = isFullRange
        self.colour = colour
      }
    }

    /// `chroma_sample_loc_type_top_field` and `_bottom_field`, 0 to 5 (Figure E-1).
    public struct ChromaLocation: Sendable, Hashable {
      /// Of the top field, and of frames.
      public var topField: UInt8
      /// Of the bottom field.
      public var bottomField: UInt8

      /// Creates one.
      public init(topField: UInt8, bottomField: UInt8) {
        self.topField = topField
        self.bottomField = bottomField
      }
    }

    /// `timing_info_present_flag` and what it brings.
    public struct Timing: Sendable, Hashable {
      /// `num_units_in_tick`.
      public var unitsInTick: UInt32
      /// `time_scale`, ticks of `unitsInTick` units a second. A frame lasts two ticks.
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

    /// `bitstream_restriction_flag` and what it brings.
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

    /// The pixel aspect ratio (Table E-1), nil when absent, unspecified or without sense.
    public var sampleAspectRatio: Fraction? {
      guard let aspectRatioIDC else { return nil }
      if aspectRatioIDC == 255 {
        guard sampleAspectRatioWidth > 0, sampleAspectRatioHeight > 0 else { return nil }
        return Fraction(UInt32(sampleAspectRatioWidth), UInt32(sampleAspectRatioHeight))
      }
      let table: [(UInt32, UInt32)] = [
        (1, 1), (12, 11), (10, 11), (16, 11), (40, 33), (24, 11), (20, 11), (32, 11), (80, 33), (18, 11), (15, 11),
        (64, 33), (160, 99), (4, 3), (3, 2), (2, 1),
      ]
      guard 1...16 ~= aspectRatioIDC else { return nil }
      let (width, height) = table[Int(aspectRatioIDC) - 1]
      return Fraction(width, height)
    }

    /// Creates one with nothing in it.
    public init() {}

    init(_ reader: inout BitReader) throws(BitstreamError) {
      if try reader.flag("aspect_ratio_info_present_flag") {
        let idc = try reader.byte("aspect_ratio_idc")
        aspectRatioIDC = idc
        if idc == 255 {
          sampleAspectRatioWidth = UInt16(truncatingIfNeeded: try reader.u(16, "sar_width"))
          sampleAspectRatioHeight = UInt16(truncatingIfNeeded: try reader.u(16, "sar_height"))
        }
      }
      if try reader.flag("overscan_info_present_flag") {
        isOverscanAppropriate = try reader.flag("overscan_appropriate_flag")
      }
      if try reader.flag("video_signal_type_present_flag") {
        let format = UInt8(truncatingIfNeeded: try reader.u(3, "video_format"))
        let isFullRange = try reader.flag("video_full_range_flag")
        var colour: ColourDescription?
        if try reader.flag("colour_description_present_flag") {
          colour = ColourDescription(
            primaries: try reader.byte("colour_primaries"), transfer: try reader.byte("transfer_characteristics"),
            matrix: try reader.byte("matrix_coefficients"))
        }
        videoSignal = VideoSignal(format: format, isFullRange: isFullRange, colour: colour)
      }
      if try reader.flag("chroma_loc_info_present_flag") {
        let top = try reader.ue(in: 0...5, "chroma_sample_loc_type_top_field")
        let bottom = try reader.ue(in: 0...5, "chroma_sample_loc_type_bottom_field")
        chromaLocation = ChromaLocation(
          topField: UInt8(truncatingIfNeeded: top), bottomField: UInt8(truncatingIfNeeded: bottom))
      }
      if try reader.flag("timing_info_present_flag") {
        // Zeros are illegal but common: kept, and ignored where the frame rate is derived.
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
      writer.flag(aspectRatioIDC != nil)
      if let aspectRatioIDC {
        writer.u(8, UInt32(aspectRatioIDC))
        if aspectRatioIDC == 255 {
          writer.u(16, UInt32(sampleAspectRatioWidth))
          writer.u(16, UInt32(sampleAspectRatioHeight))
        }
      }
      writer.flag(isOverscanAppropriate != nil)
      if let isOverscanAppropriate { writer.flag(isOverscanAppropriate) }
      writer.flag(videoSignal != nil)
      if let videoSignal {
        writer.u(3, UInt32(videoSignal.format))
        writer.flag(videoSignal.isFullRange)
        writer.flag(videoSignal.colour != nil)
        if let colour = videoSignal.colour {
          writer.u(8, UInt32(colour.primaries))
          writer.u(8, UInt32(colour.transfer))
          writer.u(8, UInt32(colour.matrix))
        }
      }
      writer.flag(chromaLocation != nil)
      if let chromaLocation {
        writer.ue(UInt32(chromaLocation.topField))
        writer.ue(UInt32(chromaLocation.bottomField))
      }
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
    maximumBytesPerPictureDenominator = UInt8(truncatingIfNeeded: try reader.ue(in: 0...16, "max_bytes_per_pic_denom"))
    maximumBitsPerMacroblockDenominator = UInt8(truncatingIfNeeded: try reader.ue(in: 0...16, "max_bits_per_mb_denom"))
    log2MaximumMotionVectorLengthHorizontal =
      UInt8(truncatingIfNeeded: try reader.ue(in: 0...16, "log2_max_mv_length_horizontal"))
    log2MaximumMotionVectorLengthVertical =
      UInt8(truncatingIfNeeded: try reader.ue(in: 0...16, "log2_max_mv_length_vertical"))
    maximumReorderFrames = UInt8(truncatingIfNeeded: try reader.ue(in: 0...16, "max_num_reorder_frames"))
    maximumDecodedFrameBuffering = UInt8(truncatingIfNeeded: try reader.ue(in: 0...16, "max_dec_frame_buffering"))
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
