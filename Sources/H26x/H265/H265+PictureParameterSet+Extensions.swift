// SPDX-License-Identifier: MPL-2.0

extension H265.PictureParameterSet {
  /// `pps_range_extension_flag` to `pps_extension_data_flag`.
  public struct Extensions: Sendable, Hashable {
    /// `pps_extension_4bits`, the reserved ones, 0 to 15.
    public var reservedFlags: UInt8 = 0
    /// `pps_range_extension()`; nil if absent.
    public var range: RangeExtension?
    /// `pps_multilayer_extension_flag`: the multilayer extension begins ``rest``.
    public var hasMultilayer = false
    /// `pps_3d_extension_flag`: the 3D extension is in ``rest``.
    public var has3D = false
    /// `pps_scc_extension()`; nil if absent, and after an extension that is not read.
    public var screenContent: ScreenContent?
    /// `pps_scc_extension_flag` after a multilayer or 3D extension: it is in ``rest``.
    public var hasScreenContentInRest = false
    /// The bits after the elements that are read.
    public var rest = H265.ExtensionData()

    /// Whether an extension of other layers precedes the screen content extension.
    fileprivate var isLayered: Bool { hasMultilayer || has3D }

    /// Creates one without extensions.
    public init() {}
  }

  /// `pps_range_extension()` (7.3.2.3.2).
  public struct RangeExtension: Sendable, Hashable {
    /// `log2_max_transform_skip_block_size_minus2` + 2, 2 to 5; only with ``allowsTransformSkip``.
    public var log2MaximumTransformSkipSize: UInt8 = 2
    /// `cross_component_prediction_enabled_flag`.
    public var predictsAcrossComponents = false
    /// `chroma_qp_offset_list_enabled_flag` and its fields; nil if the flag is 0.
    public var chromaOffsets: ChromaOffsets?
    /// `log2_sao_offset_scale_luma`, 0 to 6.
    public var log2LumaOffsetScale: UInt8 = 0
    /// `log2_sao_offset_scale_chroma`, 0 to 6.
    public var log2ChromaOffsetScale: UInt8 = 0

    /// Chroma QP offsets that coding units choose from.
    public struct ChromaOffsets: Sendable, Hashable {
      /// `diff_cu_chroma_qp_offset_depth`, 0 to 3.
      public var depth: UInt8
      /// `cb_qp_offset_list` and `cr_qp_offset_list`, 1 to 6 entries of −12 to 12 each.
      public var entries: [Entry]

      /// An entry of both lists.
      public struct Entry: Sendable, Hashable {
        /// Added to the QP for Cb.
        public var cb: Int8
        /// Added to the QP for Cr.
        public var cr: Int8

        /// Creates an entry.
        public init(cb: Int8, cr: Int8) {
          self.cb = cb
          self.cr = cr
        }
      }

      /// Creates offsets.
      public init(depth: UInt8, entries: [Entry]) {
        self.depth = depth
        self.entries = entries
      }
    }

    /// Creates one with the values that are inferred when it is absent.
    public init() {}
  }

  /// `pps_scc_extension()` (7.3.2.3.3).
  public struct ScreenContent: Sendable, Hashable {
    /// `pps_curr_pic_ref_enabled_flag`.
    public var refersToCurrentPicture = false
    /// `residual_adaptive_colour_transform_enabled_flag` and its fields; nil if the flag is 0.
    public var colourTransform: ColourTransform?
    /// `pps_palette_predictor_initializers_present_flag` and its fields; nil if the flag is 0.
    public var palette: Palette?

    /// Creates one with all flags 0.
    public init() {}
  }

  /// The adaptive colour transform.
  public struct ColourTransform: Sendable, Hashable {
    /// `pps_slice_act_qp_offsets_present_flag`.
    public var areSliceOffsetsPresent: Bool
    /// `pps_act_y_qp_offset_plus5`, −7 to 17.
    public var lumaOffsetPlus5: Int8
    /// `pps_act_cb_qp_offset_plus5`, −7 to 17.
    public var cbOffsetPlus5: Int8
    /// `pps_act_cr_qp_offset_plus3`, −9 to 15.
    public var crOffsetPlus3: Int8

