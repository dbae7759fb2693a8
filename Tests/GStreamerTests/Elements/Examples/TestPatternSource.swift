// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

// A source of a user's own, whole: grey pictures, each a shade lighter than the one before.

private final class TestPattern: PushSource {
  struct Settings: Sendable { var pictures: Int64 = 10 }
  let settings = Locked(Settings())
  private var count: UInt64 = 0

  override class var padTemplates: [PadTemplate] {
    [.source("video/x-raw, format=GRAY8, width=16, height=8, framerate=25/1")]
  }
  override class var properties: [Property] {
    Property.settings(
      { (element: TestPattern) in element.settings }, defaults: Settings(),
      [.int64("pictures", \.pictures, in: 0...Int64.max, "Pictures before the stream ends")])
  }

  override func prepareToStream() {
    count = 0
    setTimeFormat()
  }

  override func nextBuffer() throws(FlowError) -> Buffer {
    guard count < UInt64(clamping: settings.snapshot.pictures) else { throw .endOfStream }
    let shades = [UInt8](repeating: UInt8(truncatingIfNeeded: count), count: 16 * 8)
    guard var picture = Buffer(copying: shades.span) else { throw .error }
    picture.pts = .seconds(count, times: 1, over: 25)
    picture.duration = .seconds(1, times: 1, over: 25)
    count += 1
    return picture
  }
}

@Suite struct TestPatternSourceTests {
  @Test func itsPicturesComeOut() async throws {
    TestPattern.register(as: "testpattern", typeName: "GstTestPattern")
    let pictures = try await samples(of: "testpattern pictures=3")
    #expect(pictures.map(\.pts) == [.zero, .seconds(1, times: 1, over: 25), .seconds(2, times: 1, over: 25)])
    for (shade, picture) in pictures.enumerated() {
      #expect(try picture.buffer.copiedBytes() == [UInt8](repeating: UInt8(shade), count: 128))
    }
  }
}
