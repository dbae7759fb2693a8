// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

@Suite struct LevelEditTests {
  private static let levels = ["1", "1b", "1.1", "2", "2.1", "3", "3.1", "4.1", "4.2", "5.1", "6.2"]

  private func edited<Codec: StreamEditing>(_ nalUnit: [UInt8], _ edits: StreamEdit..., as _: Codec.Type) throws
    -> [UInt8]
  {
    var editor = StreamEditor<Codec>(edits)
    return nalUnits(try editor.edited([0, 0, 0, 1] + nalUnit))[0]
  }

  private func refusal(_ edit: StreamEdit, _ sps: H264.SequenceParameterSet) -> StreamEditError? {
    do {
      _ = try edited(sps.nalUnit(), edit, as: H264.self)
      return nil
    } catch {
      return error as? StreamEditError
    }
  }

  /// Decoders infer or read the same size of the buffer at every level that is not refused. Only levels that the set
  /// breaks are refused.
  @Test(.enabled(if: Vectors.isAvailable), arguments: Vectors.rows(codec: "h264", container: "annexb"))
  func acceptedLevelsDoNotChangeTheInferredBuffer(_ row: Vectors.Row) throws {
    for nalUnit in Set(nalUnits(try Vectors.bytes(row.file))) where nalUnit[0] & 0x1F == 7 {
      guard let before = try? H264.SequenceParameterSet(bytes: nalUnit) else { continue }
      for name in Self.levels {
        let level = try #require(StreamLevel(name))
        guard let new = try? edited(nalUnit, .level(level), as: H264.self) else { continue }
        let after = try H264.SequenceParameterSet(bytes: new)
        #expect(after.level.name == name, "\(row.file)")
        if before.pictureOrderCountType != .decodingOrder {
          #expect(after.decodedPictureBufferFrames == before.decodedPictureBufferFrames, "\(row.file) \(name)")
          #expect(after.maximumReorderFrames == before.maximumReorderFrames, "\(row.file) \(name)")
        }
        #expect(
          after.decodedPictureBufferFrames
            <= max(after.maximumDecodedPictureBufferFrames, Int(after.maximumReferenceFrames)))
        #expect(after.codesPictures(like: before), "\(row.file)")
      }
      // Its own level is no edit.
      if let own = before.level.name, let level = StreamLevel(own) {
        #expect(try edited(nalUnit, .level(level), as: H264.self) == nalUnit, "\(row.file)")
      }
    }
  }

  @Test func level1bIsAConstraintFlag() throws {
    var sps = try H264.SequenceParameterSet(bytes: MinimalStream.sps())
    let level1b = try H264.SequenceParameterSet(bytes: edited(sps.nalUnit(), .level(.level1b), as: H264.self))
    #expect(level1b.levelIDC == 11 && level1b.profile.isConstrained(toSet: 3) && level1b.level.name == "1b")
    let back = try H264.SequenceParameterSet(
      bytes: edited(level1b.nalUnit(), .level(StreamLevel(tenths: 11)), as: H264.self))
    #expect(back.levelIDC == 11 && !back.profile.isConstrained(toSet: 3) && back.level.name == "1.1")
    #expect(refusal(.constraintSet(3, false), level1b)?.clause.description == "H.264 A.3.1")
    sps.profile = H264.Profile(idc: 100, constraintFlags: 0)
    let high = try H264.SequenceParameterSet(bytes: edited(sps.nalUnit(), .level(.level1b), as: H264.self))
    #expect(high.levelIDC == 9 && high.profile.constraintFlags == 0 && high.level.name == "1b")
  }

  /// An edit of the front that makes the VUI signal what was inferred keeps what is between them as it was coded.
  @Test func keepsScalingListsBetweenTwoChanges() throws {
    var writer = BitWriter()
    for byte: UInt32 in [0x67, 100, 0, 22] { writer.u(8, byte) }
    for value: UInt32 in [0, 1, 0, 0] { writer.ue(value) }
    writer.u(2, 0b01)
    // One list of sixteen deltas, where two would do, and seven that are not sent.
    writer.flag(true)
    writer.se(8)
    for _ in 0..<15 { writer.se(0) }
    writer.u(7, 0)
    for value: UInt32 in [0, 2, 1] { writer.ue(value) }
    writer.flag(false)
    writer.ue(1)
    writer.ue(1)
    writer.u(4, 0b1100)
    writer.trailingBits()
    for edit in [StreamEdit.constraintSet(3, true), .level(StreamLevel(tenths: 10))] {
      var editor = StreamEditor<H264>([edit])
      let new = nalUnits(try editor.edited([0, 0, 0, 1] + writer.bytes))[0]
      let trace = SyntaxTrace()
      _ = try H264.SequenceParameterSet(nalUnit: new.span, trace: trace)
      #expect(trace.elements.filter { $0.name.description == "delta_scale" }.count == 16, "\(edit)")
      #expect(!editor.changes.isEmpty)
      #expect(!editor.changes.contains { $0.element.description == "delta_scale" }, "\(editor.changes)")
    }
  }

  @Test func refusesStreamsThatALevelForbids() throws {
    var sps = try H264.SequenceParameterSet(bytes: MinimalStream.sps())
    sps.profile = H264.Profile(idc: 77, constraintFlags: 0)
    sps.pictureOrderCountType = .leastSignificantBits(log2Maximum: 4)
    func expect(_ level: String, _ element: String, _ change: (inout H264.SequenceParameterSet) -> Void) throws {
      var sps = sps
      change(&sps)
      let error = refusal(.level(try #require(StreamLevel(level))), sps)
      #expect(error?.reason == .exceedsLevel && error?.element.description == element, "\(level): \(element)")
    }
    try expect("1", "PicSizeInMbs") { ($0.widthInMacroblocks, $0.heightInMapUnits) = (20, 20) }
    try expect("1", "PicWidthInMbs") { ($0.widthInMacroblocks, $0.heightInMapUnits) = (40, 1) }
    try expect("1", "max_num_ref_frames") {
      ($0.widthInMacroblocks, $0.heightInMapUnits, $0.maximumReferenceFrames) = (9, 11, 5)
      $0.vui = H264.VUI()
      $0.vui?.bitstreamRestriction = restriction(2, 5)
    }
    // Inferred, and more than the level has.
    try expect("1", "max_dec_frame_buffering") { ($0.widthInMacroblocks, $0.heightInMapUnits) = (9, 11) }
    var inferred = sps
    (inferred.widthInMacroblocks, inferred.heightInMapUnits) = (9, 11)
    let level1 = StreamEdit.level(StreamLevel(tenths: 10))
    #expect(refusal(level1, inferred)?.requirement.description.contains("latency") == true)
    var both = StreamEditor<H264>([.reordering(2, buffer: nil), level1])
    #expect(try both.edited([0, 0, 0, 1] + inferred.nalUnit()) != [0, 0, 0, 1] + inferred.nalUnit())
    try expect("4.2", "frame_mbs_only_flag") { $0.isFrameOnly = false }
    try expect("3.1", "direct_8x8_inference_flag") {
      $0.levelIDC = 21
      $0.usesDirect8x8Inference = false
    }
    try expect("1", "time_scale") {
      $0.vui = H264.VUI()
      $0.vui?.timing = .init(unitsInTick: 1, timeScale: 2000, isFixedFrameRate: true)
    }
    for profile: UInt8 in [77, 100] {
      sps.profile = H264.Profile(idc: profile, constraintFlags: 0)
      for tenths: UInt8 in [0, 9, 14, 45, 63] {
        #expect(refusal(.level(StreamLevel(tenths: tenths)), sps)?.reason == .valueOutOfRange, "\(profile) \(tenths)")
      }
    }
    #expect(refusal(.highTier(true), sps)?.reason == .notInCodec)
    #expect(refusal(.constraintSet(6, true), sps)?.reason == .valueOutOfRange)
    var fields = sps
    fields.isFrameOnly = false
    #expect(refusal(.constraintSet(4, true), fields)?.element.description == "constraint_set4_flag")
  }

  /// H.264 7.4.2.1.1: what means nothing in a profile has to be 0.
  @Test func refusesReservedFlags() throws {
    var sps = try H264.SequenceParameterSet(bytes: MinimalStream.sps())
    let meaningful: [(flag: Int, profiles: [UInt8])] = [
      (4, [77, 88, 100, 110, 118, 128, 134]), (5, [77, 88, 100, 118]),
      (3, [100, 110, 122, 244, 44]),
    ]
    for (flag, profiles) in meaningful {
      for profile in [44, 66, 77, 88, 100, 110, 118, 122, 128, 134, 138, 244] as [UInt8] {
        sps.profile = H264.Profile(idc: profile, constraintFlags: 0)
        let error = refusal(.constraintSet(flag, true), sps)
        #expect((error == nil) == profiles.contains(profile), "constraint_set\(flag)_flag, profile \(profile)")
      }
    }
    // Only in four profiles is it about fields.
    for (profile, isRefused) in [(77, true), (110, true), (118, false), (128, false), (134, false)] as [(UInt8, Bool)] {
      sps.profile = H264.Profile(idc: profile, constraintFlags: 0)
      (sps.isFrameOnly, sps.levelIDC) = (false, 30)
      let error = refusal(.constraintSet(4, true), sps)
      #expect((error?.element.description == "constraint_set4_flag") == isRefused, "\(profile)")
    }
  }

  /// A rate that the level or HRD parameters do not allow is refused, unless the same run changes them.
  @Test func refusesRatesBeyondLevelOrHRD() throws {
    var sps = try H264.SequenceParameterSet(bytes: MinimalStream.sps())
    (sps.widthInMacroblocks, sps.heightInMapUnits, sps.levelIDC) = (11, 9, 11)
    #expect(refusal(.frameRate(Ratio(30, 1)), sps) == nil)
    // 99 macroblocks, of which level 1.1 allows 3,000 a second.
    let tooFast = refusal(.frameRate(Ratio(31, 1)), sps)
    #expect(tooFast?.reason == .exceedsLevel && tooFast?.clause.description == "H.264 A.3.1")
    let level = StreamEdit.level(StreamLevel(tenths: 20))
    for edits in [[level, .frameRate(Ratio(31, 1))], [.frameRate(Ratio(31, 1)), level]] {
      var editor = StreamEditor<H264>(edits)
      #expect(try editor.edited([0, 0, 0, 1] + sps.nalUnit()) != [0, 0, 0, 1] + sps.nalUnit())
    }
    sps.vui = H264.VUI()
    sps.vui?.timing = .init(unitsInTick: 1, timeScale: 50, isFixedFrameRate: true)
    sps.vui?.nalHRD = try H264.SequenceParameterSet(bytes: MinimalStream.sps(nalBuffers: 1, vclBuffers: 1)).vui?.nalHRD
    #expect(refusal(.frameRate(Ratio(25, 1)), sps) == nil)
    #expect(refusal(.frameRate(Ratio(20, 1)), sps)?.clause.description == "H.264 C.1")
    #expect(refusal(.removeSEI(.pictureTiming), sps)?.clause.description == "H.264 D.2.2, D.2.3")
    #expect(refusal(.keepSEI([]), sps)?.reason == .forbiddenCombination)
    #expect(refusal(.removeSEI(.contentLightLevel), sps) == nil)
    for edit in [StreamEdit.frameRate(Ratio(20, 1)), .keepSEI([])] {
      var editor = StreamEditor<H264>([edit, .removeHRD])
      #expect(try editor.edited([0, 0, 0, 1] + sps.nalUnit()).isEmpty == false)
    }
  }

  @Test func refusesH265RatesBeyondLevelOrHRD() throws {
    func refusal(_ edits: StreamEdit..., of sps: H265.SequenceParameterSet) -> StreamEditError? {
      var editor = StreamEditor<H265>(edits)
      do {
        _ = try editor.edited([0, 0, 0, 1] + sps.nalUnit())
        return nil
      } catch { return error }
    }
    var sps = H265Samples.plainSPS()
    sps.profileTierLevel.levelIDC = 30
    sps.vui = H265.VUIParameters()
    sps.vui?.timing = .init(unitsInTick: 1, timeScale: 1)
    let size = UInt32(clamping: sps.codedSize.width) * UInt32(clamping: sps.codedSize.height)
    // MaxLumaSr of level 1.
    let most = 552_960 / size
    #expect(refusal(.frameRate(Ratio(most, 1)), of: sps) == nil)
    #expect(refusal(.frameRate(Ratio(most + 1, 1)), of: sps)?.clause.description == "H.265 A.4.2")
    #expect(refusal(.frameRate(Ratio(most + 1, 1)), .level(StreamLevel(tenths: 62)), of: sps) == nil)
    var fast = sps
    fast.profileTierLevel.levelIDC = 186
    fast.vui?.timing = .init(unitsInTick: 1, timeScale: most + 1)
    #expect(refusal(.level(StreamLevel(tenths: 10)), of: fast)?.reason == .exceedsLevel)
    var common = H265.HRDParameters.Common()
    common.hasNAL = true
    var layer = H265.HRDParameters.SubLayer(pictureRate: .fixed(elementalDuration: 1))
    layer.nal = [.init(bitRateValue: 10, sizeValue: 10, isConstantBitRate: false)]
    sps.vui?.timing?.hrdParameters = H265.HRDParameters(common: common, hasCommon: true, subLayers: [layer])
    #expect(refusal(.frameRate(Ratio(2, 1)), of: sps)?.clause.description == "H.265 C.1")
    #expect(refusal(.removeSEI(.bufferingPeriod), of: sps)?.clause.description == "H.265 D.3.2, D.3.3")
    #expect(refusal(.removeHRD, .removeSEI(.bufferingPeriod), .frameRate(Ratio(2, 1)), of: sps) == nil)
  }

  private func restriction(_ reorder: UInt8, _ buffer: UInt8) -> H264.VUI.BitstreamRestriction? {
    let nalUnit = try? edited(MinimalStream.sps(), .reordering(reorder, buffer: buffer), as: H264.self)
    return nalUnit.flatMap { try? H264.SequenceParameterSet(bytes: $0) }?.vui?.bitstreamRestriction
  }

  @Test func writesAndChecksTheReorderDepth() throws {
    var sps = try H264.SequenceParameterSet(bytes: MinimalStream.sps())
    sps.maximumReferenceFrames = 3
    let nalUnit = sps.nalUnit()
    let set = try H264.SequenceParameterSet(bytes: edited(nalUnit, .reordering(1, buffer: 3), as: H264.self))
    #expect(set.sentReorderFrames == 1 && set.vui?.bitstreamRestriction?.maximumDecodedFrameBuffering == 3)
    let kept = try H264.SequenceParameterSet(bytes: edited(nalUnit, .reordering(1, buffer: nil), as: H264.self))
    #expect(kept.vui?.bitstreamRestriction?.maximumDecodedFrameBuffering == 4)
    #expect(refusal(.reordering(4, buffer: 3), sps)?.element.description == "max_num_reorder_frames")
    #expect(refusal(.reordering(0, buffer: 2), sps)?.element.description == "max_dec_frame_buffering")
    #expect(refusal(.reordering(0, buffer: 17), sps)?.reason == .exceedsLevel)
    #expect(refusal(.reordering(1, buffer: nil), set) == nil)
  }

  /// Each SPS gets the buffer that it needs with the depth, whatever others need, up to its level.
  @Test func eachSPSGetsTheBufferOfItsReorderDepth() throws {
    func sps(_ id: UInt32, references: UInt8, buffer: UInt8) throws -> [UInt8] {
      var sps = try H264.SequenceParameterSet(bytes: MinimalStream.sps(id: id))
      sps.maximumReferenceFrames = references
      sps.vui = H264.VUI()
      sps.vui?.bitstreamRestriction = restriction(0, buffer)
      return sps.nalUnit()
    }
    let sets = [
      try sps(0, references: 4, buffer: 9), try sps(1, references: 3, buffer: 3), try sps(2, references: 1, buffer: 2),
    ]
    var editor = StreamEditor<H264>([.reordering(4, buffer: nil)])
    let edited = nalUnits(try editor.edited(sets.flatMap { [0, 0, 0, 1] + $0 }))
    let restrictions = try edited.map { try H264.SequenceParameterSet(bytes: $0).vui?.bitstreamRestriction }
    #expect(restrictions.map { $0?.maximumReorderFrames } == [4, 4, 4])
    #expect(restrictions.map { $0?.maximumDecodedFrameBuffering } == [8, 4, 4])
    var large = try H264.SequenceParameterSet(bytes: sets[1])
    (large.widthInMacroblocks, large.heightInMapUnits) = (45, 30)
    #expect(large.maximumDecodedPictureBufferFrames == 6)
    #expect(refusal(.reordering(6, buffer: nil), large) == nil)
    #expect(refusal(.reordering(7, buffer: nil), large)?.reason == .exceedsLevel)
  }

  @Test func editsH265LevelsTiersAndSubLayers() throws {
    let before = try H265.SequenceParameterSet(bytes: H265Samples.sps)
    for name in ["3.1", "4", "6.2"] {
      let level = try #require(StreamLevel(name))
      for (nalUnit, own) in [(H265Samples.sps, "1"), (H265Samples.vps, "1"), (H265Samples.layeredVPS, "2.1")] {
        let new = try edited(nalUnit, .level(level), as: H265.self)
        #expect(new != nalUnit)
        #expect(try edited(new, .level(try #require(StreamLevel(own))), as: H265.self) == nalUnit)
      }
      let set = try H265.SequenceParameterSet(bytes: edited(H265Samples.sps, .level(level), as: H265.self))
      #expect(set.level.name == name && set.codesPictures(like: before))
    }
    var sps = H265Samples.plainSPS()
    sps.subLayerCount = 2
    sps.profileTierLevel.subLayers = [.init(profile: sps.profile, levelIDC: 93)]
    sps.buffering = [
      .init(maximumDecodedPictures: 4, maximumReorderPictures: 2, maximumLatencyIncreasePlus1: 2),
      .init(maximumDecodedPictures: 6, maximumReorderPictures: 3, maximumLatencyIncreasePlus1: 0),
    ]
    let lower = try H265.SequenceParameterSet(
      bytes: edited(sps.nalUnit(), .level(StreamLevel(tenths: 20)), .reordering(1, buffer: 3), as: H265.self))
    #expect(lower.profileTierLevel.subLayers[0].levelIDC == 60)
    #expect(lower.buffering.map(\.maximumReorderPictures) == [1, 1])
    #expect(lower.buffering.map(\.maximumDecodedPictures) == [3, 3])
    #expect(lower.buffering.map(\.maximumLatencyIncreasePlus1) == [3, 0])
    let tier = try H265.SequenceParameterSet(
      bytes: edited(sps.nalUnit(), .level(StreamLevel(tenths: 40)), .highTier(true), as: H265.self))
    #expect(tier.level.tierName == "high")
    let cases: [(StreamEdit, StreamEditError.Reason)] = [
      (.highTier(true), .forbiddenCombination), (.level(.level1b), .valueOutOfRange),
      (.level(StreamLevel(tenths: 99)), .valueOutOfRange), (.level(StreamLevel(tenths: 9)), .valueOutOfRange),
      (.reordering(6, buffer: 6), .forbiddenCombination),
      (.reordering(0, buffer: 17), .valueOutOfRange), (.constraintSet(1, true), .notInCodec),
    ]
    for (edit, reason) in cases {
      do {
        _ = try edited(sps.nalUnit(), edit, as: H265.self)
        Issue.record("\(edit) was not refused")
      } catch {
        #expect((error as? StreamEditError)?.reason == reason, "\(edit)")
      }
    }
    sps.codedSize = VideoSize(width: 1920, height: 1088)
    do {
      _ = try edited(sps.nalUnit(), .level(StreamLevel(tenths: 30)), as: H265.self)
      Issue.record("level 3 does not hold 1920 × 1088")
    } catch {
      #expect((error as? StreamEditError)?.element.description == "PicSizeInSamplesY")
    }
  }
}