    /// Creates one.
    public init(areSliceOffsetsPresent: Bool, lumaOffsetPlus5: Int8, cbOffsetPlus5: Int8, crOffsetPlus3: Int8) {
      self.areSliceOffsetsPresent = areSliceOffsetsPresent
      self.lumaOffsetPlus5 = lumaOffsetPlus5
      self.cbOffsetPlus5 = cbOffsetPlus5
      self.crOffsetPlus3 = crOffsetPlus3
    }
  }

  /// `pps_palette_predictor_initializer`.
  public struct Palette: Sendable, Hashable {
    /// `luma_bit_depth_entry_minus8` + 8, 8 to 16.
    public var lumaBitDepth: UInt8
    /// `chroma_bit_depth_entry_minus8` + 8, 8 to 16; nil for a monochrome palette.
    public var chromaBitDepth: UInt8?
    /// By component, one list or three of equal length, up to 128; none when
    /// `pps_num_palette_predictor_initializers` is 0, and then no depths are sent either.
    public var predictorInitializers: [[UInt16]]

    /// Creates one.
    public init(lumaBitDepth: UInt8 = 8, chromaBitDepth: UInt8? = nil, predictorInitializers: [[UInt16]] = []) {
      self.lumaBitDepth = lumaBitDepth
      self.chromaBitDepth = chromaBitDepth
      self.predictorInitializers = predictorInitializers
    }

    fileprivate var depths: [UInt8] {
      chromaBitDepth.map { [lumaBitDepth, $0, $0] } ?? [lumaBitDepth]
    }
  }
}

extension H265.PictureParameterSet.Extensions {
  init(_ reader: inout BitReader, allowsTransformSkip: Bool) throws(BitstreamError) {
    let hasRange = try reader.flag("pps_range_extension_flag")
    hasMultilayer = try reader.flag("pps_multilayer_extension_flag")
    has3D = try reader.flag("pps_3d_extension_flag")
    let hasScreenContent = try reader.flag("pps_scc_extension_flag")
    reservedFlags = try reader.u8(4, "pps_extension_4bits")
    if hasRange { range = try .init(&reader, allowsTransformSkip: allowsTransformSkip) }
    if isLayered {
      hasScreenContentInRest = hasScreenContent
    } else if hasScreenContent {
      screenContent = try .init(&reader)
    }
    if isLayered || reservedFlags != 0 { rest = try H265.ExtensionData(&reader) }
  }

  func write(to writer: inout BitWriter, allowsTransformSkip: Bool) {
    writer.flag(range != nil)
    writer.flag(hasMultilayer)
    writer.flag(has3D)
    writer.flag(isLayered ? hasScreenContentInRest : screenContent != nil)
    writer.u(4, UInt32(reservedFlags))
    range?.write(to: &writer, allowsTransformSkip: allowsTransformSkip)
    if !isLayered { screenContent?.write(to: &writer) }
    rest.write(to: &writer)
  }
}

extension H265.PictureParameterSet.RangeExtension {
  fileprivate init(_ reader: inout BitReader, allowsTransformSkip: Bool) throws(BitstreamError) {
    if allowsTransformSkip {
      log2MaximumTransformSkipSize = 2 + (try reader.ue8(in: 0...3, "log2_max_transform_skip_block_size_minus2"))
    }
    predictsAcrossComponents = try reader.flag("cross_component_prediction_enabled_flag")
    if try reader.flag("chroma_qp_offset_list_enabled_flag") {
      var offsets = ChromaOffsets(depth: try reader.ue8(in: 0...3, "diff_cu_chroma_qp_offset_depth"), entries: [])
      for _ in 0...(try reader.ue8(in: 0...5, "chroma_qp_offset_list_len_minus1")) {
        offsets.entries.append(
          .init(
            cb: try reader.se8(in: -12...12, "cb_qp_offset_list"), cr: try reader.se8(in: -12...12, "cr_qp_offset_list")
          ))
      }
      chromaOffsets = offsets
    }
    log2LumaOffsetScale = try reader.ue8(in: 0...6, "log2_sao_offset_scale_luma")
    log2ChromaOffsetScale = try reader.ue8(in: 0...6, "log2_sao_offset_scale_chroma")
  }

