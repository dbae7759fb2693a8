// SPDX-License-Identifier: MPL-2.0

extension H265.SequenceParameterSet {
  /// The largest picture side that this library accepts, in samples. Level 7.2 ends at 33,776.
  static var maximumSide: UInt32 { 65_536 }

  private static let conformanceWindowNames: [4 of StaticString] = [
    "conf_win_left_offset", "conf_win_right_offset", "conf_win_top_offset", "conf_win_bottom_offset",
  ]
  fileprivate static var maximumReferencePictureSets: UInt32 { 64 }
  fileprivate static var maximumLongTermReferences: UInt32 { 32 }

  /// Reads `seq_parameter_set_rbsp()`, up to the trailing bits.
  ///
  /// - Parameter isLenient: whether the VUI, and the rest after it, need not be readable.
  init(_ reader: inout BitReader, isLenient: Bool = false) throws(BitstreamError) {
    videoParameterSetID = .init(try reader.u8(4, "sps_video_parameter_set_id"))
    subLayerCount = try reader.subLayerCount("sps_max_sub_layers_minus1")
    hasNestedTemporalIDs = try reader.flag("sps_temporal_id_nesting_flag")
    profileTierLevel = try H265.ProfileTierLevel(&reader, subLayerCount: Int(subLayerCount))
    id = .init(try reader.ue8(in: 0...15, "sps_seq_parameter_set_id"))
    chromaFormat = ChromaFormat(rawValue: try reader.ue8(in: 0...3, "chroma_format_idc")) ?? .yuv420
    if chromaFormat == .yuv444 { hasSeparateColourPlanes = try reader.flag("separate_colour_plane_flag") }
    let side = 1...Self.maximumSide
    codedSize = VideoSize(
      width: Int(try reader.ue(in: side, "pic_width_in_luma_samples", of: .pictureSize)),
      height: Int(try reader.ue(in: side, "pic_height_in_luma_samples", of: .pictureSize)))
    if try reader.flag("conformance_window_flag") {
      let start = reader.bitOffset
      conformanceWindow = try Window(&reader, Self.conformanceWindowNames)
      guard cropRectangle.width > 0, cropRectangle.height > 0 else {
        throw BitstreamError(.valueOutOfRange, "conf_win_offset", bitOffset: start)
      }
    }
    lumaBitDepth = 8 + (try reader.ue8(in: 0...8, "bit_depth_luma_minus8"))
    chromaBitDepth = 8 + (try reader.ue8(in: 0...8, "bit_depth_chroma_minus8"))
    log2MaximumPictureOrderCount = 4 + (try reader.ue8(in: 0...12, "log2_max_pic_order_cnt_lsb_minus4"))
    buffering = try SubLayerBuffering.all(&reader, .sps, subLayerCount: subLayerCount)
    try readBlockSizes(&reader)
    if try reader.flag("scaling_list_enabled_flag") {
      scaling =
        try reader.flag("sps_scaling_list_data_present_flag") ? .explicit(try H265.ScalingLists(&reader)) : .standard
    }
    usesAsymmetricPartitions = try reader.flag("amp_enabled_flag")
    usesSampleAdaptiveOffset = try reader.flag("sample_adaptive_offset_enabled_flag")
    if try reader.flag("pcm_enabled_flag") { pcm = try PCM(&reader) }
    try readReferences(&reader)
    usesTemporalMotionVectors = try reader.flag("sps_temporal_mvp_enabled_flag")
    usesStrongIntraSmoothing = try reader.flag("strong_intra_smoothing_enabled_flag")
    vui = try reader.flag("vui_parameters_present_flag") ? H265.VUIParameters() : nil
    do throws(BitstreamError) {
      try vui?.read(&reader, subLayerCount: Int(subLayerCount))
      if try reader.flag("sps_extension_present_flag") { extensions = try Extensions(&reader, self) }
    } catch {
      guard isLenient, hasVUI else { throw error }
      // If the data ends early, the fields before are right. Another error may come from another layout, as in old
      // drafts.
      if error.reason != .truncated { vui = nil }
      hasProperEnd = false
    }
  }

