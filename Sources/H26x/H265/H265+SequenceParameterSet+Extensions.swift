// SPDX-License-Identifier: MPL-2.0

extension H265.SequenceParameterSet {
  /// `sps_range_extension_flag` to `sps_extension_data_flag`.
  public struct Extensions: Sendable, Hashable {
    /// `sps_extension_4bits`, the reserved ones, 0 to 15.
    public var reservedFlags: UInt8 = 0
    /// `sps_range_extension()`; nil if absent.
    public var range: RangeTools?
    /// `inter_view_mv_vert_constraint_flag` of `sps_multilayer_extension()`; nil if absent.
    public var constrainsVerticalMotionBetweenViews: Bool?
    /// `sps_3d_extension_flag`: the 3D extension begins ``rest``.
    public var has3D = false
    /// `sps_scc_extension()`; nil if absent, and after a 3D extension.
    public var screenContent: ScreenContent?
    /// `sps_scc_extension_flag` after a 3D extension: it is in ``rest``.
    public var hasScreenContentBehind3D = false
    /// The bits after the elements that are read.
    public var rest = H265.ExtensionData()

    /// Creates one without extensions.
    public init() {}
  }

  /// `sps_range_extension()` (7.3.2.2.2): its flags, the first in bit 8.
  public struct RangeTools: OptionSet, Sendable, Hashable {
    /// The flags.
    public let rawValue: UInt16

    /// Creates a set from the nine bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue & 0x1FF }

    fileprivate static let names: [StaticString] = [
      "transform_skip_rotation_enabled_flag", "transform_skip_context_enabled_flag", "implicit_rdpcm_enabled_flag",
      "explicit_rdpcm_enabled_flag", "extended_precision_processing_flag", "intra_smoothing_disabled_flag",
      "high_precision_offsets_enabled_flag", "persistent_rice_adaptation_enabled_flag",
      "cabac_bypass_alignment_enabled_flag",
    ]

    /// `transform_skip_rotation_enabled_flag`.
    public static var transformSkipRotation: Self { Self(rawValue: 1 << 8) }
    /// `transform_skip_context_enabled_flag`.
    public static var transformSkipContext: Self { Self(rawValue: 1 << 7) }
    /// `implicit_rdpcm_enabled_flag`.
    public static var implicitRDPCM: Self { Self(rawValue: 1 << 6) }
    /// `explicit_rdpcm_enabled_flag`.
    public static var explicitRDPCM: Self { Self(rawValue: 1 << 5) }
    /// `extended_precision_processing_flag`.
    public static var extendedPrecision: Self { Self(rawValue: 1 << 4) }
    /// `intra_smoothing_disabled_flag`.
    public static var noIntraSmoothing: Self { Self(rawValue: 1 << 3) }
    /// `high_precision_offsets_enabled_flag`.
    public static var highPrecisionOffsets: Self { Self(rawValue: 1 << 2) }
    /// `persistent_rice_adaptation_enabled_flag`.
    public static var persistentRiceAdaptation: Self { Self(rawValue: 1 << 1) }
    /// `cabac_bypass_alignment_enabled_flag`.
    public static var bypassAlignment: Self { Self(rawValue: 1 << 0) }
  }

  /// `sps_scc_extension()` (7.3.2.2.3).
  public struct ScreenContent: Sendable, Hashable {
    /// `sps_curr_pic_ref_enabled_flag`.
    public var refersToCurrentPicture = false
    /// `palette_mode_enabled_flag` and its fields; nil if the flag is 0.
    public var palette: Palette?
    /// `motion_vector_resolution_control_idc`, 0 to 3.
    public var motionVectorResolutionControl: UInt8 = 0
    /// `intra_boundary_filtering_disabled_flag`.
    public var disablesIntraBoundaryFilter = false

    /// Creates one with all flags 0.
    public init() {}
  }

  /// Palette mode.
  public struct Palette: Sendable, Hashable {
    /// `palette_max_size`, 0 to 64.
    public var maximumSize: UInt8
    /// `delta_palette_max_predictor_size`, 0 to 128.
    public var maximumPredictorSizeDelta: UInt8
    /// `sps_palette_predictor_initializer`, by component: one list for monochrome, else three of equal length, 1 to
    /// 128; nil if absent.
    public var predictorInitializers: [[UInt16]]?

    /// Creates one without initializers.
    public init(maximumSize: UInt8, maximumPredictorSizeDelta: UInt8) {
      self.maximumSize = maximumSize
      self.maximumPredictorSizeDelta = maximumPredictorSizeDelta
    }
  }
}

