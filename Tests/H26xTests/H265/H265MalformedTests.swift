// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

/// Malformed input on which other parsers failed: each is refused at the wrong element.
@Suite struct H265MalformedTests {
  /// Each is refused at its element, without allocating or looping by the number.
  @Test(arguments: MalformedH265.parameterSets.map(\.name)) func malformedParameterSetsFailAtTheirElement(
    _ name: String
  ) throws {
    let malformed = try #require(MalformedH265.parameterSets.first { $0.name == name })
    let bytes = malformed.nalUnit
    let error = failure { () throws(BitstreamError) in
      switch H265.NALUnitType(headerByte: bytes[0]) {
      case .videoParameterSet: _ = try H265.VideoParameterSet(nalUnit: bytes.span)
      case .sequenceParameterSet: _ = try H265.SequenceParameterSet(nalUnit: bytes.span)
      default: _ = try H265.PictureParameterSet(nalUnit: bytes.span)
      }
    }
    #expect(error?.element.description == malformed.element)
    #expect(error?.reason == (name == "a code of 64 zeros" ? .codeTooLong : .valueOutOfRange))
  }

  /// `delta_idx` in a slice header is at most the number of sets.
  @Test func predictionFromAMissingSetIsAnError() throws {
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

  /// Flags of seven sub-layers with nothing behind them.
  @Test func missingSubLayersAreAnError() {
    var writer = BitWriter()
    H265.NALUnitHeader(type: .sequenceParameterSet).write(to: &writer)
    writer.u(8, 0x0D)
    // The general profile, tier and level.
    for word: UInt32 in [0x0160_0000, 0, 0x1E] { writer.u(32, word) }
    writer.u(16, 0xFFFF)
    writer.trailingBits()
    let bytes = writer.bytes
    #expect(
      failure { () throws(BitstreamError) in _ = try H265.SequenceParameterSet(bytes: bytes) }?.reason == .truncated)
  }

  @Test func boundsSliceHeaderExtensions() throws {
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

  /// An SPS of another size between two slices: addresses are read by the new one.
  @Test func addressesFollowAReplacedSPS() throws {
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
  @Test func readsRecordsOfEmptyNALUnitsOnce() throws {
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

  /// Extension data of zeros only, as long as a parameter set may be, is read once.
  @Test func readsLongExtensionsOnce() throws {
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
