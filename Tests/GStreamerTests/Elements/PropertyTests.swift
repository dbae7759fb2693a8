// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import HarnessSupport
import Testing

/// Has a property of every numeric type and a string, and notifies when it changes one by itself.
private final class Properties: BaseTransform {
  struct Settings: Sendable {
    var int: Int32 = -1
    var uint: UInt32 = 1
    var int64 = Int64.min
    var uint64 = UInt64.max
    var double = 0.5
    var string = "text"
  }
  let settings = Locked(Settings())
  struct Counts: Sendable { var buffers: UInt64 = 0 }
  let counts = Locked(Counts())

  override class var padTemplates: [PadTemplate] { [.sink("ANY"), .source("ANY")] }
  override class var properties: [Property] {
    Property.settings(
      { (element: Properties) in element.settings }, defaults: Settings(),
      [
        .int("int", \.int, in: Int32.min...Int32.max, "A whole number"),
        .uint("uint", \.uint, in: 0...UInt32.max, "A whole number from 0"),
        .int64("int64", \.int64, in: Int64.min...Int64.max, "A long number"),
        .uint64("uint64", \.uint64, in: 0...UInt64.max, "A long number from 0"),
        .double("double", \.double, in: -1e300...1e300, "A fraction"),
        .string("string", \.string, "A text"),
      ])
      + Property.readOnly(
        { (element: Properties) in element.counts }, defaults: Counts(),
        [.uint64("buffers", \.buffers, in: 0...UInt64.max, "Buffers that came through")])
  }

  override func transformInPlace(_ buffer: inout Buffer) throws(FlowError) {
    settings.withLock { $0.uint += 1 }
    counts.withLock { $0.buffers += 1 }
    var level = Structure("test-level")
    level.set("buffers", .uint64(counts.snapshot.buffers))
    postMessage(level)
    notify("uint")
  }
}

@Suite struct PropertyTests {
  init() throws {
    Harness.initialise()
    try Properties.register(as: "testproperties", typeName: "GstTestProperties")
  }

  @Test func defaultsAreThoseOfTheValue() throws {
    let element = try PipelineElement("testproperties")
    #expect(try element.get("int") == .int(-1) && element.get("uint") == .uint(1))
    #expect(try element.get("int64") == .int64(.min) && element.get("uint64") == .uint64(.max))
    #expect(try element.get("double") == .double(0.5) && element.get("string") == .string("text"))
  }

  @Test func convertsEveryTypeBothWays() throws {
    let element = try PipelineElement("testproperties")
    let values: [(String, FieldValue)] = [
      ("int", .int(.min)), ("int", .int(.max)), ("uint", .uint(.max)), ("int64", .int64(.max)), ("uint64", .uint64(0)),
      ("double", .double(-1e300)), ("string", .string("")), ("string", .string("größer \"als\"\n")),
    ]
    for (name, value) in values {
      try element.set(name, value)
      #expect(try element.get(name) == value)
    }
  }

  @Test func aNullStringIsEmpty() throws {
    let element = try PipelineElement("testproperties")
    let object = unsafe UnsafeMutableRawPointer(element.raw).assumingMemoryBound(to: GObject.self)
    var none = GValue()
    unsafe g_value_init(&none, g_type_from_name("gchararray"))
    unsafe g_object_set_property(object, "string", &none)
    unsafe g_value_unset(&none)
    #expect(try element.get("string") == .string(""))
  }

  /// By the application and by the element itself.
  @Test func notifiesOfChanges() async throws {
    let pipeline = try Pipeline("videotestsrc num-buffers=3 ! testproperties name=p ! fakesink")
    let element = try pipeline.element("p")
    let received = Locked(0)
    try element.connect("notify::uint") { _ in
      received.withLock { $0 += 1 }
      return nil
    }
    try element.set("uint", 7)
    #expect(received.snapshot == 1)
    try await pipeline.run()
    #expect(received.snapshot == 4)
    #expect(try element.get("uint") == .uint(10))
  }

  @Test func countersAreReadOnly() async throws {
    let pipeline = try Pipeline("videotestsrc num-buffers=3 ! testproperties name=p ! fakesink")
    let element = try pipeline.element("p")
    #expect(try element.get("buffers") == .uint64(0))
    try await pipeline.play()
    var received: [FieldValue?] = []
    for try await message in pipeline.messages {
      if case .element(let fields) = message.content, fields.name == "test-level" { received.append(fields["buffers"]) }
    }
    #expect(received == [.uint64(1), .uint64(2), .uint64(3)])
    #expect(try element.get("buffers") == .uint64(3))
    #expect(throws: PipelineError.self) { try element.set("buffers", 7) }
    await pipeline.stop()
  }
}