  private mutating func readBlockSizes(_ reader: inout BitReader) throws(BitstreamError) {
    let start = reader.bitOffset
    // A coding tree block is 16, 32 or 64 samples wide (7.4.3.2.1); 8 is accepted too.
    log2MinimumCodingBlockSize = 3 + (try reader.ue8(in: 0...3, "log2_min_luma_coding_block_size_minus3"))
    log2CodingBlockSizeRange = try reader.ue8(in: 0...3, "log2_diff_max_min_luma_coding_block_size")
    guard log2CodingTreeBlockSize <= 6 else {
      throw BitstreamError(.valueOutOfRange, "log2_diff_max_min_luma_coding_block_size", bitOffset: start)
    }
    log2MinimumTransformBlockSize = 2 + (try reader.ue8(in: 0...3, "log2_min_luma_transform_block_size_minus2"))
    log2TransformBlockSizeRange = try reader.ue8(in: 0...3, "log2_diff_max_min_luma_transform_block_size")
    maximumTransformDepthInter = try reader.ue8(in: 0...4, "max_transform_hierarchy_depth_inter")
    maximumTransformDepthIntra = try reader.ue8(in: 0...4, "max_transform_hierarchy_depth_intra")
  }

  private mutating func readReferences(_ reader: inout BitReader) throws(BitstreamError) {
    let count = Int(try reader.ue(in: 0...Self.maximumReferencePictureSets, "num_short_term_ref_pic_sets"))
    for index in 0..<count {
      referencePictureSets.append(
        try H265.ShortTermReferencePictureSet(&reader, index: index, sets: referencePictureSets, isInSlice: false))
    }
    guard try reader.flag("long_term_ref_pics_present_flag") else { return }
    var references: [LongTermReference] = []
    for _ in 0..<(try reader.ue(in: 0...Self.maximumLongTermReferences, "num_long_term_ref_pics_sps")) {
      let count = try reader.u(Int(log2MaximumPictureOrderCount), "lt_ref_pic_poc_lsb_sps")
      references.append(
        LongTermReference(
          pictureOrderCountLSB: count, isUsed: try reader.flag("used_by_curr_pic_lt_sps_flag")))
    }
    longTermReferences = references
  }

  /// The NAL unit with emulation prevention bytes: the inverse of ``init(nalUnit:trace:)``.
  public func nalUnit() -> [UInt8] {
    var writer = BitWriter()
    H265.NALUnitHeader(type: .sequenceParameterSet).write(to: &writer)
    write(to: &writer)
    writer.trailingBits()
    return writer.bytes
  }

  func write(to writer: inout BitWriter) {
    writer.u(4, UInt32(videoParameterSetID.rawValue))
    writer.u(3, UInt32(max(1, subLayerCount) - 1))
    writer.flag(hasNestedTemporalIDs)
    profileTierLevel.write(to: &writer)
    writer.ue(UInt32(id.rawValue))
    writer.ue(UInt32(chromaFormat.rawValue))
    if chromaFormat == .yuv444 { writer.flag(hasSeparateColourPlanes) }
    writer.ue(UInt32(clamping: codedSize.width))
    writer.ue(UInt32(clamping: codedSize.height))
    writer.flag(conformanceWindow != nil)
    conformanceWindow?.write(to: &writer)
    for depth in [lumaBitDepth, chromaBitDepth] { writer.ue(UInt32(max(8, depth)) - 8) }
    writer.ue(UInt32(max(4, log2MaximumPictureOrderCount)) - 4)
    SubLayerBuffering.write(buffering, to: &writer, subLayerCount: subLayerCount)
    writer.ue(UInt32(max(3, log2MinimumCodingBlockSize)) - 3)
    writer.ue(UInt32(log2CodingBlockSizeRange))
    writer.ue(UInt32(max(2, log2MinimumTransformBlockSize)) - 2)
    writer.ue(UInt32(log2TransformBlockSizeRange))
    writer.ue(UInt32(maximumTransformDepthInter))
    writer.ue(UInt32(maximumTransformDepthIntra))
    switch scaling {
    case .flat: writer.flag(false)
    case .standard: writer.u(2, 0b10)
    case .explicit(let lists):
      writer.u(2, 0b11)
      lists.write(to: &writer)
    }
    writer.flag(usesAsymmetricPartitions)
    writer.flag(usesSampleAdaptiveOffset)
    writer.flag(pcm != nil)
    pcm?.write(to: &writer)
    writeReferences(to: &writer)
    writer.flag(usesTemporalMotionVectors)
    writer.flag(usesStrongIntraSmoothing)
    writer.flag(vui != nil)
    vui?.write(to: &writer)
    writer.flag(extensions != nil)
    extensions?.write(to: &writer, self)
  }

  private func writeReferences(to writer: inout BitWriter) {
    let sets = referencePictureSets.prefix(Int(Self.maximumReferencePictureSets))
    writer.ue(UInt32(sets.count))
    for (index, set) in sets.enumerated() { set.write(to: &writer, index: index, isInSlice: false) }
    writer.flag(longTermReferences != nil)
    guard let references = longTermReferences?.prefix(Int(Self.maximumLongTermReferences)) else { return }
    writer.ue(UInt32(references.count))
    for reference in references {
      writer.u(Int(log2MaximumPictureOrderCount), reference.pictureOrderCountLSB)
      writer.flag(reference.isUsed)
    }
  }
}

