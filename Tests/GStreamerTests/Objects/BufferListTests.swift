// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

/// Sends two lists of what comes: the bytes one by one, and those again.
private final class ByteSplitter: Element {
  override class var padTemplates: [PadTemplate] { [.sink("ANY"), .source("ANY")] }

  required init(raw: UnsafeMutableRawPointer) {
    unsafe super.init(raw: raw)
    addPad(template: "src") { $0.setProxiesCaps() }
    addPad(template: "sink") { pad in
      pad.setProxiesCaps()
      pad.onBuffer { [unowned self] (buffer) throws(FlowError) in
        guard let source = self.pad("src") else { throw .error }
        var list = BufferList()
        for index in 0..<buffer.size {
          if let byte = buffer.region(index..<index + 1) { list.append(byte) }
        }
        try source.push(list.share())
        try source.push(BufferList())
        try source.push(list)
      }
    }
  }
}

/// Counts lists and single buffers.
private final class ListCounter: Element {
  let sizes = Locked<[Int]>([])
  let singles = Locked(0)
  static let last = Locked<(sizes: [Int], singles: Int)>(([], 0))

  override class var padTemplates: [PadTemplate] { [.sink("ANY"), .source("ANY")] }

  required init(raw: UnsafeMutableRawPointer) {
    unsafe super.init(raw: raw)
    addPad(template: "src") { $0.setProxiesCaps() }
    addPad(template: "sink") { pad in
      pad.setProxiesCaps()
      pad.onBuffer { [unowned self] (buffer) throws(FlowError) in
        Self.last.withLock { $0.singles += 1 }
        try self.pad("src")?.push(buffer)
      }
      pad.onBufferList { [unowned self] (list) throws(FlowError) in
        let count = list.count
        Self.last.withLock { $0.sizes.append(count) }
        try self.pad("src")?.push(list)
      }
    }
  }
}

/// Makes lists of two bytes, and in the end an empty one where that is asked for.
private final class PairSource: PushSource {
  static let endsEmpty = Locked(false)
  private var number: UInt8 = 0

  override class var padTemplates: [PadTemplate] { [.source("application/x-test")] }
  override class var makesLists: Bool { true }
  override func prepareToStream() { number = 0 }
  override func nextList() throws(FlowError) -> BufferList {
    var list = BufferList()
    guard number < 6 else {
      if Self.endsEmpty.snapshot { return list }
      throw .endOfStream
    }
    for _ in 0..<2 {
      number += 1
      guard let buffer = Buffer(copying: [number].span) else { throw .error }
      list.append(buffer)
    }
    return list
  }
}

/// Renders buffers one by one.
private class SingleSink: BaseSink {
  static let record = Locked<[[UInt8]]>([])

  override class var padTemplates: [PadTemplate] { [.sink("application/x-test")] }
  override func render(_ buffer: borrowing Buffer) throws(FlowError) {
    let bytes = try buffer.copiedBytes()
    Self.record.withLock { $0.append(bytes) }
  }
}

/// Renders lists at once.
private final class ListSink: SingleSink {
  override class var rendersLists: Bool { true }
  override func render(_ list: borrowing BufferList) throws(FlowError) {
    var bytes: [UInt8] = []
    try list.forEachBuffer { (buffer) throws(FlowError) in bytes += try buffer.copiedBytes() }
    Self.record.withLock { $0.append(bytes) }
  }
}

@Suite(.serialized) struct BufferListTests {
  init() throws {
    Harness.initialise()
    try ByteSplitter.register(as: "testbytesplitter", typeName: "GstTestByteSplitter")
    try ListCounter.register(as: "testlistcounter", typeName: "GstTestListCounter")
    try PairSource.register(as: "testpairsrc", typeName: "GstTestPairSource")
    try SingleSink.register(as: "testsinglesink", typeName: "GstTestSingleSink")
    try ListSink.register(as: "testlistsink", typeName: "GstTestListSink")
  }

  private func list(_ bytes: [UInt8]) throws -> BufferList {
    var list = BufferList(capacity: 0)
    for byte in bytes { list.append(try buffer([byte])) }
    return list
  }

  private func buffer(_ bytes: [UInt8]) throws -> Buffer {
    guard let buffer = Buffer(copying: bytes.span) else { throw FlowError.error }
    return buffer
  }

