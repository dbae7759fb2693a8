// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import TestSupport
import Testing

/// The effect of SEI messages, for every value of the syntax elements that the parsers use.
@Suite struct SEIRecordTests {
  /// The output for an access unit: flags, duration, metas, and the fields of the caps with these prefixes.
  private func outcome(_ chain: String, _ input: String, _ unit: [UInt8], _ fields: [String]) throws -> String {
    _ = Harness.registered
    let harness = try Harness(chain)
    let recording = HarnessRecording(harness)
    harness.setInputCaps(input)
    #expect(harness.push(unit, pts: .second) == 0)
    harness.endOfStream()
    var words: [String] = []
    for entry in recording.entries {
      switch entry {
      case .caps(let text):
        words += text.split(separator: ", ").map(String.init).filter { field in fields.contains { field.hasPrefix($0) }
        }
      case .buffer(let buffer):
        words.append("flags \(buffer.attributes.flags.rawValue)")
        words.append("for \((buffer.attributes.duration?.nanoseconds ?? 0) / 1000)")
        words += buffer.metas.filter { $0.contains(" ") }
      default: break
      }
    }
    return words.joined(separator: ", ")
  }

  private static let timedSPS = ParseStream.spsToOrder(reorder: 0, hasPictureStructure: true)

  /// Picture structures of H.264, with as many time codes as they may have.
  @Test(arguments: 0...8 as ClosedRange<UInt8>) func pictureTimingOfH264MatchesTheRecord(_ value: UInt8) throws {
    let structure = try #require(H264.PictureTiming.Structure(rawValue: value))
    let sps = try H264.SequenceParameterSet(nalUnit: Self.timedSPS.span)
    var rows: [String] = []
    for (counting, isFieldBased, scan) in [(UInt8(0), true, UInt8(0)), (4, false, 1), (6, true, 2)] {
      var timing = H264.PictureTiming(structure: structure)
      timing.clockTimestamps = (0..<structure.clockTimestampCount).map { index in
        var timestamp = ClockTimestamp()
        (timestamp.isFieldBased, timestamp.isFull, timestamp.countingType) = (isFieldBased, true, counting)
        (timestamp.hours, timestamp.minutes, timestamp.seconds) = (1, 2, 3)
        (timestamp.frames, timestamp.scanType) = (UInt16(4 + index), scan)
        return timestamp
      }
      let unit = ParseStream.byteStream(
        Self.timedSPS, ParseStream.ppsToOrder(), seiNALUnit([(.pictureTiming, timing.payload(sps: sps))]),
        ParseStream.slice(2, number: 0, order: 0, idr: true))
      rows.append(
        try outcome("swifth264parse", "video/x-h264, stream-format=byte-stream, alignment=au", unit, []))
    }
    try RecordFile.elements.expect("H.264 pic_struct \(value)", rows)
  }

  /// Picture structures of H.265, with time codes before and after them.
  @Test(arguments: 0...12 as ClosedRange<UInt8>) func pictureTimingOfH265MatchesTheRecord(_ value: UInt8) throws {
    let sps = H265Stream.sps { $0.vui?.isPictureStructurePresent = true }
    let timing = H265Stream.sei(1, [value << 4 | 1])
    let codes: [ClockTimestamp?] = (0..<3).map { index in
      var time = H265.TimeCode.ClockTimestamp()
      (time.hours, time.minutes, time.seconds, time.frames, time.isFull) = (1, 2, 3, UInt16(4 + index), true)
      (time.countingType, time.isFieldBased) = (UInt8(3 + index), index == 1)
      return time
    }
    let code = H265Stream.sei(136, H265.TimeCode(clockTimestamps: codes).payload())
    let rows = try [[timing, code], [code, timing], [timing]].map { messages in
      let unit = H265Stream.byteStream([H265Stream.vps, sps, H265Stream.pps()] + messages + [H265Stream.idr])
      return try outcome("swifth265parse", "video/x-h265, stream-format=byte-stream, alignment=au", unit, [])
    }
    try RecordFile.elements.expect("H.265 pic_struct \(value)", rows)
  }

