// SPDX-License-Identifier: MPL-2.0

extension H264.SequenceParameterSet {
  /// The largest picture side that this library accepts, in macroblocks: 65,536 samples. Level 6.2 ends at 1,055.
  static var maximumSideInMacroblocks: UInt32 { 4096 }

  private static var constraintFlagNames: [StaticString] {
    [
      "constraint_set0_flag", "constraint_set1_flag", "constraint_set2_flag", "constraint_set3_flag",
      "constraint_set4_flag", "constraint_set5_flag",
    ]
  }

  /// Reads `seq_parameter_set_data()`, up to the trailing bits or the extension of a subset SPS.
  ///
  /// - Parameter isLenient: whether the VUI need not be readable.
  init(_ reader: inout BitReader, isLenient: Bool = false) throws(BitstreamError) {
    let idc = try reader.byte("profile_idc")
    var flags: UInt8 = 0
    for name in Self.constraintFlagNames { flags = flags << 1 | (try reader.flag(name) ? 1 : 0) }
    profile = H264.Profile(idc: idc, constraintFlags: flags << 2 | UInt8(try reader.u(2, "reserved_zero_2bits")))
    levelIDC = try reader.byte("level_idc")
    id = .init(try reader.ue8(in: 0...31, "seq_parameter_set_id"))
    if profile.hasHighSyntax {
      chromaFormat = ChromaFormat(rawValue: try reader.ue8(in: 0...3, "chroma_format_idc")) ?? .yuv420
      if chromaFormat == .yuv444 { hasSeparateColourPlanes = try reader.flag("separate_colour_plane_flag") }
      lumaBitDepth = 8 + (try reader.ue8(in: 0...6, "bit_depth_luma_minus8"))
      chromaBitDepth = 8 + (try reader.ue8(in: 0...6, "bit_depth_chroma_minus8"))
      bypassesTransformAtZero = try reader.flag("qpprime_y_zero_transform_bypass_flag")
      if try reader.flag("seq_scaling_matrix_present_flag") {
        scalingLists = try H264.ScalingList.lists(
          &reader, "seq_scaling_list_present_flag", number: chromaFormat == .yuv444 ? 12 : 8)
      }
    }
    log2MaximumFrameNumber = 4 + (try reader.ue8(in: 0...12, "log2_max_frame_num_minus4"))
    switch try reader.ue(in: 0...2, "pic_order_cnt_type") {
    case 0:
      pictureOrderCountType = .leastSignificantBits(
        log2Maximum: 4 + (try reader.ue8(in: 0...12, "log2_max_pic_order_cnt_lsb_minus4")))
    case 1: pictureOrderCountType = .cycle(try Cycle(&reader))
    default: pictureOrderCountType = .decodingOrder
    }
    maximumReferenceFrames = try reader.ue8(in: 0...16, "max_num_ref_frames")
    allowsFrameNumberGaps = try reader.flag("gaps_in_frame_num_value_allowed_flag")
    let side = 0...(Self.maximumSideInMacroblocks - 1)
    widthInMacroblocks = Int(try reader.ue(in: side, "pic_width_in_mbs_minus1", of: .pictureSize)) + 1
    heightInMapUnits = Int(try reader.ue(in: side, "pic_height_in_map_units_minus1", of: .pictureSize)) + 1
    isFrameOnly = try reader.flag("frame_mbs_only_flag")
    if !isFrameOnly { isMacroblockAdaptiveFrameField = try reader.flag("mb_adaptive_frame_field_flag") }
    usesDirect8x8Inference = try reader.flag("direct_8x8_inference_flag")
    if try reader.flag("frame_cropping_flag") { try readCropping(&reader) }
    guard try reader.flag("vui_parameters_present_flag") else { return }
    vui = H264.VUI()
    do throws(BitstreamError) {
      try vui?.read(&reader)
    } catch {
      guard isLenient else { throw error }
      // If the data ends early, the fields before are right. Another error may come from another layout, as in old
      // drafts.
      if error.reason != .truncated { vui = nil }
      hasProperEnd = false
    }
  }

