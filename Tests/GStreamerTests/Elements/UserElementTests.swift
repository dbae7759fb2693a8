// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import HarnessSupport
import Testing

// An element of a user's own, whole: under 40 lines.

/// Lets a limited number of buffers through, inverting every byte.
private final class Invert: BaseTransform {
  struct Settings: Sendable { var limit: Int32 = 10 }
  let settings = Locked(Settings())
  private var seen: Int32 = 0

  override class var metadata: ElementMetadata {
    ElementMetadata(
      name: "Invert", classification: "Filter/Effect", description: "Inverts every byte", author: "A. User")
  }
  override class var padTemplates: [PadTemplate] { [.sink("ANY"), .source("ANY")] }
  override class var properties: [Property] {
    Property.settings(
      { (element: Invert) in element.settings }, defaults: Settings(),
      [.int("limit", \.limit, in: 0...100, "Buffers to let through before the stream ends")])
  }

  override func start() { seen = 0 }

  override func transformInPlace(_ buffer: inout Buffer) throws(FlowError) {
    guard seen < settings.snapshot.limit else { throw .endOfStream }
    seen += 1
    var map = try buffer.mapForWriting()
    var bytes = map.bytes
    for index in bytes.indices { bytes[index] = ~bytes[index] }
  }

  nonisolated(unsafe) static var alive = 0
  required init(raw: UnsafeMutableRawPointer) {
    unsafe super.init(raw: raw)
    unsafe Self.alive += 1
  }
  deinit { unsafe Self.alive -= 1 }
}

@Suite(.serialized) struct UserElementTests {
  init() throws {
    Harness.initialise()
    try Invert.register(as: "testinvert", typeName: "GstTestInvert")
  }

  @Test func transformsInPlaceUntilTheLimit() throws {
    let harness = try Harness("testinvert limit=2")
    harness.setInputCaps("application/x-test")
    #expect(harness.push([0x00, 0x0f, 0xff]) == 0)
    #expect(harness.push([0x01]) == 0)
    #expect(harness.push([0x02]) == FlowError.endOfStream.rawValue)
    #expect(try harness.pullBytes() == [0xff, 0xf0, 0x00])
    #expect(try harness.pullBytes() == [0xfe])
    #expect(harness.waiting == 0)
  }

  @Test func everyElementCreatedIsDeinitialised() throws {
    let before = unsafe Invert.alive
    for _ in 0..<20 {
      let element = try unsafe #require(gst_element_factory_make("testinvert", nil))
      for state in [GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_PLAYING, GST_STATE_NULL] {
        unsafe gst_element_set_state(element, state)
      }
      unsafe gst_object_unref(element)
    }
    #expect(unsafe Invert.alive == before)
  }

  @Test func refusesToRegisterANameTwice() throws {
    #expect(try !Invert.register(as: "testinvert", typeName: "GstTestInvert"))
  }
}
