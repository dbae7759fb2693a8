// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

// A source of a user's own, whole.

/// Grey pictures, each a shade lighter than the one before.
final class TestPattern: PushSource {
  struct Settings: Sendable {
    var pictures: Int64 = 10
    var step = 1.0
    var title = ""
  }
  let settings = Locked(Settings())
  private var count: UInt64 = 0

  override class var padTemplates: [PadTemplate] {
    [.source("video/x-raw, format=GRAY8, width=16, height=8, framerate=25/1")]
  }
  override class var signals: [Signal] { [Signal("picture-made", .string, .uint64)] }
  override class var properties: [Property] {
    Property.settings(
      { (element: TestPattern) in element.settings }, defaults: Settings(),
      [
        .int64("pictures", \.pictures, in: 0...Int64.max, "Pictures before the stream ends"),
        .double("step", \.step, in: 0...255, "Shades from one picture to the next"),
        .string("title", \.title, "What picture-made calls the stream"),
      ])
  }

  override func prepareToStream() {
    count = 0
    setTimeFormat()
  }

  override func nextBuffer() throws(FlowError) -> Buffer {
    let settings = settings.snapshot
    guard count < UInt64(clamping: settings.pictures) else { throw .endOfStream }
    let shade = UInt8((Double(count) * settings.step).truncatingRemainder(dividingBy: 256))
    guard var picture = Buffer(copying: [UInt8](repeating: shade, count: 16 * 8).span) else { throw .error }
    picture.pts = .seconds(count, times: 1, over: 25)
    picture.duration = .seconds(1, times: 1, over: 25)
    emit("picture-made", .string(settings.title), .uint64(count))
    count += 1
    return picture
  }
}

@Suite struct TestPatternSourceTests {
  @Test func makesAPicture() throws {
    Harness.initialise()
    try TestPattern.register(as: "testpattern", typeName: "GstTestPattern")
    let harness = try Harness("testpattern pictures=1 step=100.5")
    harness.play()
    let picture = try harness.pull()
    #expect(picture.pts == .zero && picture.size == 16 * 8)
    #expect(try picture.copiedBytes() == [UInt8](repeating: 0, count: 128))
  }

  @Test func picturesReachTheSink() async throws {
    try TestPattern.register(as: "testpattern", typeName: "GstTestPattern")
    let pictures = try await samples(of: "testpattern pictures=3 step=100.5")
    #expect(pictures.map(\.pts) == [.zero, .seconds(1, times: 1, over: 25), .seconds(2, times: 1, over: 25)])
    for (shade, picture) in zip([0, 100, 201] as [UInt8], pictures) {
      #expect(try picture.copiedBytes() == [UInt8](repeating: shade, count: 128))
    }
  }

  @Test func reportsEachPicture() async throws {
    try TestPattern.register(as: "testpattern", typeName: "GstTestPattern")
    let received = Locked<[FieldValue?]>([])
    let pipeline = try Pipeline(
      "testpattern name=source ! fakesink", ["source": ["pictures": 2, "title": "grey ones"]])
    try pipeline.element("source").connect("picture-made") { arguments in
      let values = [arguments[0], arguments[1]]
      received.withLock { $0 += values }
      return nil
    }
    try await pipeline.run()
    #expect(received.snapshot == ["grey ones", .uint64(0), "grey ones", .uint64(1)] as [FieldValue?])
  }
}
