// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import HarnessSupport
import Testing

/// Outputs a buffer for each byte; drops buffers that begin with 0.
private final class Splitter: BaseTransform {
  private var waiting: [UInt8] = []

  override class var padTemplates: [PadTemplate] { [.sink("ANY"), .source("ANY")] }
  override class var mode: Mode { .generating }
  override func start() throws(ElementError) { setPassthrough(false) }

  override func submitInput(_ input: consuming Buffer, isDiscontinuous: Bool) throws(FlowError) {
    let isWanted = try begins(input) != 0
    guard isWanted else { throw .dropped }
    try super.submitInput(input, isDiscontinuous: isDiscontinuous)
  }

  private func begins(_ buffer: borrowing Buffer) throws(FlowError) -> UInt8 {
    let map = try buffer.map()
    return map.bytes[0]
  }

  override func generateOutput(_ input: consuming Buffer) throws(FlowError) -> Buffer? {
    let map = try input.map()
    for index in map.bytes.indices { waiting.append(map.bytes[index]) }
    return try nextOutput()
  }

  override func nextOutput() throws(FlowError) -> Buffer? {
    guard !waiting.isEmpty else { return nil }
    return Buffer(copying: [waiting.removeFirst()].span)
  }
}

@Suite(.serialized) struct GeneratingTransformTests {
  init() throws {
    Harness.initialise()
    try Splitter.register(as: "testsplitter", typeName: "GstTestSplitter")
  }

  @Test func outputsSeveralBuffersForOne() throws {
    let harness = try Harness("testsplitter")
    harness.setInputCaps("application/x-test")
    #expect(harness.push([1, 2, 3]) == 0)
    #expect(harness.push([0, 9]) == 0)
    #expect(harness.push([4]) == 0)
    for expected: UInt8 in 1...4 {
      let buffer = try harness.pull()
      #expect(try buffer.copiedBytes() == [expected])
      // A buffer was dropped before the last one.
      #expect(buffer.flags.contains(.discontinuity) == (expected == 4))
    }
    #expect(harness.waiting == 0)
  }

  @Test func memoryIsWritableUntilItIsShared() throws {
    let buffer = try testBuffer()
    #expect(buffer.isWritable && buffer.isMemoryWritable)
    let owner = buffer.share()
    #expect(!buffer.isWritable && !buffer.isMemoryWritable && owner.size == 4)

    let whole = try testBuffer()
    let part = whole.region(0..<2)
    #expect(whole.isWritable && !whole.isMemoryWritable && part != nil)
  }

  private func testBuffer() throws -> Buffer {
    guard let buffer = Buffer(copying: [1, 2, 3, 4].span) else { throw Harness.Failure.noBuffer }
    return buffer
  }
}