  /// Frame packing arrangements of every type, interpretation and flag, and of reserved ids.
  @Test(arguments: 0...7 as ClosedRange<UInt32>) func framePackingMatchesTheRecord(_ type: UInt32) throws {
    var rows: [String] = []
    for interpretation in UInt32(0)...3 {
      for (id, flags) in [(UInt32(0), UInt32(0)), (0, 0x20), (0, 0x30), (255, 0x10), (256, 0), (511, 0), (512, 0)] {
        for isQuincunx in [false, true] {
          var writer = BitWriter(addsEmulationPrevention: false)
          writer.ue(id)
          writer.flag(false)
          writer.u(7, type)
          writer.flag(isQuincunx)
          writer.u(6, interpretation)
          writer.u(6, flags)
          if type != 5, !isQuincunx { writer.u(16, 0) }
          writer.u(8, 0)
          writer.ue(1)
          writer.flag(false)
          writer.trailingBits()
          let unit = ParseStream.byteStream(
            ParseStream.spsToOrder(width: 120), ParseStream.ppsToOrder(),
            seiNALUnit([(.framePackingArrangement, writer.bytes)]),
            ParseStream.slice(2, number: 0, order: 0, idr: true))
          rows.append(
            try outcome(
              "swifth264parse", "video/x-h264, stream-format=byte-stream, alignment=au", unit, ["multiview"]))
        }
      }
    }
    let sum = HarnessRecording.checksum(Array(rows.joined(separator: "\n").utf8)).short
    try RecordFile.elements.expect("frame packing \(type)", [rows[0], rows[2], sum])
  }

  /// Bars on any side, of frames and of bottom fields, and the active format.
  @Test func barsMatchTheRecord() throws {
    for structure in [H264.PictureTiming.Structure.frame, .bottomField] {
      let sps = try H264.SequenceParameterSet(nalUnit: Self.timedSPS.span)
      let timing = H264.PictureTiming(structure: structure).payload(sps: sps)
      for sides in UInt8(0)..<16 {
        var bars: [UInt8] = Array("GA94".utf8) + [6, sides << 4 | 0x0F]
        for side in UInt8(0)..<4 where sides & (8 >> side) != 0 { bars += [0xC0 | side, 0x10 + side] }
        let format: [UInt8] = Array("DTG1".utf8) + [0x41, 0xF0 | sides]
        let messages: [(type: SEIPayloadType, payload: [UInt8])] = [
          (.pictureTiming, timing), (.userDataRegistered, [0xB5, 0, 0x31] + bars),
          (.userDataRegistered, [0xB5, 0, 0x31] + format),
        ]
        let unit = ParseStream.byteStream(
          Self.timedSPS, ParseStream.ppsToOrder(), seiNALUnit(messages),
          ParseStream.slice(2, number: 0, order: 0, idr: true))
        let found = try outcome("swifth264parse", "video/x-h264, stream-format=byte-stream, alignment=au", unit, [])
        try RecordFile.elements.expect("bars \(structure) \(sides)", [found])
      }
    }
  }

  /// Drop-frame time codes only at rates for which GStreamer supports them; newer versions do at 120000/1001.
  @Test func dropFrameTimeCodesMatchTheRecord() throws {
    let sps = try H264.SequenceParameterSet(nalUnit: Self.timedSPS.span)
    var timestamp = ClockTimestamp()
    (timestamp.isFieldBased, timestamp.isFull, timestamp.countingType) = (true, true, 4)
    (timestamp.hours, timestamp.minutes, timestamp.seconds, timestamp.frames) = (1, 2, 3, 4)
    var timing = H264.PictureTiming(structure: .frame)
    timing.clockTimestamps = [timestamp]
    let unit = ParseStream.byteStream(
      Self.timedSPS, ParseStream.ppsToOrder(), seiNALUnit([(.pictureTiming, timing.payload(sps: sps))]),
      ParseStream.slice(2, number: 0, order: 0, idr: true))
    for rate in ["30000/1001", "60000/1001", "24000/1001", "30/1", "60/1", "25/1", "50/1", "0/1"] {
      let caps = "video/x-h264, stream-format=byte-stream, alignment=au, framerate=\(rate)"
      try RecordFile.elements.expect("time code at \(rate)", [try outcome("swifth264parse", caps, unit, [])])
    }
  }

  /// Time codes of metas in place of those of the stream, as many as there are, from and to every packaging.
  @Test(arguments: StreamCodec.allCases, [true, false])
  func rewrittenTimeCodesMatchTheRecord(_ codec: StreamCodec, _ arePackets: Bool) throws {
    _ = Harness.registered
    let sets = try Self.timedUnit(codec).sets
    let record = codec == .h264 ? RepackStream.avcC([sets[0]], pps: [sets[1]]) : H265Stream.hvcC(sets.map { [$0] })
    let input =
      arePackets
      ? "stream-format=\(codec.outOfBand), codec_data=(buffer)\(ParseStream.hexadecimal(record))"
      : "stream-format=byte-stream"
    for output in RecordedRun.outputs(codec) {
      for count in 0...4 {
        for properties in ["", "config-interval=-1"] {
          let harness = try Harness("\(codec.element)parse update-timecode=true \(properties)")
          let recording = HarnessRecording(harness)
          harness.setOutputCaps("\(codec.mediaType), parsed=true, \(output)")
          harness.setInputCaps("\(codec.mediaType), \(input), alignment=au, framerate=30000/1001")
          for isFirst in [true, false] {
            let unit = try Self.timedUnit(codec, number: isFirst ? 0 : 1)
            let nalUnits = (isFirst ? unit.sets : []) + unit.picture
            var buffer = try RepackStream.buffer(
              arePackets ? RepackStream.lengthPrefixed(nalUnits) : RepackStream.annexB(nalUnits))
            for index in 0..<UInt32(count) {
              buffer.addTimeCode(
                Buffer.TimeCode(
                  hours: 10, minutes: 11, seconds: 12, frames: 13 + index,
                  frameRate: Fraction(30000, index == 1 ? 1000 : 1001), dropsFrames: index == 0,
                  isInterlaced: false, fieldCount: index))
            }
            buffer.pts = .second
            #expect(harness.push(buffer) == 0)
          }
          harness.endOfStream()
          let columns = RunSummary(recording.entries).columns
          try RecordFile.elements.expect(
            "\(codec) \(arePackets ? "packets" : "bytes") \(count) time codes \(properties) \(output)",
            [columns[0], columns[2], columns[3]])
        }
      }
    }
  }

