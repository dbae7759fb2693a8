// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

@Suite struct SEIEditTests {
  private static let uuid = [UInt8](repeating: 7, count: 16)

  private func accessUnits<Codec: VideoCodecSyntax>(_ stream: [UInt8], _: Codec.Type) -> [[UInt8]] {
    var scanner = Codec.Scanner()
    var units: [[UInt8]] = []
    var start = 0
    while start < stream.count {
      switch scanner.next(in: stream.span.extracting(start..<stream.count), isMarked: false, isDraining: true) {
      case .accessUnit(let size):
        units.append(Array(stream[start..<start + size]))
        start += size
      case .garbage(let size), .unusable(let size): start += size
      case .needsMoreData: return units
      }
    }
    return units
  }

  private func messages<Codec: VideoCodecSyntax>(_ nalUnit: [UInt8], _: Codec.Type) throws -> [(
    SEIPayloadType, [UInt8]
  )] {
    var found: [(SEIPayloadType, [UInt8])] = []
    var messages = SEIMessages(nalUnit.span, headerLength: Codec.nalUnitHeaderLength)
    while let message = try messages.next() { found.append((message.type, try message.payload())) }
    return found
  }

  @Test func removesAndKeepsMessages() throws {
    let sei = seiNALUnit([
      (.userDataUnregistered, Self.uuid + [1]), (.contentLightLevel, [1, 2, 3, 4]),
      (.userDataRegistered, [0xB5, 0, 0]),
    ])
    let only = seiNALUnit([(.userDataUnregistered, Self.uuid)])
    let slice: [UInt8] = [0x65, 0x88, 0x84]
    let stream = [0, 0, 0, 1] + only + [0, 0, 1] + sei + [0, 0, 1] + slice
    var remove = StreamEditor<H264>([.removeSEI(.userDataUnregistered)])
    let removed = try remove.edited(stream)
    let rest = seiNALUnit([(.contentLightLevel, [1, 2, 3, 4]), (.userDataRegistered, [0xB5, 0, 0])])
    // The first NAL unit of an access unit has a start code of four bytes (B.1.2).
    #expect(removed == [0, 0, 0, 1] + rest + [0, 0, 1] + slice)
    #expect(remove.messages.counts[.userDataUnregistered]?.removed == 2)
    var keep = StreamEditor<H264>([.keepSEI([.contentLightLevel])])
    #expect(
      try keep.edited(stream) == [0, 0, 0, 1] + seiNALUnit([(.contentLightLevel, [1, 2, 3, 4])]) + [0, 0, 1] + slice)
    var none = StreamEditor<H264>([.keepSEI([])])
    #expect(try none.edited(stream) == [0, 0, 0, 1] + slice)
    let packaging = NALPackaging.lengthPrefixed(.two)
    let sample = try packaging.packaged(only) + packaging.packaged(slice)
    var all = StreamEditor<H264>([.keepSEI([])])
    #expect(try all.edit(sample.span, packaging: packaging) == packaging.packaged(slice))
    var other = StreamEditor<H264>([.removeSEI(.recoveryPoint)])
    #expect(try other.edit(stream.span, packaging: .annexB) == nil)
  }

  /// The VUI does not demand picture timing that is removed (H.264 D.2.3, H.265 D.3.3).
  @Test(
    arguments: [
      (.removeSEI(.pictureTiming), true), (.keepSEI([.recoveryPoint]), true), (.removeSEI(.recoveryPoint), false),
      (.keepSEI([.pictureTiming]), false),
    ] as [(StreamEdit, Bool)])
  func removingPictureTimingClearsItsFlagInTheVUI(_ edit: StreamEdit, _ isRemoved: Bool) throws {
    #expect(edit.keepsParameterSets == !isRemoved)
    var sps = try H264.SequenceParameterSet(bytes: MinimalStream.sps())
    sps.vui = H264.VUI()
    sps.vui?.isOverscanAppropriate = false
    sps.vui?.isPictureStructurePresent = true
    var h264 = StreamEditor<H264>([edit])
    let edited = try H264.SequenceParameterSet(
      bytes: nalUnits(try h264.edited([0, 0, 0, 1] + sps.nalUnit()))[0])
    #expect(edited.vui?.isPictureStructurePresent == !isRemoved)
    #expect(h264.changes.map(\.element.description) == (isRemoved ? ["pic_struct_present_flag"] : []))

    var other = H265Samples.plainSPS()
    other.vui = H265.VUIParameters()
    other.vui?.isOverscanAppropriate = false
    other.vui?.isPictureStructurePresent = true
    var h265 = StreamEditor<H265>([edit])
    let stream = try h265.edited([0, 0, 0, 1] + other.nalUnit())
    #expect(try H265.SequenceParameterSet(bytes: nalUnits(stream)[0]).vui?.isPictureStructurePresent == !isRemoved)
    var fields = other
    fields.vui?.isFieldSequence = true
    var mixed = other
    mixed.profileTierLevel.profile.constraints.formUnion([.progressiveSource, .interlacedSource])
    for (sps, clause) in [(fields, "H.265 E.3.1"), (mixed, "H.265 7.4.4, E.3.1")] {
      var editor = StreamEditor<H265>([edit])
      do throws(StreamEditError) {
        _ = try editor.edited([0, 0, 0, 1] + sps.nalUnit())
        #expect(!isRemoved)
      } catch {
        #expect(isRemoved && error.clause.description == clause)
      }
    }
  }

  /// In front of the slices, behind the parameter sets; with the temporal sub-layer of the picture.
  @Test func insertsMessages() throws {
    let insertion = SEIInsertion(.contentLightLevel, payload: [0, 0, 0, 1], at: .keyframes)
    let expected = seiNALUnit([(.contentLightLevel, [0, 0, 0, 1])])
    let (idr, prefix, other): ([UInt8], [UInt8], [UInt8]) = ([0x65, 0x88], [0x6E, 0x40, 0, 1], [0x41, 0x9A])
    let sps = [0, 0, 0, 1] + MinimalStream.sps()
    var editor = StreamEditor<H264>([.insertSEI(insertion)])
    let first = try editor.edited(sps + [0, 0, 1] + prefix + [0, 0, 1] + idr)
    #expect(first == sps + [0, 0, 0, 1] + expected + [0, 0, 1] + prefix + [0, 0, 1] + idr)
    let plain = [0, 0, 0, 1] + other
    #expect(try editor.edit(plain.span, packaging: .annexB) == nil)
    let recovery = [0, 0, 0, 1] + seiNALUnit([(.recoveryPoint, [0x80])]) + plain
    #expect(try editor.edited(recovery).count == recovery.count + 4 + expected.count)
    #expect(editor.messages.counts[.contentLightLevel]?.inserted == 2)

    var numbered = StreamEditor<H265>([
      .insertSEI(SEIInsertion(.contentLightLevel, payload: [0, 0, 0, 1], at: .accessUnits([1])))
    ])
    let slice = [0, 0, 0, 1] + H265Samples.slice(.init(rawValue: 0), temporalID: 2)
    #expect(try numbered.edit(slice.span, packaging: .annexB) == nil)
    #expect(
      try numbered.edited(slice)
        == [0, 0, 0, 1] + seiNALUnit([(.contentLightLevel, [0, 0, 0, 1])], header: [78, 3]) + slice)
  }

  /// Picture timing without delays, no buffering period, and nothing else that has changed.
  @Test(.enabled(if: Vectors.isAvailable), arguments: Vectors.rows(codec: "h264", container: "annexb"))
  func removesHRDParametersOfH264(_ row: Vectors.Row) throws {
    let stream = try Vectors.bytes(row.file)
    guard nalUnits(stream).contains(where: { hasHRD(h264: $0) }) else { return }
    var editor = StreamEditor<H264>([.removeHRD])
    var (sets, newSets) = (H264.ParameterSets(), H264.ParameterSets())
    for unit in accessUnits(stream, H264.self) {
      let edited = try editor.edited(unit)
      for nalUnit in nalUnits(unit) { _ = try? sets.insert(nalUnit.span) }
      for nalUnit in nalUnits(edited) { _ = try? newSets.insert(nalUnit.span) }
      let slices = nalUnits(unit).filter { 1...5 ~= $0[0] & 0x1F }
      #expect(nalUnits(edited).filter { 1...5 ~= $0[0] & 0x1F } == slices)
      #expect(!nalUnits(edited).contains { hasHRD(h264: $0) })
      guard let slice = slices.first, let header = try? H264.SliceHeader(bytes: slice, sets),
        let sps = sets.sequenceParameterSet(header.sequenceParameterSetID),
        let newSPS = newSets.sequenceParameterSet(header.sequenceParameterSetID)
      else { continue }
      #expect(try timings(edited, newSPS).map(\.delays) == timings(edited, newSPS).map { _ in nil })
      if newSPS.vui?.isPictureStructurePresent == true {
        #expect(try timings(edited, newSPS).map(\.structure) == timings(unit, sps).map(\.structure), "\(row.file)")
        #expect(
          try timings(edited, newSPS).map(\.clockTimestamps) == timings(unit, sps).map(\.clockTimestamps),
          "\(row.file)")
      } else {
        #expect(try timings(edited, newSPS).isEmpty)
      }
    }
  }

  /// Other time codes in picture timing, and nothing else that has changed; the inverse gives the stream back.
  @Test func replacesTimeCodes() throws {
    var sps = try H264.SequenceParameterSet(bytes: MinimalStream.sps(nalBuffers: 1, vclBuffers: 1))
    sps.vui?.isPictureStructurePresent = true
    var old = ClockTimestamp()
    (old.frames, old.seconds, old.timeOffset) = (7, 59, -5)
    let timing = H264.PictureTiming(
      delays: .init(cpbRemoval: 3, dpbOutput: 4), structure: .topBottom, clockTimestamps: [old, nil])
    let userData: (SEIPayloadType, [UInt8]) = (.userDataUnregistered, [UInt8](repeating: 7, count: 17))
    func stream(_ timing: H264.PictureTiming) -> [UInt8] {
      MinimalStream.annexB([
        sps.nalUnit(), MinimalStream.pps(), seiNALUnit([userData, (.pictureTiming, timing.payload(sps: sps))]),
        MinimalStream.slice(isIDR: true),
      ])
    }
    var new = ClockTimestamp()
    (new.hours, new.minutes, new.seconds, new.isFull, new.frames) = (23, 1, 2, true, 24)
    var changed = timing
    changed.clockTimestamps = [nil, new]
    var editor = StreamEditor<H264>([.clockTimestamps([nil, new], accessUnit: 0)])
    #expect(try editor.edited(stream(timing)) == stream(changed))
    #expect(editor.messages.counts[.pictureTiming]?.changed == 1 && editor.messages.counts.count == 1)
    // Of the second access unit nothing is asked.
    #expect(try editor.edit(stream(timing).span, packaging: .annexB) == nil)
    var back = StreamEditor<H264>([.clockTimestamps([old], accessUnit: 0)])
    #expect(try back.edited(stream(changed)) == stream(timing))

    func refusal(_ timestamps: [ClockTimestamp?], _ stream: [UInt8]) -> String? {
      var editor = StreamEditor<H264>([.clockTimestamps(timestamps, accessUnit: 0)])
      do throws(StreamEditError) { _ = try editor.edit(stream.span, packaging: .annexB) } catch {
        return "\(error.element) \(error.clause)"
      }
      return nil
    }
    #expect(refusal([new, new, new], stream(timing)) == "clock_timestamp_flag H.264 table D-1")
    let bare = MinimalStream.annexB([sps.nalUnit(), MinimalStream.pps(), MinimalStream.slice(isIDR: true)])
    #expect(refusal([new], bare) == "clock_timestamp_flag H.264 D.1.3")
    for (element, change) in [
      ("seconds_value", { $0.seconds = 60 }), ("hours_value", { $0.hours = 24 }), ("n_frames", { $0.frames = 256 }),
      ("time_offset", { $0.timeOffset = 1 << 30 }), ("counting_type", { $0.countingType = 7 }),
      ("full_timestamp_flag", { $0.minutes = nil }),
    ] as [(String, (inout ClockTimestamp) -> Void)] {
      var wrong = new
      change(&wrong)
      #expect(refusal([wrong], stream(timing))?.hasPrefix(element) == true, "\(element)")
    }
    var h265 = StreamEditor<H265>([.clockTimestamps([new], accessUnit: 0)])
    #expect(throws: StreamEditError.self) { try h265.edited([0, 0, 0, 1] + H265Samples.sps) }
  }

  private func hasHRD(h264 nalUnit: [UInt8]) -> Bool {
    if nalUnit[0] & 0x1F == 6 {
      return ((try? messages(nalUnit, H264.self)) ?? []).contains { $0.0 == .bufferingPeriod }
    }
    guard nalUnit[0] & 0x1F == 7, let sps = try? H264.SequenceParameterSet(bytes: nalUnit) else { return false }
    return sps.vui?.nalHRD != nil || sps.vui?.vclHRD != nil
  }

  private func timings(_ unit: [UInt8], _ sps: H264.SequenceParameterSet) throws -> [H264.PictureTiming] {
    var found: [H264.PictureTiming] = []
    for nalUnit in nalUnits(unit) where nalUnit[0] & 0x1F == 6 {
      var messages = SEIMessages(nalUnit.span)
      while let message = try? messages.next() {
        if message.type == .pictureTiming { found.append(try H264.PictureTiming(message, sps: sps)) }
      }
    }
    return found
  }

  /// What decoders could not read is not inserted, nor what depends on the rest of the stream.
  @Test(
    arguments: [
      (5, 15), (4, 0), (137, 23), (144, 3), (147, 0), (45, 0), (0, 1), (1, 1), (130, 1), (132, 17),
      (129, 1), (133, 1), (47, 0), (21, 0),
    ] as [(UInt32, Int)])
  func refusesUnreadableMessages(_ type: UInt32, _ size: Int) throws {
    let payload = [UInt8](repeating: 0, count: size)
    let edit = StreamEdit.insertSEI(SEIInsertion(SEIPayloadType(rawValue: type), payload: payload, at: .keyframes))
    var h264 = StreamEditor<H264>([edit])
    let stream = MinimalStream.annexB([MinimalStream.sps(), MinimalStream.pps(), MinimalStream.slice(isIDR: true)])
    #expect(throws: StreamEditError.self) { try h264.edited(stream) }
    let long = [UInt8](repeating: 0, count: 24)
    let whole = StreamEdit.insertSEI(SEIInsertion(.userDataUnregistered, payload: long, at: .keyframes))
    var editor = StreamEditor<H264>([whole])
    #expect(try editor.edited(stream).count > stream.count + 24)
  }

  /// A picture has some messages only once. The same message is not repeated, and another is refused. Removed messages
  /// do not count.
  @Test func refusesContradictingMessages() throws {
    let stream = MinimalStream.annexB([
      MinimalStream.sps(), MinimalStream.pps(), seiNALUnit([(.contentLightLevel, [0, 1, 0, 1])]),
      MinimalStream.slice(isIDR: true),
    ])
    func insertion(_ payload: [UInt8]) -> StreamEdit {
      .insertSEI(SEIInsertion(.contentLightLevel, payload: payload, at: .keyframes))
    }
    var same = StreamEditor<H264>([insertion([0, 1, 0, 1])])
    #expect(try same.edit(stream.span, packaging: .annexB) == nil)
    var other = StreamEditor<H264>([insertion([0, 2, 0, 1])])
    #expect(throws: StreamEditError.self) { try other.edited(stream) }
    var twice = StreamEditor<H264>([
      .removeSEI(.contentLightLevel), insertion([0, 2, 0, 1]), insertion([0, 3, 0, 1]),
    ])
    #expect(throws: StreamEditError.self) { try twice.edited(stream) }
    var replaced = StreamEditor<H264>([.removeSEI(.contentLightLevel), insertion([0, 2, 0, 1])])
    let messages = try replaced.edited(stream).count
    #expect(messages == stream.count)
  }

  /// A stream with HRD parameters in SPS and VPS, buffering period, decoding unit information, both kinds of picture
  /// timing, and a nesting.
  @Test(arguments: [true, false]) func removesHRDParametersOfH265(isPictureStructurePresent: Bool) throws {
    var sps = H265Samples.plainSPS()
    sps.vui = H265.VUIParameters()
    sps.vui?.isPictureStructurePresent = isPictureStructurePresent
    sps.vui?.timing = .init(unitsInTick: 1, timeScale: 25)
    var common = H265.HRDParameters.Common()
    common.hasNAL = true
    var layer = H265.HRDParameters.SubLayer(pictureRate: .fixed(elementalDuration: 1))
    layer.nal = [.init(bitRateValue: 10, sizeValue: 10, isConstantBitRate: false)]
    let hrd = H265.HRDParameters(common: common, hasCommon: true, subLayers: [layer])
    var withHRD = sps
    withHRD.vui?.timing?.hrdParameters = hrd
    var vps = H265.VideoParameterSet(profileTierLevel: sps.profileTierLevel)
    vps.timing = .init(unitsInTick: 1, timeScale: 25)
    var vpsWithHRD = vps
    vpsWithHRD.hrdParameters = [.init(layerSet: 0, parameters: hrd)]
    let display = H265.PictureTiming.Display(structure: .frameDoubling, sourceScanType: 1)
    let timing = H265.PictureTiming(display: display, delays: .init(cpbRemoval: 5, dpbOutput: 6))
    let header: [UInt8] = [78, 1]
    // bitstream_subset_flag 0, nesting_op_flag 0, all_layers_flag 1, five zeros, and a buffering period.
    let nesting: (SEIPayloadType, [UInt8]) = (SEIPayloadType(rawValue: 133), [0x20, 0, 1, 0x80])
    let sei = seiNALUnit(
      [
        (.bufferingPeriod, [0x80]), (SEIPayloadType(rawValue: 130), [0x80]), nesting,
        (.pictureTiming, timing.payload(sps: withHRD)), (.contentLightLevel, [1, 2, 3, 4]),
      ], header: header)
    let pps = H265.PictureParameterSet(id: 0, sequenceParameterSetID: 0).nalUnit()
    let slice = H265Samples.slice(.idrWithRADL)
    let parts: [[UInt8]] = [vpsWithHRD.nalUnit(), withHRD.nalUnit(), pps, sei, slice]
    let stream: [UInt8] = parts.reduce(into: []) { $0 += [0, 0, 0, 1] + $1 }
    var editor = StreamEditor<H265>([.removeHRD])
    let left: [(SEIPayloadType, [UInt8])] =
      (isPictureStructurePresent
        ? [(.pictureTiming, H265.PictureTiming(display: display).payload(sps: sps))] : [])
      + [(.contentLightLevel, [1, 2, 3, 4])]
    let expected = [vps.nalUnit(), sps.nalUnit(), pps, seiNALUnit(left, header: header), slice]
    #expect(nalUnits(try editor.edited(stream)) == expected)
    #expect(editor.messages.counts[.bufferingPeriod]?.removed == 1)
  }
}
