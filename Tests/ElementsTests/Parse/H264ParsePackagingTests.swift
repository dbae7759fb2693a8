// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

/// Packagings that stock's tests do not cover.
@Suite(.serialized) struct H264ParsePackagingTests {
  typealias Stream = ParseStream

  @Test func downstreamMayRequestAnotherPackaging() throws {
    let harness = try Harness.parse(
      from: "video/x-h264, stream-format=byte-stream, alignment=au", to: "stream-format=byte-stream, alignment=au")
    let unit = Stream.byteStream(Stream.sps, Stream.pps, Stream.idr)
    #expect(harness.push(unit) == 0)
    harness.setOutputCaps("video/x-h264, parsed=true, stream-format=avc, alignment=au")
    #expect(harness.push(unit) == 0)
    harness.setOutputCaps("video/x-h264, parsed=true, stream-format=byte-stream, alignment=au")
    #expect(harness.push(Stream.byteStream(Stream.idr)) == 0)
    let bytes = Stream.byteStream(Stream.delimiter) + unit
    #expect(try harness.pullBytes() == bytes)
    #expect(try harness.pullBytes() == Stream.packet(Stream.sps, Stream.pps, Stream.idr))
    #expect(try harness.pullBytes() == bytes)
  }

  @Test(arguments: [1, 2, 4]) func keepsEveryLengthSize(_ size: Int) throws {
    var record = Stream.codecData
    record[4] = 0xFC | UInt8(size - 1)
    for (format, expected) in [
      ("avc", Stream.packet(Stream.idr, lengthSize: size)),
      ("avc3", Stream.packet(Stream.sps, Stream.pps, Stream.idr, lengthSize: size)),
      ("byte-stream", Stream.byteStream(Stream.delimiter, Stream.sps, Stream.pps, Stream.idr)),
    ] {
      let harness = try Harness.parse(from: Stream.avcCaps(record), to: "stream-format=\(format), alignment=au")
      #expect(harness.push(Stream.packet(Stream.idr, lengthSize: size)) == 0)
      #expect(try harness.pullBytes() == expected)
    }
  }

  @Test(arguments: [
    "video/x-h264, stream-format=avc, alignment=nal, codec_data=(buffer)01",
    "video/x-h264, stream-format=byte-stream, codec_data=(buffer)01",
    ParseStream.avcCaps([1, 0x4D, 0x40, 0x15, 0xFE, 0xE0, 0]),
  ]) func unusableCapsAreRefused(_ caps: String) throws {
    let harness = try Harness.parse(from: caps)
    #expect(harness.push(Stream.packet(Stream.idr)) == FlowError.notNegotiated.rawValue)
  }

  @Test func repairsStartCodesInsidePackets() throws {
    let harness = try Harness.parse(from: Stream.avcCaps(), to: "stream-format=avc, alignment=au")
    harness.collectMessages()
    let glued = Stream.sps + Stream.byteStream(Stream.pps) + [0, 0, 1] + Stream.idr
    #expect(harness.push(Stream.packet(glued)) == 0)
    #expect(harness.push(Stream.packet(glued)) == 0)
    let repaired = Stream.packet(Stream.sps, Stream.pps, Stream.idr)
    let units = try harness.pullAll()
    #expect(units.last == repaired)
    #expect(harness.takeMessages().count == 1)
  }

  /// rtph264pay crashes on a buffer without memory.
  @Test func emptyNALUnitsMakeNoBuffers() throws {
    for output in ["stream-format=avc, alignment=au", "stream-format=byte-stream, alignment=au"] {
      let harness = try Harness.parse(from: Stream.avcCaps(), to: output)
      #expect(harness.push(Stream.packet(Stream.sps, Stream.pps, Stream.idr)) == 0)
      #expect(harness.push(Stream.packet([0, 0, 1, 0])) == 0)
      #expect(harness.push(Stream.packet(Stream.sps, Stream.pps, Stream.idr)) == 0)
      harness.endOfStream()
      let units = try harness.pullAll()
      #expect(units.count == 2 && units.first == units.last)
    }
  }
}