  /// An IDR picture with a time code SEI message and another one, followed by a NAL unit of an RTP type, which is
  /// dropped.
  private static func timedUnit(
    _ codec: StreamCodec, number: UInt32 = 0
  ) throws -> (sets: [[UInt8]], picture: [[UInt8]]) {
    switch codec {
    case .h264:
      let sps = try H264.SequenceParameterSet(nalUnit: timedSPS.span)
      var timing = H264.PictureTiming(structure: .topBottomTop)
      timing.clockTimestamps = [nil, nil, nil]
      let messages: [(type: SEIPayloadType, payload: [UInt8])] = [
        (.userDataUnregistered, [UInt8](1...20)), (.pictureTiming, timing.payload(sps: sps)),
      ]
      let slice = ParseStream.slice(2, number: 0, order: 0, idr: true, idrID: number)
      return ([timedSPS, ParseStream.ppsToOrder()], [seiNALUnit(messages), slice, [0x78, 1, 2, 3]])
    case .h265:
      let sps = H265Stream.sps { $0.vui?.isPictureStructurePresent = true }
      var time = ClockTimestamp()
      (time.hours, time.minutes, time.seconds, time.frames, time.isFull) = (1, 2, 3, 4, true)
      let code = H265Stream.sei(136, H265.TimeCode(clockTimestamps: [time]).payload())
      let picture = [code, H265Stream.sei(1, [0x51]), H265Stream.idr, [0x60, 1, 2, 3]]
      return ([H265Stream.vps, sps, H265Stream.pps()], picture)
    }
  }

  /// Display metadata, which lasts until an IDR picture without it, and upstream's caps of the same.
  @Test func displayMetadataMatchesTheRecord() throws {
    _ = Harness.registered
    let message = { (type: UInt32, payload: [UInt8]) in H265Stream.sei(type, payload) }
    let kinds: [(String, [[UInt8]])] = [
      ("mastering", [H265Stream.masteringDisplay]), ("light", [H265Stream.contentLight]),
      ("both", [H265Stream.masteringDisplay, H265Stream.contentLight]), ("HDR10+", [H265Stream.dynamicMetadata]),
      ("HLG", [message(147, [18])]), ("PQ", [message(147, [16])]),
    ]
    let given = [
      "", ", hdr-format=hdr10", ", mastering-display-info=(string)1:2:3:4:5:6:7:8:9:10",
      ", content-light-level=(string)1:2", ", colorimetry=(string)bt601",
    ]
    for (name, messages) in kinds {
      for (index, more) in given.enumerated() {
        let harness = try Harness("swifth265parse")
        let recording = HarnessRecording(harness)
        harness.setInputCaps("video/x-h265, stream-format=byte-stream, alignment=au\(more)")
        let sps = H265Stream.sps { sps in
          sps.vui?.videoSignal = .init(isFullRange: false, colour: .init(primaries: 9, transfer: 14, matrix: 9))
        }
        let (sets, idr) = ([H265Stream.vps, sps, H265Stream.pps()], [H265Stream.idr])
        let trailing = [H265Stream.slice(.trailingR, count: 1)]
        for unit in [sets + messages + idr, trailing, idr, messages + idr, messages + trailing, idr, idr] {
          #expect(harness.push(H265Stream.byteStream(unit), pts: .second) == 0)
        }
        harness.endOfStream()
        var words: [String] = []
        for case .caps(let text) in recording.entries {
          let fields = text.split(separator: ", ").filter { field in
            ["hdr", "mastering", "content", "colorimetry"].contains { field.hasPrefix($0) }
          }
          words.append(fields.joined(separator: " "))
        }
        try RecordFile.elements.expect("lasting \(name) \(index)", [words.joined(separator: "; ")])
      }
    }
  }
}
