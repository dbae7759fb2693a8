// SPDX-License-Identifier: MPL-2.0

import TestSupport
import Testing

@testable import H26x

/// Parameter sets with other ids.
@Suite struct ParameterSetIdentifierTests {
  @Test func setsOfH264KeepAllButTheirIDs() throws {
    let identifiers = ParameterSetIdentifiers(picture: [0: 255], sequence: [0: 31])
    func moved(_ unit: [UInt8]) throws(BitstreamError) -> [UInt8] {
      try H264.rewritten(parameterSet: unit.span, identifiers)
    }
    var sps = try Samples.sps()
    let movedSPS = try moved(sps.nalUnit())
    sps.id = 31
    #expect(movedSPS == sps.nalUnit())
    var pps = try H264.PictureParameterSet(bytes: Samples.highPPS)
    let movedPPS = try moved(pps.nalUnit())
    (pps.id, pps.sequenceParameterSetID) = (255, 31)
    #expect(movedPPS == pps.nalUnit())
    // An SPS extension with alpha, and a subset SPS with views and unknown bits behind them.
    var alpha = BitWriter()
    alpha.u(8, 0x6D)
    for value: UInt32 in [0, 1, 0] { alpha.ue(value) }
    for (count, value) in [(1, 1), (9, 256), (9, 3), (1, 0)] as [(Int, UInt32)] { alpha.u(count, value) }
    alpha.trailingBits()
    let movedAlpha = try moved(alpha.bytes)
    let set = try H264.SequenceParameterSetExtension(nalUnit: movedAlpha.span)
    #expect(set.id == 31 && set.alpha?.opaqueValue == 256 && set.alpha?.transparentValue == 3)
    sps.profile = H264.Profile(idc: 118, constraintFlags: 0)
    for id: UInt8 in [0, 31] {
      sps.id = .init(id)
      var writer = BitWriter()
      writer.u(8, 0x6F)
      sps.write(to: &writer)
      writer.flag(true)
      for value: UInt32 in [1, 0, 1] { writer.ue(value) }
      for _ in 0..<5 { writer.u(8, 0) }
      writer.trailingBits()
      if id == 0 {
        let unit = try moved(writer.bytes)
        #expect(try H264.SubsetSequenceParameterSet(nalUnit: unit.span).viewIDs == [0, 1])
        let back = ParameterSetIdentifiers(sequence: [31: 0])
        #expect(try H264.rewritten(parameterSet: unit.span, back) == writer.bytes)
      } else {
        let back = try H264.rewritten(parameterSet: writer.bytes.span, .init(sequence: [31: 0]))
        #expect(try moved(back) == writer.bytes)
      }
    }
  }

  @Test func setsOfH265KeepAllButTheirIDs() throws {
    let identifiers = ParameterSetIdentifiers(picture: [0: 63], sequence: [0: 15], video: [0: 14])
    for unit in [H265Samples.vps, H265Samples.layeredVPS] {
      var set = try H265.VideoParameterSet(bytes: unit)
      set.id = 14
      #expect(try H265.rewritten(parameterSet: unit.span, identifiers) == set.nalUnit())
    }
    for unit in [H265Samples.sps, H265Samples.layeredSPS] {
      var set = try H265.SequenceParameterSet(bytes: unit)
      (set.id, set.videoParameterSetID) = (15, 14)
      let moved = try H265.rewritten(parameterSet: unit.span, identifiers)
      #expect(try H265.SequenceParameterSet(bytes: moved) == set)
    }
    for unit in [H265Samples.pps, H265Samples.layeredPPS] {
      var set = try H265.PictureParameterSet(bytes: unit)
      (set.id, set.sequenceParameterSetID) = (63, 15)
      #expect(try H265.rewritten(parameterSet: unit.span, identifiers) == set.nalUnit())
    }
  }

