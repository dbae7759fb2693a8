// SPDX-License-Identifier: MPL-2.0

import H26x
import Testing

/// Bad input seen in the wild: each is refused at the element that is wrong, before anything is made of it.
@Suite struct H265MalformedTests {
  /// Writes a set as far as `write` does and reads it.
  private func error(
    _ type: H265.NALUnitType, _ write: (inout BitWriter) -> Void,
    read: (Span<UInt8>) throws(BitstreamError) -> Void
  ) -> BitstreamError? {
    var writer = BitWriter()
    H265.NALUnitHeader(type: type).write(to: &writer)
    write(&writer)
    // Zeros and ones behind, so that nothing ends for want of bits.
    writer.append([UInt8](repeating: 0x55, count: 4000))
    writer.trailingBits()
    let bytes = writer.bytes
    return failure { () throws(BitstreamError) in try read(bytes.span) }
  }

  private func profileTierLevel(_ writer: inout BitWriter) {
    writer.u(32, 0x0160_0000)
    writer.u(32, 0)
    writer.u(32, 0x1E)
  }

  private func vps(_ write: (inout BitWriter) -> Void) -> BitstreamError? {
    error(.videoParameterSet) { writer in
      writer.u(16, 0x0C01)
      writer.u(16, 0xFFFF)
      profileTierLevel(&writer)
      writer.flag(true)
      for _ in 0..<3 { writer.ue(0) }
      writer.u(6, 0)
      write(&writer)
    } read: { (bytes) throws(BitstreamError) in
      _ = try H265.VideoParameterSet(nalUnit: bytes)
    }
  }

  @Test func layerSetsAndHRDParametersOfAVideoParameterSet() {
    let sets = vps { writer in writer.ue(1024) }
    #expect(sets?.reason == .valueOutOfRange && sets?.element.description == "vps_num_layer_sets_minus1")
    let hrd = vps { writer in
      writer.ue(0)
      writer.flag(true)
      writer.u(32, 1)
      writer.u(32, 25)
      writer.flag(false)
      writer.ue(1 << 28)
    }
    #expect(hrd?.reason == .valueOutOfRange && hrd?.element.description == "vps_num_hrd_parameters")
    let buffers = vps { writer in
      writer.ue(0)
      writer.flag(true)
      writer.u(32, 1)
      writer.u(32, 25)
      writer.flag(false)
      writer.ue(1)
      writer.ue(0)
      writer.u(2, 0b10)
      writer.flag(false)
      writer.u(23, 0)
      writer.flag(true)
      writer.ue(0)
      writer.ue(32)
    }
    #expect(buffers?.reason == .valueOutOfRange && buffers?.element.description == "cpb_cnt_minus1")
  }

  /// An SPS up to its reference picture sets, with one thing changed on the way.
  private func sps(
    chroma: UInt32 = 1, width: UInt32 = 256, window: [UInt32]? = nil, depth: UInt32 = 0, dpb: UInt32 = 4,
    block: UInt32 = 2, sets: (inout BitWriter) -> Void = { $0.ue(0) }
  ) -> BitstreamError? {
    error(.sequenceParameterSet) { writer in
      writer.u(8, 0x01)
      profileTierLevel(&writer)
      writer.ue(0)
      writer.ue(chroma)
      writer.ue(width)
      writer.ue(128)
      writer.flag(window != nil)
      for offset in window ?? [] { writer.ue(offset) }
      writer.ue(depth)
      writer.ue(0)
      writer.ue(4)
      writer.flag(true)
      writer.ue(dpb)
      writer.ue(0)
      writer.ue(0)
      writer.ue(0)
      writer.ue(block)
      for value: UInt32 in [0, 3, 0, 0] { writer.ue(value) }
      writer.u(4, 0)
      sets(&writer)
    } read: { (bytes) throws(BitstreamError) in
      _ = try H265.SequenceParameterSet(nalUnit: bytes)
    }
  }

