// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import H26x
import HarnessSupport
import Testing

private typealias Stream = RepackStream

/// Caps, latency, events, and whether bytes are copied.
@Suite(.serialized) struct RepackNegotiationTests {
  private let idr = Stream.slice(0, isIDR: true)
  private let record = RepackStream.avcC([RepackStream.sps()], pps: [RepackStream.pps()])
  private var sets: [[UInt8]] { [Stream.sps(), Stream.pps()] }

  @Test func impossibleCapsAreRefusedWithAReason() throws {
    let cases = [
      (Stream.caps("byte-stream", codecData: record), "excludes codec_data"),
      (Stream.caps("mp4"), "is unsupported"), (Stream.caps("byte-stream", "frame"), "is unsupported"),
    ]
    for (caps, reason) in cases {
      let harness = try Harness.repack(to: "byte-stream")
      harness.collectMessages()
      harness.setInputCaps(caps)
      #expect(harness.push(Stream.annexB([idr])) == FlowError.notNegotiated.rawValue)
      #expect(harness.takeMessages().contains { $0.hasPrefix("error") && $0.contains(reason) }, "\(reason)")
    }
  }

  @Test func aDownstreamThatTakesNothingIsNamed() throws {
    let harness = try Harness.repack(to: "avc")
    harness.setOutputCaps("video/x-h264, stream-format=avc, alignment=au, width=64")
    harness.collectMessages()
    harness.setInputCaps(Stream.caps("avc", codecData: record, more: ", width=32"))
    #expect(harness.push(Stream.lengthPrefixed([idr])) == FlowError.notNegotiated.rawValue)
    #expect(harness.takeMessages().contains { $0.contains("Downstream accepts no packaging") })
  }

  @Test func capsWithoutPackagingAreGuessed() throws {
    let avc = try Harness.repack(to: "byte-stream")
    avc.setInputCaps("video/x-h264, codec_data=(buffer)\(Stream.hexadecimal(record))")
    #expect(avc.push(Stream.lengthPrefixed([idr])) == 0)
    #expect(try avc.pullBytes() == Stream.annexB(sets + [idr]))
    let raw = try Harness.repack(to: "avc")
    raw.setInputCaps("video/x-h264")
    #expect(raw.push(Stream.annexB(sets + [idr])) == 0)
    raw.endOfStream()
    #expect(try raw.pullBytes() == Stream.lengthPrefixed([idr]))
  }

  @Test func otherCapsFieldsPassBothWays() throws {
    let harness = try Harness.repack(to: "avc")
    harness.setOutputCaps("video/x-h264, stream-format=avc, alignment=au, width=32, profile={high, main}")
    let caps = harness.querySinkCaps(filter: nil)
    // Downstream's packaging comes first, then the other ones, with all other fields kept.
    #expect(caps.first.strings("stream-format") == ["avc"])
    var formats: Set<String> = []
    for index in 0..<caps.count {
      #expect(caps[index].int("width") == 32 && caps[index].strings("profile") == ["high", "main"])
      formats.formUnion(caps[index].strings("stream-format"))
    }
    #expect(formats == ["avc", "avc3", "byte-stream"])
    let filter: Caps? = Caps(parsing: "video/x-h264, stream-format=byte-stream, alignment=nal, framerate=25/1")
    let filtered = harness.querySinkCaps(filter: filter)
    #expect(filtered.count == 1 && filtered.first.fraction("framerate") == Fraction(25, 1))
    #expect(filtered.first.int("width") == 32)
  }

  @Test func keepsTheInputPackagingIfAllowed() throws {
    for (input, codecData) in [("avc", record), ("avc3", record), ("byte-stream", nil)] {
      let harness = try Harness.repack(to: input)
      harness.setOutputCaps(
        "video/x-h264, stream-format={avc, avc3, byte-stream}, alignment=au; video/x-h264, alignment=nal")
      harness.setInputCaps(Stream.caps(input, codecData: codecData))
      let bytes = input == "byte-stream" ? Stream.annexB(sets + [idr]) : Stream.lengthPrefixed([idr])
      #expect(harness.push(bytes) == 0)
      #expect(try harness.pullBytes() == bytes)
      let caps = try harness.outputCaps()
      #expect(caps.first.string("stream-format") == input)
    }
  }