  @Test func idsThatACodecDoesNotHaveAreErrors() throws {
    func element(_ rewrite: () throws(BitstreamError) -> [UInt8]) -> String? {
      failure { () throws(BitstreamError) in _ = try rewrite() }.map { "\($0.reason) \($0.element)" }
    }
    let h264 = ParameterSetIdentifiers(sequence: [0: 32])
    for unit in [Samples.highSPS, Samples.highPPS] {
      let found = element { () throws(BitstreamError) in try H264.rewritten(parameterSet: unit.span, h264) }
      #expect(found == "valueOutOfRange seq_parameter_set_id")
    }
    for (unit, name) in [
      (H265Samples.vps, "vps_video_parameter_set_id"), (H265Samples.sps, "sps_video_parameter_set_id"),
      (H265Samples.pps, "pps_pic_parameter_set_id"),
    ] {
      let identifiers = ParameterSetIdentifiers(picture: [0: 64], video: [0: 16])
      let found = element { () throws(BitstreamError) in try H265.rewritten(parameterSet: unit.span, identifiers) }
      #expect(found == "valueOutOfRange \(name)")
    }
    let sequence = ParameterSetIdentifiers(sequence: [0: 16])
    for (unit, name) in [
      (H265Samples.sps, "sps_seq_parameter_set_id"), (H265Samples.pps, "pps_seq_parameter_set_id"),
    ] {
      let found = element { () throws(BitstreamError) in try H265.rewritten(parameterSet: unit.span, sequence) }
      #expect(found == "valueOutOfRange \(name)")
    }
  }

  @Test func namesOfSetsAreTheirKindsAndIDs() throws {
    let identifiers = ParameterSetIdentifiers(picture: [0: 63], sequence: [0: 15], video: [0: 14])
    typealias Row = (unit: [UInt8], kind: ParameterSetName.Kind)
    for (unit, kind) in [(Samples.highSPS, .sequence), (Samples.highPPS, .picture)] as [Row] {
      let old = try H264.name(ofParameterSet: unit.span)
      let moved = try H264.rewritten(parameterSet: unit.span, identifiers)
      #expect(old == ParameterSetName(kind, 0))
      #expect(try H264.name(ofParameterSet: moved.span) == ParameterSetName(kind, identifiers[old]))
    }
    let rows: [Row] = [(H265Samples.vps, .video), (H265Samples.sps, .sequence), (H265Samples.pps, .picture)]
    for (unit, kind) in rows {
      let old = try H265.name(ofParameterSet: unit.span)
      let moved = try H265.rewritten(parameterSet: unit.span, identifiers)
      #expect(old == ParameterSetName(kind, 0))
      #expect(try H265.name(ofParameterSet: moved.span) == ParameterSetName(kind, identifiers[old]))
    }
  }

  /// Messages name the SPS, and in H.265 the VPS.
  @Test func messagesReferToTheNewIDs() throws {
    var sets = H264.ParameterSets()
    try sets.insert(bytes: MinimalStream.sps(nalBuffers: 1, vclBuffers: 0x1))
    var period = BitWriter(addsEmulationPrevention: false)
    period.ue(0)
    for value: UInt32 in [1, 2, 3, 4] { period.u(32, value) }
    period.trailingBits()
    let unit = seiNALUnit([(.bufferingPeriod, period.bytes), (.userDataUnregistered, [UInt8](repeating: 7, count: 16))])
    #expect(try H264.rewritten(sei: unit.span, .init(), of: sets) == unit)
    let moved = try H264.rewritten(sei: unit.span, .init(sequence: [0: 6]), of: sets)
    let back = ParameterSetIdentifiers(sequence: [6: 0])
    var movedSets = H264.ParameterSets()
    for nalUnit in sets.nalUnits {
      try movedSets.insert(bytes: H264.rewritten(parameterSet: nalUnit.span, .init(sequence: [0: 6])))
    }
    #expect(moved != unit)
    #expect(try H264.rewritten(sei: moved.span, back, of: movedSets) == unit)
    let active = H265.ActiveParameterSets(videoParameterSetID: 0, sequenceParameterSetIDs: [0])
    let header: [UInt8] = [0x4E, 1]
    let list = seiNALUnit([(.activeParameterSets, active.payload())], header: header)
    let expected = H265.ActiveParameterSets(videoParameterSetID: 3, sequenceParameterSetIDs: [2])
    #expect(
      try H265.rewritten(sei: list.span, .init(sequence: [0: 2], video: [0: 3]), of: H265.ParameterSets())
        == seiNALUnit([(.activeParameterSets, expected.payload())], header: header))
  }

  @Test func otherNALUnitsAreErrors() {
    for unit in [[], [0x65, 0x80], [0x67, 1], [0x68], [0x09, 0xF0]] as [[UInt8]] {
      #expect(throws: BitstreamError.self) { try H264.rewritten(parameterSet: unit.span, .init()) }
    }
    for unit in [[], [0x40], [0x26, 1, 0x80], [0x40, 9, 0xC0], [0x42, 1, 1]] as [[UInt8]] {
      #expect(throws: BitstreamError.self) { try H265.rewritten(parameterSet: unit.span, .init()) }
    }
  }
}