  @Test func numbersOfASequenceParameterSet() {
    func element(_ error: BitstreamError?) -> String? {
      error?.reason == .valueOutOfRange ? error?.element.description : nil
    }
    #expect(element(sps(chroma: 4)) == "chroma_format_idc")
    #expect(element(sps(width: 0)) == "pic_width_in_luma_samples")
    #expect(element(sps(width: 65_537)) == "pic_width_in_luma_samples")
    #expect(element(sps(width: UInt32.max - 1)) == "pic_width_in_luma_samples")
    #expect(element(sps(window: [64, 64, 0, 0])) == "conf_win_offset")
    #expect(element(sps(window: [0, 0, 65_536, 0])) == "conf_win_top_offset")
    #expect(element(sps(depth: 9)) == "bit_depth_luma_minus8")
    #expect(element(sps(dpb: 16)) == "sps_max_dec_pic_buffering_minus1")
    #expect(element(sps(block: 4)) == "log2_diff_max_min_luma_coding_block_size")
    #expect(element(sps { $0.ue(65) }) == "num_short_term_ref_pic_sets")
    #expect(
      element(
        sps { writer in
          writer.ue(1)
          writer.ue(17)
        }) == "num_negative_pics")
    #expect(
      element(
        sps { writer in
          writer.ue(1)
          writer.ue(9)
          writer.ue(8)
        }) == "num_positive_pics")
    #expect(
      element(
        sps { writer in
          writer.ue(0)
          writer.flag(true)
          writer.ue(33)
        }) == "num_long_term_ref_pics_sps")
  }

  /// A chain of predicted sets, each of which keeps everything and adds a picture: it ends at 16.
  @Test func predictedSetsDoNotGrow() {
    let grown = sps { writer in
      writer.ue(64)
      writer.ue(0)
      writer.ue(0)
      for count in 0..<63 {
        writer.flag(true)
        writer.flag(true)
        writer.ue(0)
        for _ in 0...count { writer.flag(true) }
      }
    }
    #expect(grown?.reason == .valueOutOfRange && grown?.element.description == "use_delta_flag")
  }

  /// `delta_idx` in a slice header reaches no further back than there are sets.
  @Test func predictionFromNowhere() throws {
    var sps = H265Samples.plainSPS()
    sps.referencePictureSets = [.init(), .init()]
    let sets = try H265Samples.store(sps)
    for (delta, isLegal) in [(UInt32(1), true), (2, false), (200, false)] {
      var writer = BitWriter()
      H265.NALUnitHeader(type: .trailingR).write(to: &writer)
      writer.flag(true)
      writer.ue(0)
      writer.ue(1)
      writer.u(8, 0)
      writer.u(2, 0b01)
      writer.ue(delta)
      writer.flag(true)
      writer.ue(0)
      writer.flag(true)
      writer.append([0x55, 0x55, 0x80])
      let bytes = writer.bytes
      let found = failure { () throws(BitstreamError) in
        _ = try H265.SliceSegmentHeader.withReferences(nalUnit: bytes.span, parameterSets: sets)
      }
      #expect((found == nil) == isLegal)
      if !isLegal { #expect(found?.element.description == "delta_idx_minus1") }
    }
  }

  private func pps(_ tiles: (inout BitWriter) -> Void) -> BitstreamError? {
    error(.pictureParameterSet) { writer in
      writer.ue(0)
      writer.ue(0)
      writer.u(7, 0)
      writer.ue(0)
      writer.ue(0)
      writer.se(0)
      writer.u(3, 0)
      writer.se(0)
      writer.se(0)
      writer.u(4, 0)
      writer.flag(true)
      writer.flag(false)
      tiles(&writer)
    } read: { (bytes) throws(BitstreamError) in
      _ = try H265.PictureParameterSet(nalUnit: bytes)
    }
  }

  @Test func tiles() {
    #expect(pps { $0.ue(20) }?.element.description == "num_tile_columns_minus1")
    #expect(pps { $0.ue(UInt32.max - 1) }?.element.description == "num_tile_columns_minus1")
    let rows = pps { writer in
      writer.ue(0)
      writer.ue(22)
    }
    #expect(rows?.element.description == "num_tile_rows_minus1")
    let width = pps { writer in
      writer.ue(1)
      writer.ue(1)
      writer.flag(false)
      writer.ue(0x10000)
    }
    #expect(width?.element.description == "column_width_minus1" && width?.reason == .valueOutOfRange)
  }

  @Test func palettes() {
    let sets = error(.pictureParameterSet) { writer in
      writer.ue(0)
      writer.ue(0)
      writer.u(7, 0)
      writer.ue(0)
      writer.ue(0)
      writer.se(0)
      writer.u(3, 0)
      writer.se(0)
      writer.se(0)
      writer.u(6, 0)
      writer.u(4, 0)
      writer.ue(0)
      writer.flag(false)
      writer.flag(true)
      writer.u(8, 0b0001_0000)
      writer.u(3, 0b001)
      writer.ue(129)
    } read: { (bytes) throws(BitstreamError) in
      _ = try H265.PictureParameterSet(nalUnit: bytes)
    }
    #expect(sets?.element.description == "pps_num_palette_predictor_initializers" && sets?.reason == .valueOutOfRange)
  }

  /// Flags of seven sub-layers with nothing behind them.
  @Test func subLayersThatAreNotThere() {
    var writer = BitWriter()
    H265.NALUnitHeader(type: .sequenceParameterSet).write(to: &writer)
    writer.u(8, 0x0D)
    profileTierLevel(&writer)
    writer.u(16, 0xFFFF)
    writer.trailingBits()
    let bytes = writer.bytes
    #expect(
      failure { () throws(BitstreamError) in _ = try H265.SequenceParameterSet(bytes: bytes) }?.reason == .truncated)
    var eight = Array(bytes)
    eight[2] = 0x0F
    let many = eight
    #expect(
      failure { () throws(BitstreamError) in _ = try H265.SequenceParameterSet(bytes: many) }
        == BitstreamError(.valueOutOfRange, "sps_max_sub_layers_minus1", bitOffset: 20))
  }

  @Test func longSliceHeaderExtensions() throws {
    var pps = H265.PictureParameterSet(id: 0, sequenceParameterSetID: 0)
    pps.isSliceHeaderExtensionPresent = true
    pps.tiles = .init(columnCount: 2, rowCount: 2)
    let sets = try H265Samples.store(H265Samples.plainSPS(), pps)
    for (points, length, element) in [
      (UInt32(32), UInt32(0), "num_entry_point_offsets"), (0, 257, "slice_segment_header_extension_length"),
    ] {
      var writer = BitWriter()
      H265.NALUnitHeader(type: .idrWithRADL).write(to: &writer)
      writer.u(2, 0b10)
      writer.ue(0)
      writer.ue(2)
      writer.se(0)
      writer.ue(points)
      writer.ue(length)
      writer.append([UInt8](repeating: 0x55, count: 400))
      writer.trailingBits()
      let bytes = writer.bytes
      let found = failure { () throws(BitstreamError) in
        _ = try H265.WholeSliceHeader(nalUnit: bytes.span, parameterSets: sets)
      }
      #expect(found?.reason == .valueOutOfRange && found?.element.description == element)
    }
  }

  /// A SPS replaced by one of other size between two slices: addresses are read by the new one.
  @Test func setsReplacedBetweenSlices() throws {
    var sets = try H265Samples.store()
    let slice = H265Samples.slice(.trailingR, address: 31)
    _ = try H265.SliceSegmentHeader(bytes: slice, sets)
    var smaller = H265Samples.plainSPS()
    smaller.codedSize = VideoSize(width: 32, height: 32)
    try sets.insert(bytes: smaller.nalUnit())
    let header = try H265.SliceSegmentHeader(bytes: slice, sets)
    #expect(header.segmentAddress == 0)
  }

  /// 255 arrays of 65,535 empty NAL units are no work beyond their bytes.
  @Test func recordsOfEmptyNALUnits() throws {
    var bytes = try H265.DecoderConfigurationRecord(
      videoParameterSets: [], sequenceParameterSets: [H265Samples.sps], pictureParameterSets: []
    ).withoutParameterSets.bytes()
    bytes[22] = 255
    let whole = bytes + [0x20, 0xFF, 0xFF] + [UInt8](repeating: 0, count: 2 * 65_535)
    #expect(
      failure { () throws(BitstreamError) in _ = try H265.DecoderConfigurationRecord(bytes: whole) }?.reason
        == .truncated)
    bytes[22] = 1
    let one = bytes + [0x20, 0xFF, 0xFF] + [UInt8](repeating: 0, count: 2 * 65_535)
    #expect(
      try H265.DecoderConfigurationRecord(bytes: one).arrays == [
        .init(type: .videoParameterSet, isComplete: false, nalUnits: [])
      ])
    let long = bytes + [0x20, 0x00, 0x01, 0xFF, 0xFF, 0x40]
    #expect(
      failure { () throws(BitstreamError) in _ = try H265.DecoderConfigurationRecord(bytes: long) }?.reason
        == .truncated)
  }

  /// Exp-Golomb codes of 32 zeros and more.
  @Test func longCodes() {
    let long = sps { writer in
      writer.u(32, 0)
      writer.u(32, 1)
    }
    #expect(long?.reason == .codeTooLong && long?.element.description == "num_short_term_ref_pic_sets")
  }

  /// Extension data of nothing but zeros, as long as a set may be: looked at once.
  @Test func longExtensions() throws {
    var vps = try H265.VideoParameterSet(bytes: H265Samples.vps)
    vps.extensionData = .init()
    var bytes = vps.nalUnit()
    while bytes.count < 65_000 { bytes += [0, 0, 3] }
    let long = try H265.VideoParameterSet(bytes: bytes + [0x80])
    #expect(long.hasProperEnd && long.extensionData.map { $0.bitCount > 300_000 } == true)
    #expect(try H265.VideoParameterSet(bytes: long.nalUnit()) == long)
    #expect(try H265.VideoParameterSet(bytes: bytes) == vps)
  }
}
