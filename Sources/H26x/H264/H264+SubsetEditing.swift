// SPDX-License-Identifier: MPL-2.0

/// Edits the syntax after the SPS in a subset SPS: the timing and HRD parameters of the operating points of scalable
/// and multiview streams (H.264 F.14, G.14). The bits around them are copied.
struct SubsetExtensionEdit {
  private let removesHRD: Bool
  private let removesTiming: Bool
  private let rate: Ratio?

  /// nil if no edit concerns it.
  init?(_ edits: [StreamEdit]) {
    guard !edits.contains(.removeLayers) else { return nil }
    removesHRD = edits.contains(.removeHRD)
    removesTiming = edits.contains { $0.removesPictureTiming }
    var rate: Ratio?
    for case .frameRate(let new?) in edits { rate = new }
    self.rate = rate
    guard removesHRD || removesTiming || rate != nil else { return nil }
  }

  /// - Parameters:
  ///   - nalUnit: the subset SPS, before the edits.
  ///   - base: the result of the edits of its SPS.
  /// - Throws: `.forbiddenCombination` for a frame rate if operating points have clock ticks of their own.
  func edited(_ nalUnit: Span<UInt8>, _ base: EditedParameterSet) throws(StreamEditError) -> EditedParameterSet {
    var old = [UInt8](copying: nalUnit)
    var changes: [FieldChange] = []
    switch base {
    case .unreadable: return base
    case .unchanged: break
    case .replaced(let bytes, let found): (old, changes) = (bytes, found)
    }
    let (before, after) = (SyntaxTrace(), SyntaxTrace())
    var copy = Copy(self)
    let new: [UInt8]
    let number: UInt8
    do throws(BitstreamError) {
      (new, number) = try copy.nalUnit(old.span, before)
    } catch {
      // Another extension than these, or a damaged one, stays as it is.
      return base
    }
    guard rate == nil || !copy.hasTiming else {
      throw StreamEditError(
        .forbiddenCombination, "vui_mvc_time_scale", nil,
        "layers and views have clock ticks of their own: remove them, too", clause: "H.264 F.14.2, G.14.2")
    }
    guard new != old else { return base }
    var again = Copy(self)
    do throws(BitstreamError) { _ = try again.nalUnit(new.span, after) } catch { return base }
    return .replaced(new, changes: changes + FieldChange.list(.subset, id: number, before, after))
  }

  /// A reading of the extension that writes the rest of it.
  private struct Copy {
    private let edit: SubsetExtensionEdit
    private var writer = BitWriter(addsEmulationPrevention: false)
    /// An operating point has clock ticks.
    private(set) var hasTiming = false

    init(_ edit: SubsetExtensionEdit) { self.edit = edit }

    /// Returns the subset SPS with the rest, and its id.
    mutating func nalUnit(_ nalUnit: Span<UInt8>, _ trace: SyntaxTrace) throws(BitstreamError) -> ([UInt8], UInt8) {
      var reader = BitReader(nalUnit, from: 1, trace: trace)
      let sps = try H264.SequenceParameterSet(&reader)
      let start = reader.bitOffset
      var bits = try RBSPBits(nalUnit, headerLength: 1, end: start)
      switch sps.profile.idc {
      case 83, 86: try scalable(&reader, sps.chromaArrayType)
      case 118, 128: try multiview(&reader)
      default: throw reader.fail(.unsupported, "profile_idc")
      }
      try bits.replaceUnread(reader.bitOffset - start, with: writer)
      return (bits.nalUnit, sps.id.rawValue)
    }

