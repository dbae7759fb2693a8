// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

@Suite struct StreamEditorTests {
  private static let bt709 = ColourDescription(primaries: 1, transfer: 1, matrix: 1)

  private func refusal<Codec: StreamEditing>(
    _ edit: StreamEdit, _ nalUnit: [UInt8], _: Codec.Type
  ) -> StreamEditError? {
    var editor = StreamEditor<Codec>([edit])
    do throws(StreamEditError) {
      _ = try editor.edited([0, 0, 0, 1] + nalUnit)
      return nil
    } catch {
      return error
    }
  }

  /// Only the NAL units above the base layer are removed.
  @Test func removesLayersAboveTheBase() throws {
    let prefix: [UInt8] = [0x6E, 0x40, 0x80, 0x07]
    let (subset, extended): ([UInt8], [UInt8]) = ([0x6F, 0x76, 0, 0x28, 0x80], [0x74, 0x40, 0x80, 0x07, 0x88, 0x80])
    let slice = MinimalStream.slice(isIDR: true)
    var h264 = StreamEditor<H264>([.removeLayers])
    let whole = MinimalStream.annexB([MinimalStream.sps(), subset, MinimalStream.pps(), prefix, slice, extended])
    #expect(
      try h264.edited(whole) == MinimalStream.annexB([MinimalStream.sps(), MinimalStream.pps(), prefix, slice]))
    #expect(h264.removedLayerNALUnits == 2 && h264.changes.isEmpty)
    let base = H265Samples.slice(.init(rawValue: 1))
    var h265 = StreamEditor<H265>([.removeLayers])
    for layer in UInt8(0)..<64 {
      var other = base
      other[0] |= layer >> 5
      other[1] |= layer << 3
      let both = MinimalStream.annexB([base, other])
      #expect(try h265.edited(both) == (layer == 0 ? both : MinimalStream.annexB([base])), "\(layer)")
    }
    #expect(h265.removedLayerNALUnits == 63)
  }

  /// Matrices of RGB and YCgCo, reserved values, and crops that leave nothing, with their clauses.
  @Test func refusesEditsThatTheStandardForbids() {
    let cases: [(StreamEdit, StreamEditError.Reason, String)] = [
      (.matrix(0), .forbiddenCombination, "E.2.1"),
      (.colour(.init(primaries: 1, transfer: 13, matrix: 0)), .forbiddenCombination, "E.2.1"),
      (.primaries(3), .valueOutOfRange, "E.2.1"), (.transfer(19), .valueOutOfRange, "E.2.1"),
      (.matrix(15), .valueOutOfRange, "E.2.1"), (.videoFormat(6), .valueOutOfRange, "E.2.1"),
      (.chromaLocation(ChromaLocation(topField: 6, bottomField: 0)), .valueOutOfRange, "E.2.1"),
      (.chromaLocation(ChromaLocation(topField: 0, bottomField: 6)), .valueOutOfRange, "E.2.1"),
      (.sampleAspectRatio(Ratio(65_537, 2)), .valueOutOfRange, "E.2.1"),
      (.crop(CropMargins(left: 16, right: 16)), .forbiddenCombination, "7.4.2.1.1"),
      (.crop(CropMargins(top: 1)), .forbiddenCombination, "7.4.2.1.1"),
      (.crop(CropMargins(bottom: .max)), .forbiddenCombination, "7.4.2.1.1"),
    ]
    for (edit, reason, clause) in cases {
      let error = refusal(edit, MinimalStream.sps(), H264.self)
      #expect(error?.reason == reason && error?.clause.description == "H.264 \(clause)", "\(edit)")
      let other = refusal(edit, H265Samples.plainSPS().nalUnit(), H265.self)
      if case .crop(let margins) = edit, margins.left > 0 { continue }
      #expect(other?.reason == reason && other?.clause.description.hasPrefix("H.265") == true, "\(edit)")
    }
  }

  @Test func keepsTimingThatHRDParametersNeed() {
    let sps = MinimalStream.sps(nalBuffers: 1, vclBuffers: 1)
    #expect(refusal(.frameRate(nil), sps, H264.self)?.reason == .forbiddenCombination)
    #expect(refusal(.frameRate(Ratio(25, 1)), sps, H264.self) == nil)
  }

  /// A value that is asked for is written, also where it is what decoders infer.
  @Test(arguments: [StreamEdit.fullRange(false), .videoFormat(5), .transfer(2)])
  func writesRequestedValuesEvenIfInferred(edit: StreamEdit) throws {
    var h264 = StreamEditor<H264>([edit])
    let sps = try H264.SequenceParameterSet(
      bytes: nalUnits(try h264.edited([0, 0, 0, 1] + MinimalStream.sps()))[0])
    let colour = edit == .transfer(2) ? ColourDescription(primaries: 2, transfer: 2, matrix: 2) : nil
    #expect(sps.vui?.videoSignal == VideoSignal(format: 5, isFullRange: false, colour: colour))
    #expect(h264.changes.contains { $0.element.description == "video_full_range_flag" && $0.new == 0 })
    var h265 = StreamEditor<H265>([edit])
    let other = try H265.SequenceParameterSet(
      bytes: nalUnits(try h265.edited([0, 0, 0, 1] + H265Samples.plainSPS().nalUnit()))[0])
    #expect(other.vui?.videoSignal == sps.vui?.videoSignal)
  }

  /// Three of the ways to crop: added, changed and taken away.
  @Test func addsChangesAndRemovesCropping() throws {
    let stream = [0, 0, 1] + MinimalStream.sps()
    var crop = StreamEditor<H264>([.crop(CropMargins(left: 2, right: 4, top: 6, bottom: 8))])
    let cropped = try crop.edited(stream)
    let sps = try H264.SequenceParameterSet(bytes: nalUnits(cropped)[0])
    #expect(sps.cropRectangle == CropRectangle(left: 2, top: 6, width: 26, height: 18))
    var whole = StreamEditor<H264>([.crop(CropMargins())])
    #expect(try whole.edited(cropped) == stream)

    let layered = [0, 0, 0, 1] + H265Samples.plainSPS().nalUnit()
    var window = StreamEditor<H265>([.crop(CropMargins(left: 2, right: 4, top: 6, bottom: 8))])
    let windowed = try window.edited(layered)
    let set = try H265.SequenceParameterSet(bytes: nalUnits(windowed)[0])
    #expect(set.cropRectangle == CropRectangle(left: 2, top: 6, width: 250, height: 114))
    var all = StreamEditor<H265>([.crop(CropMargins())])
    #expect(try all.edited(windowed) == layered)
  }

  /// Conformance window and default display window together leave something of the picture, also where the default
  /// display window alone does not.
  @Test(arguments: [40, 80]) func cropLeavesSomethingOfTheDisplayWindow(offset: UInt32) {
    var sps = H265Samples.plainSPS()
    sps.codedSize = VideoSize(width: 176, height: 144)
    sps.vui = H265.VUIParameters()
    sps.vui?.defaultDisplayWindow = .init(left: offset / 2, right: offset / 2, top: offset / 2, bottom: offset / 2)
    let nalUnit = sps.nalUnit()
    let error = refusal(.crop(CropMargins(left: 40, right: 60, top: 32, bottom: 32)), nalUnit, H265.self)
    #expect(error?.reason == .forbiddenCombination && error?.clause.description == "H.265 E.3.1")
    #expect((refusal(.crop(CropMargins(right: 2)), nalUnit, H265.self) == nil) == (offset == 40))
    sps.conformanceWindow = .init(left: 0, right: 1, top: 0, bottom: 0)
    #expect(refusal(.crop(CropMargins()), sps.nalUnit(), H265.self) == nil)
  }

  /// Header bits, SEI and anything behind the SPS's syntax stay: here a subset SPS with its extension.
  @Test func keepsBytesThatAreNotRead() throws {
    var writer = BitWriter()
    writer.u(8, 0x2F)
    let sps = MinimalStream.sps()
    // A subset SPS of the Multiview High profile has the syntax of High.
    for byte: UInt32 in [118, 0, 30] { writer.u(8, byte) }
    for value: UInt32 in [3, 1, 0, 0] { writer.ue(value) }
    writer.u(2, 0)
    for value: UInt32 in [0, 2, 1] { writer.ue(value) }
    writer.flag(false)
    writer.ue(1)
    writer.ue(1)
    writer.u(4, 0b1100)
    let tail: UInt32 = 0b1_0101_1100_0011_0010
    writer.u(17, tail)
    writer.trailingBits()
    let stream = [0, 0, 0, 1] + sps + [0, 0, 1] + writer.bytes + [0, 0, 0]
    var editor = StreamEditor<H264>([.colour(Self.bt709)])
    let edited = try editor.edited(stream)
    #expect(editor.changes.contains { $0.set == .subset && $0.id == 3 })
    #expect(Array(edited.suffix(3)) == [0, 0, 0])
    let subset = nalUnits(edited)[1]
    #expect(subset[0] == 0x2F)
    let trace = SyntaxTrace()
    same(
      try H264.SubsetSequenceParameterSet(nalUnit: subset.span, trace: trace).base.vui?.videoSignal?.colour, Self.bt709)
    var undo = StreamEditor<H264>([.removeVideoSignal])
    #expect(try undo.edited(edited) == stream)
  }

  @Test func changesHaveNameAndBothValues() throws {
    var editor = StreamEditor<H265>([.fullRange(true), .frameRate(Ratio(25, 1))])
    let stream = [0, 0, 0, 1] + H265Samples.vps + [0, 0, 0, 1] + H265Samples.sps
    _ = try editor.edited(stream + stream)
    #expect(
      editor.changes.map(\.description) == [
        "SPS 0: video_signal_type_present_flag: 0, now 1", "SPS 0: video_format: absent, now 5",
        "SPS 0: video_full_range_flag: absent, now 1", "SPS 0: colour_description_present_flag: absent, now 0",
        "SPS 0: vui_num_units_in_tick: 1000, now 1", "SPS 0: vui_time_scale: 30000, now 25",
      ])
  }

  @Test func updatesLengthPrefixes() throws {
    let sps = MinimalStream.sps()
    let slice: [UInt8] = [0x65, 1, 2, 3]
    for size in NALLengthSize.allCases {
      let packaging = NALPackaging.lengthPrefixed(size)
      let sample = try packaging.packaged(sps) + packaging.packaged(slice)
      var editor = StreamEditor<H264>([.colour(Self.bt709)])
      let edited = try #require(try editor.edit(sample.span, packaging: packaging))
      let set = try H264.SequenceParameterSet(bytes: sps)
      var expected = set
      expected.vui = H264.VUI()
      expected.vui?.videoSignal = VideoSignal(isFullRange: false, colour: Self.bt709)
      #expect(try edited == packaging.packaged(expected.nalUnit()) + packaging.packaged(slice))
    }
  }

  @Test func refusesASetThatOutgrowsItsLength() throws {
    var set = try H264.SequenceParameterSet(bytes: MinimalStream.sps())
    // 15 bits each: 253 bytes together with the rest.
    set.pictureOrderCountType = .cycle(
      .init(
        isDeltaAlwaysZero: false, offsetForNonReferencePicture: 0, offsetForTopToBottomField: 0,
        offsetsForReferenceFrames: [Int32](repeating: 100, count: 130)))
    let sps = set.nalUnit()
    try #require(sps.count <= 255 && sps.count > 250)
    let sample = [UInt8(sps.count)] + sps
    var editor = StreamEditor<H264>([.colour(Self.bt709), .sampleAspectRatio(Ratio(64, 45))])
    do throws(StreamEditError) {
      _ = try editor.edit(sample.span, packaging: .lengthPrefixed(.one))
      Issue.record("a length of one byte holds 255")
    } catch {
      #expect(error.reason == .lengthNotRepresentable)
    }
  }

  @Test func editsTheSetsOfConfigurationRecords() throws {
    let vps = H265Samples.vps
    let record = try H265.DecoderConfigurationRecord(
      videoParameterSets: [vps], sequenceParameterSets: [H265Samples.sps], pictureParameterSets: [H265Samples.pps])
    var editor = StreamEditor<H265>([.colour(Self.bt709)])
    let edited = try editor.edit(record)
    let sps = try H265.SequenceParameterSet(bytes: edited.nalUnits(of: .sequenceParameterSet)[0])
    #expect(sps.vui?.videoSignal?.colour == Self.bt709)
    #expect(edited.nalUnits(of: .videoParameterSet) == [vps] && edited.profile == record.profile)

    let avc = try H264.DecoderConfigurationRecord(
      sequenceParameterSets: [MinimalStream.sps(), MinimalStream.sps(id: 1)],
      pictureParameterSets: [MinimalStream.pps()])
    var other = StreamEditor<H264>([.colour(Self.bt709)])
    let changed = try other.edit(avc)
    for set in changed.sequenceParameterSets {
      #expect(try H264.SequenceParameterSet(bytes: set).vui?.videoSignal?.colour == Self.bt709)
    }
    #expect(changed.pictureParameterSets == avc.pictureParameterSets)
  }

  /// Fields last a tick each, in the VPS too.
  @Test func fieldSequencesHaveTwoTicksPerFrame() throws {
    var sps = H265Samples.plainSPS()
    sps.vui = H265.VUIParameters()
    sps.vui?.isFieldSequence = true
    var vps = H265.VideoParameterSet(profileTierLevel: sps.profileTierLevel)
    vps.timing = .init(unitsInTick: 1, timeScale: 60)
    var editor = StreamEditor<H265>([.frameRate(Ratio(25, 1))])
    let edited = try editor.edited([0, 0, 0, 1] + vps.nalUnit() + [0, 0, 0, 1] + sps.nalUnit())
    let sets = nalUnits(edited)
    #expect(try H265.VideoParameterSet(bytes: sets[0]).timing?.timeScale == 50)
    #expect(try H265.SequenceParameterSet(bytes: sets[1]).vui?.timing?.timeScale == 50)
  }

  @Test func keepsUnreadableSets() throws {
    let stream: [UInt8] = [0, 0, 0, 1, 0x67, 100, 0]
    var editor = StreamEditor<H264>([.fullRange(true)])
    #expect(try editor.edit(stream.span, packaging: .annexB) == nil)
    #expect(editor.lastUnreadable?.reason == .truncated)
  }
}