extension BitReader {
  /// Reads a number of temporal sub-layers minus 1, 0 to 6. Returns the number.
  mutating func subLayerCount(_ element: StaticString) throws(BitstreamError) -> UInt8 {
    let start = bitOffset
    let count = try u8(3, element)
    guard count < 7 else { throw BitstreamError(.valueOutOfRange, element, bitOffset: start) }
    return count + 1
  }
}

extension H265.SequenceParameterSet.Window {
  init(_ reader: inout BitReader, _ names: borrowing [4 of StaticString]) throws(BitstreamError) {
    // More than any picture has: the sums are compared with its real size later.
    let range: ClosedRange<UInt32> = 0...0xFFFF
    left = try reader.ue(in: range, names[0])
    right = try reader.ue(in: range, names[1])
    top = try reader.ue(in: range, names[2])
    bottom = try reader.ue(in: range, names[3])
  }

  func write(to writer: inout BitWriter) {
    for offset in [left, right, top, bottom] { writer.ue(offset) }
  }
}

extension H265.SequenceParameterSet.SubLayerBuffering {
  /// The names of the syntax elements in SPS and VPS.
  struct Names {
    var presence: StaticString
    var decoded: StaticString
    var reorder: StaticString
    var latency: StaticString

    static var sps: Names {
      Names(
        presence: "sps_sub_layer_ordering_info_present_flag", decoded: "sps_max_dec_pic_buffering_minus1",
        reorder: "sps_max_num_reorder_pics", latency: "sps_max_latency_increase_plus1")
    }
    static var vps: Names {
      Names(
        presence: "vps_sub_layer_ordering_info_present_flag", decoded: "vps_max_dec_pic_buffering_minus1",
        reorder: "vps_max_num_reorder_pics", latency: "vps_max_latency_increase_plus1")
    }
  }

  /// Reads `sub_layer_ordering_info_present_flag` and its fields, which are the same in VPS and SPS.
  static func all(
    _ reader: inout BitReader, _ names: Names, subLayerCount: UInt8
  ) throws(BitstreamError) -> [Self] {
    let isPresent = try reader.flag(names.presence)
    var entries: [Self] = []
    for _ in 0..<(isPresent ? subLayerCount : 1) {
      let decoded = try reader.ue8(in: 0...15, names.decoded) + 1
      entries.append(
        Self(
          maximumDecodedPictures: decoded,
          maximumReorderPictures: try reader.ue8(in: 0...(decoded - 1), names.reorder),
          maximumLatencyIncreasePlus1: try reader.ue(in: 0...UInt32.max - 1, names.latency)))
    }
    return entries
  }

  static func write(_ entries: [Self], to writer: inout BitWriter, subLayerCount: UInt8) {
    // With one sub-layer the flag is meaningless; encoders set it.
    writer.flag(entries.count == Int(subLayerCount))
    for entry in entries {
      writer.ue(UInt32(max(1, entry.maximumDecodedPictures)) - 1)
      writer.ue(UInt32(entry.maximumReorderPictures))
      writer.ue(entry.maximumLatencyIncreasePlus1)
    }
  }
}

extension H265.SequenceParameterSet.PCM {
  fileprivate init(_ reader: inout BitReader) throws(BitstreamError) {
    lumaBitDepth = try reader.u8(4, "pcm_sample_bit_depth_luma_minus1") + 1
    chromaBitDepth = try reader.u8(4, "pcm_sample_bit_depth_chroma_minus1") + 1
    log2MinimumBlockSize = 3 + (try reader.ue8(in: 0...2, "log2_min_pcm_luma_coding_block_size_minus3"))
    log2BlockSizeRange = try reader.ue8(in: 0...2, "log2_diff_max_min_pcm_luma_coding_block_size")
    disablesLoopFilter = try reader.flag("pcm_loop_filter_disabled_flag")
  }

  fileprivate func write(to writer: inout BitWriter) {
    writer.u(4, UInt32(max(1, lumaBitDepth)) - 1)
    writer.u(4, UInt32(max(1, chromaBitDepth)) - 1)
    writer.ue(UInt32(max(3, log2MinimumBlockSize)) - 3)
    writer.ue(UInt32(log2BlockSizeRange))
    writer.flag(disablesLoopFilter)
  }
}
