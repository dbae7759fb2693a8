// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import Foundation
import GStreamer
import HarnessSupport
import Testing

/// Streams without data, or without a picture: one message, or none.
@Suite(.serialized) struct ParserEndTests {
  typealias Stream = ParseStream

  private static let raw = "video/x-h264"
  private static let toBytes = "stream-format=byte-stream, alignment=au"

  private func messages(_ prepare: (Harness) -> Void) throws -> [String] {
    let harness = try Harness.parse(from: Self.raw, to: Self.toBytes)
    harness.collectMessages()
    prepare(harness)
    harness.endOfStream()
    var isOver = false
    while let event = harness.tryPullEvent() { if event.kind == .endOfStream { isOver = true } }
    #expect(isOver)
    return harness.takeMessages()
  }

  @Test func anEndOfStreamWithoutBuffersIsNoError() throws {
    #expect(try messages { _ in }.isEmpty)
  }

  @Test func gapEventsAloneAreNoError() throws {
    let found = try messages { harness in
      harness.push(unsafe Event(owning: gst_event_new_gap(0, 40_000_000)))
      harness.push(unsafe Event(owning: gst_event_new_gap(40_000_000, 40_000_000)))
    }
    #expect(found.isEmpty)
  }

  /// Byte streams without a picture.
  enum Unusable: CaseIterable {
    case zeros, startCodes, ones, text, parameterSets

    var bytes: [UInt8] {
      switch self {
      case .zeros: [UInt8](repeating: 0, count: 5000)
      case .startCodes: [[UInt8]](repeating: [0, 0, 1], count: 2000).flatMap { $0 }
      case .ones: [UInt8](repeating: 0xFF, count: 5000)
      case .text: Array(repeatElement("This is not a video. ".utf8, count: 200).joined())
      case .parameterSets: ParseStream.byteStream(ParseStream.sps, ParseStream.pps)
      }
    }
  }

  @Test(arguments: Unusable.allCases) func oneFailureIsOneMessage(_ input: Unusable) throws {
    let bytes = input.bytes
    let pushed = try messages { #expect($0.push(bytes) == 0) }
    #expect(pushed.count == 1 && pushed.first?.contains("no picture found in \(bytes.count) bytes") == true)
    let chains = input == .parameterSets ? ["swifth264parse"] : Self.chains
    for elements in chains + chains.map({ "queue ! " + $0 }) {
      let read = try Self.errorsOfFile(bytes, elements)
      #expect(
        read.count == 1 && read.first?.contains("no picture found in \(bytes.count) bytes") == true,
        "\(elements): \(read)")
    }
  }

  private static let chains = [
    "swifth264parse", "swifth264parse ! swifth264dec", "swifth264parse ! video/x-h264,alignment=nal ! swifth264dec",
  ]

  /// A file can be known to be empty.
  @Test(arguments: chains) func anEmptyFileIsAnError(elements: String) throws {
    let errors = try Self.errorsOfFile([], elements)
    #expect(errors.count == 1 && errors.first?.contains("no picture found in 0 bytes") == true, "\(errors)")
  }

  /// Gaps alone, from a source that sends events for them.
  @Test func gapEventsAreForwardedUpToTheEnd() throws {
    let harness = try Harness.parse(from: Self.raw, to: Self.toBytes)
    harness.collectMessages()
    for index in GstClockTime(0)..<10 {
      harness.push(unsafe Event(owning: gst_event_new_gap(index * 40_000_000, 40_000_000)))
    }
    harness.endOfStream()
    var kinds: [Event.Kind] = []
    while let event = harness.tryPullEvent() { kinds.append(event.kind) }
    #expect(kinds.filter { $0 == .gap }.count == 10 && kinds.last == .endOfStream)
    #expect(harness.takeMessages().isEmpty)
  }

  /// A stream that begins with a gap has no caps yet: none of upstream's `codec_data` under another format.
  @Test(arguments: ["byte-stream", "avc", "avc3"], ["byte-stream", "avc", "avc3"])
  func aLeadingGapDoesNotForwardUpstreamCodecData(from input: String, to output: String) throws {
    let caps = input == "byte-stream" ? "video/x-h264, stream-format=byte-stream" : Stream.avcCaps(format: input)
    let harness = try Harness.parse(from: caps, to: "stream-format=\(output), alignment=au")
    harness.push(unsafe Event(owning: gst_event_new_gap(0, 1_000_000_000)))
    let units = [Stream.sps, Stream.pps, Stream.idr]
    let bytes =
      input == "byte-stream"
      ? units.flatMap { Stream.byteStream($0) } : units.flatMap { Stream.packet($0) }
    #expect(harness.push(bytes) == 0)
    harness.endOfStream()
    #expect(try !harness.pullBytes().isEmpty)
    var found: [String] = []
    while let event = harness.tryPullEvent() {
      if event.kind == .caps, let caps = event.caps { found.append(caps.description) }
    }
    #expect(!found.isEmpty)
    for caps in found {
      #expect(caps.contains("stream-format=(string)\(output),"))
      #expect(caps.contains("codec_data") == (output != "byte-stream"), "\(caps)")
    }
  }

  /// The error messages of a pipeline whose parser pulls a file.
  private static func errorsOfFile(_ bytes: [UInt8], _ elements: String) throws -> [String] {
    _ = try Harness.parse()
    let path = FileManager.default.temporaryDirectory.appending(path: "parser-end-\(UUID()).h264").path
    try Data(bytes).write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    let pipeline = try unsafe #require(gst_parse_launch("filesrc location=\(path) ! \(elements) ! fakesink", nil))
    let bus = try unsafe #require(gst_element_get_bus(pipeline))
    defer {
      unsafe gst_element_set_state(pipeline, GST_STATE_NULL)
      unsafe gst_object_unref(bus)
      unsafe gst_object_unref(pipeline)
    }
    unsafe gst_element_set_state(pipeline, GST_STATE_PLAYING)
    var errors: [String] = []
    // The end of the stream reaches the sink after the error; then all messages have been posted.
    var isOver = false
    while !isOver {
      let kinds = GstMessageType(rawValue: GST_MESSAGE_EOS.rawValue | GST_MESSAGE_ERROR.rawValue)
      // The sink posts its EOS message only in PLAYING, which an error may prevent.
      guard let message = unsafe gst_bus_timed_pop_filtered(bus, errors.isEmpty ? 30_000_000_000 : 500_000_000, kinds)
      else { break }
      defer { unsafe gst_message_unref(message) }
      isOver = unsafe message.pointee.type == GST_MESSAGE_EOS
      guard !isOver else { continue }
      var error: UnsafeMutablePointer<GError>?
      unsafe gst_message_parse_error(message, &error, nil)
      unsafe errors.append(error.map { unsafe String(cString: $0.pointee.message) } ?? "")
      unsafe g_clear_error(&error)
    }
    return errors
  }
}
