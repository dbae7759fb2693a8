// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import HarnessSupport
import Testing

/// Unreadable `codec_data` is passed through where the output has the same packaging.
@Suite(.serialized) struct ParserPassThroughTests {
  typealias Stream = ParseStream

  private static let broken: [UInt8] = [0x01, 0x4D, 0x40, 0x15, 0xFF, 0xE1, 0x00]

  @Test(arguments: ["avc", "avc3"]) func passesAStreamWithUnreadableCodecDataThrough(_ format: String) throws {
    let harness = try Harness.parse(
      from: Stream.avcCaps(Self.broken, format: format), to: "stream-format=\(format), alignment=au")
    harness.collectMessages()
    let packets = [[1, 2, 3, 4, 5], Stream.packet(Stream.sps, Stream.pps, Stream.idr), [0]]
    for (index, packet) in packets.enumerated() {
      #expect(harness.push(packet, pts: .seconds(UInt64(index)), duration: .second) == 0)
    }
    harness.endOfStream()
    for (index, packet) in packets.enumerated() {
      let buffer = try harness.pull()
      #expect(try buffer.copiedBytes() == packet)
      #expect(buffer.pts == .seconds(UInt64(index)) && buffer.duration == .second)
    }
    let caps = try harness.outputCapsText()
    #expect(caps.contains("codec_data=(buffer)\(Stream.hexadecimal(Self.broken)),"))
    for field in ["parsed=(boolean)true,", "stream-format=(string)\(format),", "alignment=(string)au,"] {
      #expect(caps.contains(field))
    }
  }

  /// A force-key-unit event goes its way between the packets.
  @Test func passesKeyUnitEventsThrough() throws {
    let harness = try Harness.parse(from: Stream.avcCaps(Self.broken), to: "stream-format=avc, alignment=au")
    #expect(harness.push([1, 2, 3]) == 0)
    let none = GstClockTime.max
    harness.push(
      unsafe Event(owning: gst_video_event_new_downstream_force_key_unit(none, none, none, 1, 7)))
    #expect(harness.push([4, 5, 6]) == 0)
    var count = 0
    while let event = harness.tryPullEvent() { if event.kind == .customDownstream { count += 1 } }
    #expect(count == 1)
  }

  /// An empty buffer is no access unit.
  @Test func dropsEmptyBuffers() throws {
    let harness = try Harness.parse(from: Stream.avcCaps(Self.broken), to: "stream-format=avc, alignment=au")
    for packet in [[1, 2, 3], [], [4]] as [[UInt8]] { #expect(harness.push(packet) == 0) }
    harness.endOfStream()
    #expect(try harness.pullAll() == [[1, 2, 3], [4]])
  }

  @Test func warnsAboutUnreadableCodecData() throws {
    let harness = try Harness.parse(to: "stream-format=avc, alignment=au")
    harness.collectMessages()
    harness.setInputCaps(Stream.avcCaps(Self.broken))
    #expect(harness.push([1, 2, 3]) == 0)
    harness.endOfStream()
    let messages = harness.takeMessages()
    #expect(messages.count == 1 && messages.first?.contains("warning: The stream's codec_data cannot be read") == true)
  }

  @Test(arguments: [
    ("avc", "stream-format=avc3, alignment=au"), ("avc", "stream-format=byte-stream, alignment=au"),
    ("avc3", "stream-format=byte-stream, alignment=nal"),
  ]) func refusesConversionsOfUnreadableCodecData(_ format: String, _ output: String) throws {
    let harness = try Harness.parse(from: Stream.avcCaps(Self.broken, format: format), to: output)
    #expect(harness.push(Stream.packet(Stream.idr)) == FlowError.notNegotiated.rawValue)
  }

  /// Readable caps end pass-through.
  @Test func readableCapsEndPassThrough() throws {
    let harness = try Harness.parse(
      from: Stream.avcCaps(Self.broken), to: "stream-format=avc, alignment=au")
    #expect(harness.push([1, 2, 3]) == 0)
    harness.setInputCaps(Stream.avcCaps())
    #expect(harness.push(Stream.packet(Stream.idr)) == 0)
    #expect(try harness.pullBytes() == [1, 2, 3])
    #expect(try harness.pullBytes() == Stream.packet(Stream.idr))
    #expect(try harness.outputCapsText().contains("width=(int)32,"))
    harness.setInputCaps(Stream.avcCaps(Self.broken))
    #expect(harness.push([4, 5]) == 0)
    #expect(try harness.pullBytes() == [4, 5])
  }
}
