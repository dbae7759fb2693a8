// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// `vui_parameters()` (E.2.1): for display and buffering of the video, not for decoding it.
  public struct VUIParameters: VUISyntax {
    /// `aspect_ratio_idc`; nil if absent. 255 is EXTENDED_SAR.
    public var aspectRatioIDC: UInt8?
    /// `sar_width`, meaningful for EXTENDED_SAR.
    public var sampleAspectRatioWidth: UInt16 = 0
    /// `sar_height`, meaningful for EXTENDED_SAR.
    public var sampleAspectRatioHeight: UInt16 = 0
    /// `overscan_appropriate_flag`; nil if absent.
    public var isOverscanAppropriate: Bool?
    /// `video_format`, range and colour; nil if absent.
    public var videoSignal: VideoSignal?
    /// Location of chroma samples; nil if absent.
    public var chromaLocation: ChromaLocation?
    /// `neutral_chroma_indication_flag`: chroma is grey throughout.
    public var hasNeutralChroma = false
    /// `field_seq_flag`: each picture is a field.
    public var isFieldSequence = false
    /// `frame_field_info_present_flag`: picture timing SEI describes how pictures are displayed.
    public var isPictureStructurePresent = false
    /// `default_display_window_flag` and the offsets, within the conformance window.
    public var defaultDisplayWindow: SequenceParameterSet.Window?
    /// Timing; nil if absent.
    public var timing: Timing?
    /// Restrictions that the encoder kept to; nil if absent.
    public var bitstreamRestriction: BitstreamRestriction?

    /// `video_format`, range and colour.
    public typealias VideoSignal = H26x.VideoSignal
    /// Location of chroma samples.
    public typealias ChromaLocation = H26x.ChromaLocation
    /// "matrix_coeffs".
    public static var matrixElement: StaticString { "matrix_coeffs" }
    /// "H.265 E.3.1".
    public static var semanticsClause: StaticString { "H.265 E.3.1" }

    /// `vui_timing_info_present_flag`, or `vps_timing_info_present_flag`, and its fields.
    public struct Timing: Sendable, Hashable {
      /// `vui_num_units_in_tick`.
      public var unitsInTick: UInt32
      /// `vui_time_scale`, units a second. By convention a picture lasts one tick of `unitsInTick` units.
      public var timeScale: UInt32
      /// `vui_num_ticks_poc_diff_one_minus1` + 1; nil if POC is not proportional to time.
      public var ticksPerPictureOrderCount: UInt32?
      /// `hrd_parameters()`; nil if absent. A VPS has them in ``VideoParameterSet/hrdParameters``.
      public var hrdParameters: HRDParameters?

      /// Creates one.
      public init(unitsInTick: UInt32, timeScale: UInt32) {
        self.unitsInTick = unitsInTick
        self.timeScale = timeScale
      }
    }

    /// `bitstream_restriction_flag` and its fields.
    public struct BitstreamRestriction: Sendable, Hashable {
      /// `tiles_fixed_structure_flag`.
      public var hasFixedTiles = false
      /// `motion_vectors_over_pic_boundaries_flag`.
      public var motionVectorsOverPictureBoundaries = true
      /// `restricted_ref_pic_lists_flag`.
      public var hasRestrictedReferenceLists = false
      /// `min_spatial_segmentation_idc`, 0 to 4095.
      public var minimumSpatialSegmentation: UInt16 = 0
      /// `max_bytes_per_pic_denom`, 0 to 16.
      public var maximumBytesPerPictureDenominator: UInt8 = 2
      /// `max_bits_per_min_cu_denom`, 0 to 16.
      public var maximumBitsPerMinimumCodingUnitDenominator: UInt8 = 1
      /// `log2_max_mv_length_horizontal`, 0 to 15. 16 is accepted, which encoders send as in H.264.
      public var log2MaximumMotionVectorLengthHorizontal: UInt8 = 15
      /// `log2_max_mv_length_vertical`, 0 to 15, or 16 as above.
      public var log2MaximumMotionVectorLengthVertical: UInt8 = 15

      /// Creates one with the values that are inferred when it is absent.
      public init() {}
    }

    /// Creates an empty one.
    public init() {}
  }
}

extension H265.VUIParameters {
  private static let displayWindowNames: [4 of StaticString] = [
    "def_disp_win_left_offset", "def_disp_win_right_offset", "def_disp_win_top_offset", "def_disp_win_bottom_offset",
  ]