    /// `seq_parameter_set_svc_extension()` and `svc_vui_parameters_extension()`.
    private mutating func scalable(_ reader: inout BitReader, _ chroma: ChromaFormat) throws(BitstreamError) {
      _ = try u(&reader, 1, "inter_layer_deblocking_filter_control_present_flag")
      let scaling = try u(&reader, 2, "extended_spatial_scalability_idc")
      if chroma == .yuv420 || chroma == .yuv422 { _ = try u(&reader, 1, "chroma_phase_x_plus1_flag") }
      if chroma == .yuv420 { _ = try u(&reader, 2, "chroma_phase_y_plus1") }
      if scaling == 1 {
        if chroma != .monochrome {
          _ = try u(&reader, 1, "seq_ref_layer_chroma_phase_x_plus1_flag")
          _ = try u(&reader, 2, "seq_ref_layer_chroma_phase_y_plus1")
        }
        for _ in 0..<4 { writer.se(try reader.se(in: -32768...32767, "seq_scaled_ref_layer_offset")) }
      }
      if try u(&reader, 1, "seq_tcoeff_level_prediction_flag") == 1 {
        _ = try u(&reader, 1, "adaptive_tcoeff_level_prediction_flag")
      }
      _ = try u(&reader, 1, "slice_header_restriction_flag")
      guard try u(&reader, 1, "svc_vui_parameters_present_flag") == 1 else { return }
      for _ in 0...(try ue(&reader, 1023, "vui_ext_num_entries_minus1")) {
        _ = try u(&reader, 10, "vui_ext_dependency_id, quality_id, temporal_id")
        try operatingPoint(&reader)
      }
    }

    /// `seq_parameter_set_mvc_extension()` and `mvc_vui_parameters_extension()`.
    private mutating func multiview(_ reader: inout BitReader) throws(BitstreamError) {
      _ = try u(&reader, 1, "bit_equal_to_one")
      let last = try ue(&reader, 1023, "num_views_minus1")
      for _ in 0...last { _ = try ue(&reader, 1023, "view_id") }
      // Anchor pictures, then the others; both lists of each view but the first.
      for _ in 0..<4 * last {
        for _ in 0..<(try ue(&reader, 15, "num_refs")) { _ = try ue(&reader, 1023, "ref") }
      }
      for _ in 0...(try ue(&reader, 63, "num_level_values_signalled_minus1")) {
        _ = try u(&reader, 8, "level_idc")
        for _ in 0...(try ue(&reader, 1023, "num_applicable_ops_minus1")) {
          _ = try u(&reader, 3, "applicable_op_temporal_id")
          for _ in 0...(try ue(&reader, 1023, "applicable_op_num_target_views_minus1")) {
            _ = try ue(&reader, 1023, "applicable_op_target_view_id")
          }
          _ = try ue(&reader, 1023, "applicable_op_num_views_minus1")
        }
      }
      guard try u(&reader, 1, "mvc_vui_parameters_present_flag") == 1 else { return }
      for _ in 0...(try ue(&reader, 1023, "vui_mvc_num_ops_minus1")) {
        _ = try u(&reader, 3, "vui_mvc_temporal_id")
        for _ in 0...(try ue(&reader, 1023, "vui_mvc_num_target_output_views_minus1")) {
          _ = try ue(&reader, 1023, "vui_mvc_view_id")
        }
        try operatingPoint(&reader)
      }
    }

    /// Reads the part of an operating point that both have.
    private mutating func operatingPoint(_ reader: inout BitReader) throws(BitstreamError) {
      if try u(&reader, 1, "timing_info_present_flag") == 1 {
        hasTiming = true
        _ = try u(&reader, 32, "num_units_in_tick")
        _ = try u(&reader, 32, "time_scale")
        _ = try u(&reader, 1, "fixed_frame_rate_flag")
      }
      let nal = try reader.flag("nal_hrd_parameters_present_flag") ? try H264.HRDParameters(&reader) : nil
      write(nal)
      let vcl = try reader.flag("vcl_hrd_parameters_present_flag") ? try H264.HRDParameters(&reader) : nil
      write(vcl)
      if nal != nil || vcl != nil {
        let isLowDelay = try reader.flag("low_delay_hrd_flag")
        if !edit.removesHRD { writer.flag(isLowDelay) }
      }
      let isPictureStructurePresent = try reader.flag("pic_struct_present_flag")
      writer.flag(isPictureStructurePresent && !edit.removesTiming)
    }

    private mutating func write(_ hrd: H264.HRDParameters?) {
      let hrd = edit.removesHRD ? nil : hrd
      writer.flag(hrd != nil)
      hrd?.write(to: &writer)
    }

    private mutating func u(
      _ reader: inout BitReader, _ count: Int, _ element: StaticString
    ) throws(BitstreamError) -> UInt32 {
      let value = try reader.u(count, element)
      writer.u(count, value)
      return value
    }

    private mutating func ue(
      _ reader: inout BitReader, _ limit: UInt32, _ element: StaticString
    ) throws(BitstreamError) -> UInt32 {
      let value = try reader.ue(in: 0...limit, element)
      writer.ue(value)
      return value
    }
  }
}
