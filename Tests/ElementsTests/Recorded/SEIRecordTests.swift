// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import TestSupport
import Testing

/// What becomes of SEI messages, for every value of the syntax elements that the parsers go by.
@Suite struct SEIRecordTests {
  /// What comes of an access unit: flags, duration, metas, and the caps' fields that begin with one of these.
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
        words += buffer.metas.filter { $0.contains(":") }
      default: break
      }
    }
    return words.joined(separator: ", ")
  }

  private static let timedSPS = ParseStream.spsToOrder(reorder: 0, hasPictureStructure: true)

  /// Picture structures of H.264, with as many time codes as they may have.
  @Test(arguments: 0...8 as ClosedRange<UInt8>) func pictureTimingOfH264(_ value: UInt8) throws {
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

  /// Picture structures of H.265, with time codes in front of them and behind.
  @Test(arguments: 0...12 as ClosedRange<UInt8>) func pictureTimingOfH265(_ value: UInt8) throws {
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

  /// How two views share a picture, for every type, interpretation and flag, and for ids that are reserved.
  @Test(arguments: 0...7 as ClosedRange<UInt32>) func framePacking(_ type: UInt32) throws {
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
}