  @Test func latencyIsOneAccessUnitIfTheNextMustBeSeen() throws {
    let frame = ClockTime(nanoseconds: 40_000_000)
    let harness = try Harness.repack(to: "avc")
    harness.setInputCaps(Stream.caps("byte-stream", "nal", more: ", framerate=25/1"))
    for unit in sets + [idr, Stream.slice(1)] { #expect(harness.push(Stream.annexB([unit])) == 0) }
    #expect(harness.received == 1 && harness.queryLatency() == frame)
    // Markers make the wait unnecessary.
    var marked = try Stream.buffer(Stream.annexB([Stream.slice(2)]))
    marked.flags.insert(.marker)
    #expect(harness.push(marked) == 0)
    #expect(harness.received == 3 && harness.queryLatency() == .zero)

    let aligned = try Harness.repack(to: "avc")
    aligned.setInputCaps(Stream.caps("byte-stream", more: ", framerate=25/1"))
    #expect(aligned.push(Stream.annexB(sets + [idr])) == 0)
    #expect(aligned.received == 1 && aligned.queryLatency() == .zero)
  }

  @Test func splitsBuffersOfSeveralAccessUnits() throws {
    let harness = try Harness.repack(to: "avc")
    harness.setInputCaps(Stream.caps("byte-stream", "nal"))
    #expect(harness.push(Stream.annexB(sets + [idr, Stream.slice(1), Stream.slice(2)])) == 0)
    #expect(harness.push(Stream.annexB([Stream.slice(2, firstMacroblock: 2), Stream.sei, Stream.slice(3)])) == 0)
    harness.endOfStream()
    for expected in [
      [idr], [Stream.slice(1)], [Stream.slice(2), Stream.slice(2, firstMacroblock: 2)], [Stream.sei, Stream.slice(3)],
    ] { #expect(try harness.pullBytes() == Stream.lengthPrefixed(expected)) }
    #expect(harness.waiting == 0)
  }

  @Test func keepsPrefixNALUnitsWithTheirSlice() throws {
    let prefix: [UInt8] = [0x6E, 0x40, 0x80, 0x07, 0x80]
    let harness = try Harness.repack(to: "byte-stream")
    harness.setInputCaps(Stream.caps("avc3", "nal", codecData: record))
    for unit in sets + [prefix, idr, prefix, Stream.slice(1)] {
      #expect(harness.push(Stream.lengthPrefixed([unit])) == 0)
    }
    #expect(harness.push(Stream.lengthPrefixed([prefix, Stream.slice(2), prefix, Stream.slice(3)])) == 0)
    harness.endOfStream()
    #expect(try harness.pullBytes() == Stream.annexB(sets + [prefix, idr]))
    for frame: UInt32 in 1...3 { #expect(try harness.pullBytes() == Stream.annexB([prefix, Stream.slice(frame)])) }
  }

  @Test func aFlushDropsCollectedBytes() throws {
    let harness = try Harness.repack(to: "avc")
    harness.setInputCaps(Stream.caps("byte-stream", "nal"))
    for unit in sets + [idr, Stream.slice(1)] { #expect(harness.push(Stream.annexB([unit])) == 0) }
    harness.flush()
    #expect(harness.push(Stream.annexB([idr])) == 0)
    harness.endOfStream()
    #expect(try harness.pullBytes() == Stream.lengthPrefixed([idr]))
    #expect(try harness.pullBytes() == Stream.lengthPrefixed([idr]))
    #expect(harness.waiting == 0)
  }

  @Test func copiesOnlyIfItHasTo() throws {
    let harness = try Harness.repack(to: "avc")
    harness.setInputCaps(Stream.caps("byte-stream"))
    #expect(harness.push(Stream.annexB(sets + [idr])) == 0)
    #expect(harness.statistic("copied") == 1)
    // Start codes and length prefixes of four bytes, in memory of one owner.
    #expect(harness.push(Stream.annexB([Stream.slice(1), Stream.slice(1, firstMacroblock: 2)])) == 0)
    #expect(harness.statistic("in-place") == 1)
    // The same with another owner of the buffer, which must not change.
    let bytes = Stream.annexB([Stream.slice(2)])
    let buffer = try Stream.buffer(bytes)
    #expect(harness.push(buffer.share()) == 0)
    #expect(try buffer.copiedBytes() == bytes)
    // Three bytes have to be moved.
    #expect(harness.push(Stream.annexB([Stream.slice(3)], startCode: 3)) == 0)
    #expect(harness.statistic("copied") == 3)
    _ = try harness.pullBytes()
    #expect(
      try harness.pullBytes() == Stream.lengthPrefixed([Stream.slice(1), Stream.slice(1, firstMacroblock: 2)]))
    for frame: UInt32 in 2...3 { #expect(try harness.pullBytes() == Stream.lengthPrefixed([Stream.slice(frame)])) }
  }

  @Test func keepsMetas() throws {
    for alignment in ["au", "nal"] {
      let harness = try Harness.repack(to: "avc")
      harness.setInputCaps(Stream.caps("byte-stream", alignment))
      var buffer = try Stream.buffer(Stream.annexB(sets + [idr], startCode: 3))
      buffer.addTimeCode(
        Buffer.TimeCode(
          hours: 1, minutes: 2, seconds: 3, frames: 4, frameRate: Fraction(25, 1), dropsFrames: false,
          isInterlaced: false, fieldCount: 0))
      #expect(harness.push(buffer) == 0)
      harness.endOfStream()
      let result = try harness.pull()
      let codes = result.timeCodes
      #expect(codes.map(\.seconds) == [3])
    }
  }

  /// Buffers begin to bypass the element in the middle of an access unit. Its front, which was collected, precedes
  /// them.
  @Test func bypassingBuffersDoNotOvertakeCollectedOnes() throws {
    let harness = try Harness.repack("drop=aud", to: "byte-stream", "nal")
    harness.setInputCaps(Stream.caps("byte-stream", "nal"))
    let nalUnits =
      [Stream.delimiter] + sets
      + (0..<4).map { Stream.slice(0, isIDR: true, firstMacroblock: UInt32($0)) }
      + [Stream.delimiter, Stream.slice(1), Stream.slice(1, firstMacroblock: 1)]
    for (index, nalUnit) in nalUnits.enumerated() {
      if index == 5 { harness.set("drop", "0") }
      #expect(harness.push(Stream.annexB([nalUnit]), pts: .seconds(UInt64(index / 7))) == 0)
    }
    harness.endOfStream()
    for (index, nalUnit) in nalUnits.enumerated() {
      let buffer = try harness.pull()
      #expect(try buffer.copiedBytes() == Stream.annexB([nalUnit]))
      #expect(buffer.pts == .seconds(UInt64(index / 7)) && !buffer.flags.contains(.marker))
    }
    #expect(harness.waiting == 0)
  }

  /// The end of a segment that a segment seek asked for comes behind all of its pictures.
  @Test func segmentDoneComesAfterAllPictures() throws {
    let harness = try Harness.repack(to: "byte-stream")
    harness.setInputCaps(Stream.caps("byte-stream", "nal"))
    for nalUnit in sets + [idr, Stream.slice(1), Stream.slice(2)] {
      #expect(harness.push(Stream.annexB([nalUnit])) == 0)
    }
    #expect(harness.received == 2)
    #expect(harness.push(unsafe Event(owning: gst_event_new_segment_done(GST_FORMAT_TIME, 0))))
    #expect(harness.received == 3)
  }
}