extension H265.SequenceParameterSet.Extensions {
  init(_ reader: inout BitReader, _ sps: H265.SequenceParameterSet) throws(BitstreamError) {
    let hasRange = try reader.flag("sps_range_extension_flag")
    let hasMultilayer = try reader.flag("sps_multilayer_extension_flag")
    has3D = try reader.flag("sps_3d_extension_flag")
    let hasScreenContent = try reader.flag("sps_scc_extension_flag")
    reservedFlags = try reader.u8(4, "sps_extension_4bits")
    if hasRange {
      var tools: UInt16 = 0
      for name in H265.SequenceParameterSet.RangeTools.names {
        tools = tools << 1 | (try reader.flag(name) ? 1 : 0)
      }
      range = .init(rawValue: tools)
    }
    if hasMultilayer {
      constrainsVerticalMotionBetweenViews = try reader.flag("inter_view_mv_vert_constraint_flag")
    }
    if has3D {
      hasScreenContentBehind3D = hasScreenContent
    } else if hasScreenContent {
      screenContent = try .init(&reader, sps)
    }
    if has3D || reservedFlags != 0 { rest = try H265.ExtensionData(&reader) }
  }

  func write(to writer: inout BitWriter, _ sps: H265.SequenceParameterSet) {
    writer.flag(range != nil)
    writer.flag(constrainsVerticalMotionBetweenViews != nil)
    writer.flag(has3D)
    writer.flag(has3D ? hasScreenContentBehind3D : screenContent != nil)
    writer.u(4, UInt32(reservedFlags))
    if let range { writer.u(9, UInt32(range.rawValue)) }
    if let flag = constrainsVerticalMotionBetweenViews { writer.flag(flag) }
    if !has3D { screenContent?.write(to: &writer, sps) }
    rest.write(to: &writer)
  }
}

extension H265.SequenceParameterSet.ScreenContent {
  fileprivate init(_ reader: inout BitReader, _ sps: H265.SequenceParameterSet) throws(BitstreamError) {
    refersToCurrentPicture = try reader.flag("sps_curr_pic_ref_enabled_flag")
    if try reader.flag("palette_mode_enabled_flag") {
      var palette = H265.SequenceParameterSet.Palette(
        maximumSize: try reader.ue8(in: 0...64, "palette_max_size"),
        maximumPredictorSizeDelta: try reader.ue8(in: 0...128, "delta_palette_max_predictor_size"))
      if try reader.flag("sps_palette_predictor_initializers_present_flag") {
        // At most PaletteMaxPredictorSize (7.4.3.2.3), which profiles limit to 128 (A.3.7).
        let count = try reader.ue8(in: 0...127, "sps_num_palette_predictor_initializers_minus1") + 1
        palette.predictorInitializers = try reader.paletteInitializers(
          count: count, depths: H265.paletteDepths(isMonochrome: sps.chromaFormat == .monochrome, sps),
          "sps_palette_predictor_initializer")
      }
      self.palette = palette
    }
    motionVectorResolutionControl = try reader.u8(2, "motion_vector_resolution_control_idc")
    disablesIntraBoundaryFilter = try reader.flag("intra_boundary_filtering_disabled_flag")
  }

  fileprivate func write(to writer: inout BitWriter, _ sps: H265.SequenceParameterSet) {
    writer.flag(refersToCurrentPicture)
    writer.flag(palette != nil)
    if let palette {
      writer.ue(UInt32(palette.maximumSize))
      writer.ue(UInt32(palette.maximumPredictorSizeDelta))
      writer.flag(palette.predictorInitializers != nil)
      if let lists = palette.predictorInitializers {
        writer.ue(UInt32(clamping: max(1, lists.first?.count ?? 1) - 1))
        writer.paletteInitializers(
          lists, depths: H265.paletteDepths(isMonochrome: sps.chromaFormat == .monochrome, sps))
      }
    }
    writer.u(2, UInt32(motionVectorResolutionControl))
    writer.flag(disablesIntraBoundaryFilter)
  }
}

extension H265 {
  fileprivate static func paletteDepths(isMonochrome: Bool, _ sps: SequenceParameterSet) -> [UInt8] {
    isMonochrome ? [sps.lumaBitDepth] : [sps.lumaBitDepth, sps.chromaBitDepth, sps.chromaBitDepth]
  }
}

extension BitReader {
  /// Reads `count` palette entries for each component.
  ///
  /// - Parameter depths: bits of an entry, by component.
  mutating func paletteInitializers(
    count: UInt8, depths: [UInt8], _ element: StaticString
  ) throws(BitstreamError) -> [[UInt16]] {
    var lists: [[UInt16]] = []
    for depth in depths {
      var list: [UInt16] = []
      list.reserveCapacity(Int(count))
      for _ in 0..<count { list.append(UInt16(truncatingIfNeeded: try u(Int(depth), element))) }
      lists.append(list)
    }
    return lists
  }
}

extension BitWriter {
  mutating func paletteInitializers(_ lists: [[UInt16]], depths: [UInt8]) {
    for (list, depth) in zip(lists, depths) {
      for entry in list { u(Int(depth), UInt32(entry)) }
    }
  }
}