  private func bytes(_ list: borrowing BufferList) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try list.forEachBuffer { (buffer) throws(FlowError) in bytes += try buffer.copiedBytes() }
    return bytes
  }

  @Test func buffersKeepTheirOrder() throws {
    var list = try list([1, 2, 3])
    list.append(try buffer([4, 5]))
    #expect(list.count == 4 && list.size == 5 && !list.isEmpty && list.indices == 0..<4)
    #expect(try bytes(list) == [1, 2, 3, 4, 5])
    #expect(try list.buffer(at: 3)?.copiedBytes() == [4, 5])
    #expect(list.buffer(at: 4) == nil && list.buffer(at: -1) == nil)
  }

  @Test func anOutOfRangeRemovalChangesNothing() throws {
    var list = try list([1, 2, 3, 4])
    list.remove(1..<3)
    #expect(try bytes(list) == [1, 4])
    for range in [0..<3, -1..<1, 2..<2, Int.max - 1..<Int.max] { list.remove(range) }
    #expect(try bytes(list) == [1, 4])
  }

  @Test func anUpdateReplacesAndLeavesOut() throws {
    var list = try list([1, 2, 3])
    let other = list.share()
    list.update { buffer in
      guard let byte = try? buffer.copiedBytes().first, byte != 2 else { return nil }
      var changed = buffer
      changed.append(Buffer(copying: [byte * 10].span) ?? Buffer())
      return changed
    }
    #expect(try bytes(list) == [1, 10, 3, 30])
    // Who has the list too keeps it as it was.
    #expect(try bytes(other) == [1, 2, 3])
  }

  @Test func passesListsToElementsThatTakeThem() throws {
    ListCounter.last.withLock { $0 = ([], 0) }
    let harness = try Harness("testbytesplitter ! testlistcounter")
    harness.setInputCaps("application/x-test")
    #expect(harness.push([1, 2, 3]) == 0)
    #expect(try (0..<6).map { _ in try harness.pullBytes() } == [[1], [2], [3], [1], [2], [3]])
    let last = ListCounter.last.snapshot
    #expect(last.sizes == [3, 3] && last.singles == 0)
  }

  @Test func passesBuffersOneByOneToOthers() async throws {
    let harness = try Harness("testbytesplitter ! identity")
    harness.setInputCaps("application/x-test")
    #expect(harness.push([7, 8]) == 0)
    #expect(try (0..<4).map { _ in try harness.pullBytes() } == [[7], [8], [7], [8]])
  }

  /// From a source that makes lists to a sink that takes them, and to one that does not.
  @Test(arguments: [
    ("testlistsink", [[1, 2], [3, 4], [5, 6]] as [[UInt8]]), ("testsinglesink", [[1], [2], [3], [4], [5], [6]]),
  ])
  func sinksRenderTheListsOfASource(sink: String, rendered: [[UInt8]]) async throws {
    SingleSink.record.withLock { $0 = [] }
    PairSource.endsEmpty.withLock { $0 = false }
    try await Pipeline("testpairsrc ! \(sink) sync=false").run()
    #expect(SingleSink.record.snapshot == rendered)
  }

  @Test func anEmptyListFromASourceIsAnError() async throws {
    PairSource.endsEmpty.withLock { $0 = true }
    let pipeline = try Pipeline("testpairsrc ! testlistsink sync=false")
    await #expect(throws: PipelineError.self) { try await pipeline.run() }
  }

  @Test func pushesAListThroughAPipeline() async throws {
    let pipeline = try Pipeline(
      "appsrc name=in caps=application/x-test ! appsink name=out sync=false buffer-list=true")
    let (source, sink) = (try pipeline.appSource("in"), try pipeline.appSink("out"))
    try await pipeline.play()
    try await source.send(BufferList())
    try await source.send(try list([1, 2, 3]))
    try await source.send(try buffer([4]))
    try source.finish()
    var received: [[UInt8]] = []
    var listCount = 0
    for try await sample in sink {
      guard let list = sample.bufferList else {
        received.append(try sample.copiedBytes())
        continue
      }
      listCount += 1
      received.append(try bytes(list))
    }
    #expect(received == [[1, 2, 3], [4]] && listCount == 1)
    await pipeline.stop()
    var late = BufferList()
    late.append(try buffer([5]))
    await #expect(throws: PipelineError.self) { try await source.send(late.share()) }
  }
}
