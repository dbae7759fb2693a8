// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

/// Counts the bytes that pass, and changes none.
private final class Meter: BaseTransform {
  static let bytes = Locked(0)
  override class var padTemplates: [PadTemplate] { [.sink("ANY"), .source("ANY")] }
  override class var transformsInPassthrough: Bool { true }
  override func start() throws(ElementError) { setPassthrough(true) }
  override func transformInPlace(_ buffer: inout Buffer) throws(FlowError) {
    let size = buffer.size
    Self.bytes.withLock { $0 += size }
  }
}

/// Sets every byte to 0, unless all is to pass.
private final class Eraser: BaseTransform {
  static let passes = Locked(false)
  override class var padTemplates: [PadTemplate] { [.sink("ANY"), .source("ANY")] }
  override func start() throws(ElementError) { setPassthrough(Self.passes.snapshot) }
  override func transformInPlace(_ buffer: inout Buffer) throws(FlowError) {
    var map = try buffer.mapForWriting()
    var bytes = map.bytes
    for index in bytes.indices { bytes[index] = 0 }
  }
}

@Suite(.serialized) struct PassthroughTests {
  init() throws {
    Harness.initialise()
    try Meter.register(as: "testmeter", typeName: "GstTestMeter")
    try Eraser.register(as: "testeraser", typeName: "GstTestEraser")
  }

  /// Buffers that others have too are not copied for it.
  @Test func seesPassingBuffersWithoutCopyingThem() throws {
    Meter.bytes.withLock { $0 = 0 }
    let harness = try Harness("testmeter")
    harness.setInputCaps("application/x-test")
    guard let buffer = Buffer(copying: [1, 2, 3].span) else { throw FlowError.error }
    #expect(harness.push(buffer.share()) == 0)
    #expect(harness.push([4]) == 0)
    let passed = try harness.pull()
    let isSame = unsafe passed.raw == buffer.raw
    #expect(isSame)
    #expect(try harness.pullBytes() == [4])
    #expect(Meter.bytes.snapshot == 4)
  }

  @Test(arguments: [true, false]) func isNotCalledInPassthroughUnlessItWantsTo(passes: Bool) throws {
    Eraser.passes.withLock { $0 = passes }
    let harness = try Harness("testeraser")
    harness.setInputCaps("application/x-test")
    #expect(harness.push([1, 2, 3]) == 0)
    #expect(try harness.pullBytes() == (passes ? [1, 2, 3] : [0, 0, 0]))
  }
}
