// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import HarnessSupport
import Testing

@Suite struct SignalTests {
  init() { Harness.initialise() }

  /// An action signal, and its return value.
  @Test func emitsAnActionAndReturnsItsValue() async throws {
    let pipeline = try Pipeline("appsrc name=in ! fakesink")
    let source = try pipeline.element("in")
    try await pipeline.play()
    #expect(try source.emit("end-of-stream") == "ok")
    for try await _ in pipeline.messages {}
    await pipeline.stop()
    #expect(throws: PipelineError.self) { try source.emit("no-such-signal") }
    #expect(throws: PipelineError.self) { try source.emit("end-of-stream", 1) }
  }

  /// Another library in the process that is built from the same sources stores its handlers at the same object, perhaps
  /// in another layout.
  @Test func leavesHandlersOfAnotherLibraryAlone() throws {
    let element = try PipelineElement("identity")
    let object = unsafe UnsafeMutableRawPointer(element.raw).assumingMemoryBound(to: GObject.self)
    // The two libraries share only the name; this address is invalid.
    let quark = unsafe g_quark_from_static_string("gst-swift-connections")
    unsafe g_object_set_qdata(object, quark, UnsafeMutableRawPointer(bitPattern: 8))
    let received = Locked(0)
    let connection = try element.connect("notify::silent") { _ in
      received.withLock { $0 += 1 }
      return nil
    }
    try element.set("silent", false)
    connection.disconnect()
    try element.set("silent", true)
    #expect(received.snapshot == 1)
    #expect(unsafe g_object_get_qdata(object, quark) == UnsafeMutableRawPointer(bitPattern: 8))
    unsafe g_object_set_qdata(object, quark, nil)
  }
}
