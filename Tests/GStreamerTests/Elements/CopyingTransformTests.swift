// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

/// Outputs every byte twice; drops buffers that begin with 0.
private final class Doubler: BaseTransform {
  override class var padTemplates: [PadTemplate] { [.sink("application/x-once"), .source("application/x-twice")] }
  override class var mode: Mode { .copying }

  override func transformCaps(_ caps: borrowing Caps, on side: Pad.Direction, filter: borrowing Caps?) -> Caps {
    Caps(mediaType: side == .sink ? "application/x-twice" : "application/x-once")
  }

  override func outputSize(forInput size: Int, input: borrowing Caps, output: borrowing Caps) -> Int? {
    input.mediaType == "application/x-once" && output.mediaType == "application/x-twice" ? 2 * size : nil
  }

  override func transform(_ input: borrowing Buffer, into output: inout Buffer) throws(FlowError) {
    let source = try input.map()
    guard source.bytes[0] != 0 else { throw .dropped }
    var target = try output.mapForWriting()
    var bytes = target.bytes
    for index in bytes.indices { bytes[index] = source.bytes[index / 2] }
  }
}

/// Copies its input.
private final class Copy: BaseTransform {
  override class var padTemplates: [PadTemplate] { [.sink("ANY"), .source("ANY")] }
  override class var mode: Mode { .copying }
  override func start() throws(ElementError) { setPassthrough(false) }

  override func transform(_ input: borrowing Buffer, into output: inout Buffer) throws(FlowError) {
    let source = try input.map()
    var target = try output.mapForWriting()
    var bytes = target.bytes
    for index in bytes.indices { bytes[index] = source.bytes[index] }
  }
}

@Suite(.serialized) struct CopyingTransformTests {
  init() throws {
    Harness.initialise()
    try Doubler.register(as: "testdoubler", typeName: "GstTestDoubler")
    try Copy.register(as: "testcopy", typeName: "GstTestCopy")
  }

  @Test func outputHasTheTransformedSize() throws {
    let harness = try Harness("testdoubler")
    harness.setInputCaps("application/x-once")
    #expect(harness.push([1, 2, 3], pts: .second) == 0)
    #expect(harness.push([0, 9]) == 0)
    #expect(harness.push([4]) == 0)
    let first = try harness.pull()
    #expect(first.pts == .second)
    #expect(try first.copiedBytes() == [1, 1, 2, 2, 3, 3])
    #expect(try harness.pullBytes() == [4, 4])
    #expect(harness.waiting == 0)
  }

  @Test func outputHasTheSizeOfTheInputByDefault() throws {
    let harness = try Harness("testcopy")
    harness.setInputCaps("application/x-test")
    #expect(harness.push([1, 2, 3]) == 0)
    #expect(try harness.pullBytes() == [1, 2, 3])
  }
}