  /// Reads the fields one after another: those before an error are set.
  mutating func read(_ reader: inout BitReader, subLayerCount: Int) throws(BitstreamError) {
    try readDisplay(&reader)
    hasNeutralChroma = try reader.flag("neutral_chroma_indication_flag")
    isFieldSequence = try reader.flag("field_seq_flag")
    isPictureStructurePresent = try reader.flag("frame_field_info_present_flag")
    if try reader.flag("default_display_window_flag") {
      defaultDisplayWindow = try H265.SequenceParameterSet.Window(&reader, Self.displayWindowNames)
    }
    if try reader.flag("vui_timing_info_present_flag") {
      timing = try Timing(&reader, .vui)
      if try reader.flag("vui_hrd_parameters_present_flag") {
        timing?.hrdParameters = try H265.HRDParameters(&reader, subLayerCount: subLayerCount)
      }
    }
    if try reader.flag("bitstream_restriction_flag") { bitstreamRestriction = try BitstreamRestriction(&reader) }
  }

  func write(to writer: inout BitWriter) {
    writeDisplay(to: &writer)
    writer.flag(hasNeutralChroma)
    writer.flag(isFieldSequence)
    writer.flag(isPictureStructurePresent)
    writer.flag(defaultDisplayWindow != nil)
    defaultDisplayWindow?.write(to: &writer)
    writer.flag(timing != nil)
    if let timing {
      timing.write(to: &writer)
      writer.flag(timing.hrdParameters != nil)
      timing.hrdParameters?.write(to: &writer)
    }
    writer.flag(bitstreamRestriction != nil)
    bitstreamRestriction?.write(to: &writer)
  }
}

extension H265.VUIParameters.Timing {
  /// Reads the fields that VUI and VPS share. Zeros are illegal but common: kept, and ignored when the frame rate is
  /// derived.
  init(_ reader: inout BitReader, _ names: Names) throws(BitstreamError) {
    unitsInTick = try reader.u(32, names.units)
    timeScale = try reader.u(32, names.scale)
    if try reader.flag(names.proportional) {
      ticksPerPictureOrderCount = try reader.ue(in: 0...UInt32.max - 1, names.ticks) + 1
    }
  }

  /// The names of the syntax elements in VUI and VPS.
  struct Names {
    var units: StaticString
    var scale: StaticString
    var proportional: StaticString
    var ticks: StaticString

    static var vui: Names {
      Names(
        units: "vui_num_units_in_tick", scale: "vui_time_scale", proportional: "vui_poc_proportional_to_timing_flag",
        ticks: "vui_num_ticks_poc_diff_one_minus1")
    }
    static var vps: Names {
      Names(
        units: "vps_num_units_in_tick", scale: "vps_time_scale", proportional: "vps_poc_proportional_to_timing_flag",
        ticks: "vps_num_ticks_poc_diff_one_minus1")
    }
  }

  func write(to writer: inout BitWriter) {
    writer.u(32, unitsInTick)
    writer.u(32, timeScale)
    writer.flag(ticksPerPictureOrderCount != nil)
    if let ticksPerPictureOrderCount { writer.ue(max(1, ticksPerPictureOrderCount) - 1) }
  }

  /// Pictures a second; nil if absurd: with a term of 0, or more than 1000.
  var pictureRate: Ratio? {
    guard unitsInTick > 0, timeScale > 0, UInt64(timeScale) <= 1000 * UInt64(unitsInTick) else { return nil }
    return Ratio(timeScale, unitsInTick)
  }
}

extension H265.VUIParameters.BitstreamRestriction {
  fileprivate init(_ reader: inout BitReader) throws(BitstreamError) {
    hasFixedTiles = try reader.flag("tiles_fixed_structure_flag")
    motionVectorsOverPictureBoundaries = try reader.flag("motion_vectors_over_pic_boundaries_flag")
    hasRestrictedReferenceLists = try reader.flag("restricted_ref_pic_lists_flag")
    // 0 to 4095, and 0 to 16; no decoder uses these five, so illegal values are no reason to lose the SPS.
    minimumSpatialSegmentation = UInt16(
      truncatingIfNeeded: try reader.ue(in: 0...0xFFFF, "min_spatial_segmentation_idc"))
    maximumBytesPerPictureDenominator = try reader.ue8(in: 0...255, "max_bytes_per_pic_denom")
    maximumBitsPerMinimumCodingUnitDenominator = try reader.ue8(in: 0...255, "max_bits_per_min_cu_denom")
    log2MaximumMotionVectorLengthHorizontal = try reader.ue8(in: 0...255, "log2_max_mv_length_horizontal")
    log2MaximumMotionVectorLengthVertical = try reader.ue8(in: 0...255, "log2_max_mv_length_vertical")
  }

  fileprivate func write(to writer: inout BitWriter) {
    writer.flag(hasFixedTiles)
    writer.flag(motionVectorsOverPictureBoundaries)
    writer.flag(hasRestrictedReferenceLists)
    writer.ue(UInt32(minimumSpatialSegmentation))
    writer.ue(UInt32(maximumBytesPerPictureDenominator))
    writer.ue(UInt32(maximumBitsPerMinimumCodingUnitDenominator))
    writer.ue(UInt32(log2MaximumMotionVectorLengthHorizontal))
    writer.ue(UInt32(log2MaximumMotionVectorLengthVertical))
  }
}