  private mutating func readCropping(_ reader: inout BitReader) throws(BitstreamError) {
    // More than any picture has: the sums are compared with its real size below.
    let range: ClosedRange<UInt32> = 0...0xFFFF
    let start = reader.bitOffset
    cropping = Cropping(
      left: try reader.ue(in: range, "frame_crop_left_offset"),
      right: try reader.ue(in: range, "frame_crop_right_offset"),
      top: try reader.ue(in: range, "frame_crop_top_offset"),
      bottom: try reader.ue(in: range, "frame_crop_bottom_offset"))
    guard cropRectangle.width > 0, cropRectangle.height > 0 else {
      throw BitstreamError(.valueOutOfRange, "frame_crop_offsets", bitOffset: start)
    }
  }

  /// The NAL unit (type 7, `nal_ref_idc` 3) with emulation prevention bytes: the inverse of ``init(nalUnit:trace:)``.
  public func nalUnit() -> [UInt8] {
    var writer = BitWriter()
    writer.u(8, 0x67)
    write(to: &writer)
    writer.trailingBits()
    return writer.bytes
  }

  func write(to writer: inout BitWriter) {
    writer.u(8, UInt32(profile.idc))
    writer.u(8, UInt32(profile.constraintFlags))
    writer.u(8, UInt32(levelIDC))
    writer.ue(UInt32(id.rawValue))
    if profile.hasHighSyntax {
      writer.ue(UInt32(chromaFormat.rawValue))
      if chromaFormat == .yuv444 { writer.flag(hasSeparateColourPlanes) }
      writer.ue(UInt32(max(8, lumaBitDepth) - 8))
      writer.ue(UInt32(max(8, chromaBitDepth) - 8))
      writer.flag(bypassesTransformAtZero)
      writer.flag(scalingLists != nil)
      if let scalingLists { H264.ScalingList.write(scalingLists, to: &writer) }
    }
    writer.ue(UInt32(max(4, log2MaximumFrameNumber) - 4))
    switch pictureOrderCountType {
    case .leastSignificantBits(let log2Maximum):
      writer.ue(0)
      writer.ue(UInt32(max(4, log2Maximum) - 4))
    case .cycle(let cycle):
      writer.ue(1)
      cycle.write(to: &writer)
    case .decodingOrder:
      writer.ue(2)
    }
    writer.ue(UInt32(maximumReferenceFrames))
    writer.flag(allowsFrameNumberGaps)
    writer.ue(UInt32(clamping: max(1, widthInMacroblocks) - 1))
    writer.ue(UInt32(clamping: max(1, heightInMapUnits) - 1))
    writer.flag(isFrameOnly)
    if !isFrameOnly { writer.flag(isMacroblockAdaptiveFrameField) }
    writer.flag(usesDirect8x8Inference)
    writer.flag(cropping != nil)
    if let cropping {
      for offset in [cropping.left, cropping.right, cropping.top, cropping.bottom] { writer.ue(offset) }
    }
    writer.flag(vui != nil)
    vui?.write(to: &writer)
  }
}

extension H264.SequenceParameterSet.Cycle {
  fileprivate init(_ reader: inout BitReader) throws(BitstreamError) {
    let range = Int32.min...Int32.max
    isDeltaAlwaysZero = try reader.flag("delta_pic_order_always_zero_flag")
    offsetForNonReferencePicture = try reader.se(in: range, "offset_for_non_ref_pic")
    offsetForTopToBottomField = try reader.se(in: range, "offset_for_top_to_bottom_field")
    let count = try reader.ue(in: 0...255, "num_ref_frames_in_pic_order_cnt_cycle")
    offsetsForReferenceFrames = []
    offsetsForReferenceFrames.reserveCapacity(Int(count))
    for _ in 0..<count { offsetsForReferenceFrames.append(try reader.se(in: range, "offset_for_ref_frame")) }
  }

  fileprivate func write(to writer: inout BitWriter) {
    writer.flag(isDeltaAlwaysZero)
    writer.se(offsetForNonReferencePicture)
    writer.se(offsetForTopToBottomField)
    let offsets = offsetsForReferenceFrames.prefix(255)
    writer.ue(UInt32(clamping: offsets.count))
    for offset in offsets { writer.se(offset) }
  }
}