  fileprivate func write(to writer: inout BitWriter, allowsTransformSkip: Bool) {
    if allowsTransformSkip { writer.ue(UInt32(max(2, log2MaximumTransformSkipSize)) - 2) }
    writer.flag(predictsAcrossComponents)
    writer.flag(chromaOffsets != nil)
    if let chromaOffsets {
      writer.ue(UInt32(chromaOffsets.depth))
      writer.ue(UInt32(clamping: max(1, chromaOffsets.entries.count) - 1))
      for entry in chromaOffsets.entries {
        writer.se(Int32(entry.cb))
        writer.se(Int32(entry.cr))
      }
    }
    writer.ue(UInt32(log2LumaOffsetScale))
    writer.ue(UInt32(log2ChromaOffsetScale))
  }
}

extension H265.PictureParameterSet.ScreenContent {
  fileprivate init(_ reader: inout BitReader) throws(BitstreamError) {
    refersToCurrentPicture = try reader.flag("pps_curr_pic_ref_enabled_flag")
    if try reader.flag("residual_adaptive_colour_transform_enabled_flag") {
      colourTransform = .init(
        areSliceOffsetsPresent: try reader.flag("pps_slice_act_qp_offsets_present_flag"),
        lumaOffsetPlus5: try reader.se8(in: -7...17, "pps_act_y_qp_offset_plus5"),
        cbOffsetPlus5: try reader.se8(in: -7...17, "pps_act_cb_qp_offset_plus5"),
        crOffsetPlus3: try reader.se8(in: -9...15, "pps_act_cr_qp_offset_plus3"))
    }
    if try reader.flag("pps_palette_predictor_initializers_present_flag") { palette = try .init(&reader) }
  }

  fileprivate func write(to writer: inout BitWriter) {
    writer.flag(refersToCurrentPicture)
    writer.flag(colourTransform != nil)
    if let colourTransform {
      writer.flag(colourTransform.areSliceOffsetsPresent)
      writer.se(Int32(colourTransform.lumaOffsetPlus5))
      writer.se(Int32(colourTransform.cbOffsetPlus5))
      writer.se(Int32(colourTransform.crOffsetPlus3))
    }
    writer.flag(palette != nil)
    palette?.write(to: &writer)
  }
}

extension H265.PictureParameterSet.Palette {
  fileprivate init(_ reader: inout BitReader) throws(BitstreamError) {
    self.init()
    // At most PaletteMaxPredictorSize, which profiles limit to 128 (A.3.7).
    let count = try reader.ue8(in: 0...128, "pps_num_palette_predictor_initializers")
    guard count > 0 else { return }
    let isMonochrome = try reader.flag("monochrome_palette_flag")
    lumaBitDepth = 8 + (try reader.ue8(in: 0...8, "luma_bit_depth_entry_minus8"))
    if !isMonochrome { chromaBitDepth = 8 + (try reader.ue8(in: 0...8, "chroma_bit_depth_entry_minus8")) }
    predictorInitializers = try reader.paletteInitializers(
      count: count, depths: depths, "pps_palette_predictor_initializer")
  }

  fileprivate func write(to writer: inout BitWriter) {
    let count = predictorInitializers.first?.count ?? 0
    writer.ue(UInt32(clamping: count))
    guard count > 0 else { return }
    writer.flag(chromaBitDepth == nil)
    writer.ue(UInt32(max(8, lumaBitDepth)) - 8)
    if let chromaBitDepth { writer.ue(UInt32(max(8, chromaBitDepth)) - 8) }
    writer.paletteInitializers(predictorInitializers, depths: depths)
  }
}
