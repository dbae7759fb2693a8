// SPDX-License-Identifier: MPL-2.0
import GStreamer
import Testing

// A sink of a user's own, whole: emits the sum of each buffer's bytes by a signal.

private final class ChecksumSink: BaseSink {
  struct Settings: Sendable {
    var start: Double = 0
    var label = "sum"
  }
  let settings = Locked(Settings())

  override class var padTemplates: [PadTemplate] { [.sink("ANY")] }
  override class var signals: [Signal] { [Signal("checksum", .string, .double)] }
  override class var properties: [Property] {
    Property.settings(
      { (element: ChecksumSink) in element.settings }, defaults: Settings(),
      [
        .double("start", \.start, in: 0...1e9, "What to begin with"),
        .string("label", \.label, "What the sums are called"),
      ])
  }

  override func render(_ buffer: borrowing Buffer) throws(FlowError) {
    let map = try buffer.map()
    let settings = settings.snapshot
    var sum = settings.start
    for index in map.bytes.indices { sum += Double(map.bytes[index]) }
    emit("checksum", .string(settings.label), .double(sum))
  }
}

@Suite struct ChecksumSinkTests {
  @Test func reportsEachChecksum() async throws {
    try ChecksumSink.register(as: "testchecksum", typeName: "GstTestChecksum")
    let white = "videotestsrc num-buffers=2 pattern=white ! video/x-raw,format=GRAY8,width=8,height=2"
    let pipeline = try Pipeline("\(white) ! testchecksum name=sink", ["sink": ["start": 0.5, "label": "white"]])
    let received = Locked<[FieldValue?]>([])
    try pipeline.element("sink").connect("checksum") { arguments in
      let values = [arguments[0], arguments[1]]
      received.withLock { $0 += values }
      return nil
    }
    try await pipeline.run()
    #expect(received.snapshot == ["white", .double(3760.5), "white", .double(3760.5)] as [FieldValue?])
  }
}
