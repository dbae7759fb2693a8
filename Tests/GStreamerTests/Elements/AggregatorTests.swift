// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

/// Adds up the bytes of its inputs.
private final class Adder: Aggregator {
  static let record = Locked<[String]>([])

  override class var padTemplates: [PadTemplate] {
    [
      .sink("application/x-test", named: "sink_%u", .request),
      .source("application/x-test, sum={ (boolean)true, false }"),
    ]
  }
  override func start() throws(ElementError) { Self.record.withLock { $0.append("start") } }
  override func stop() { Self.record.withLock { $0.append("stop") } }
  override func setSourceCaps(_ caps: borrowing Caps) -> Bool {
    let text = caps.description
    Self.record.withLock { $0.append(text) }
    return true
  }
  /// Zeros are left out.
  override func clip(_ buffer: consuming Buffer, at input: Input) -> Buffer? {
    guard let byte = try? buffer.copiedBytes().first, byte != 0 else { return nil }
    return .some(buffer)
  }
  override func sinkEvent(_ event: consuming Event, at input: Input) -> Bool {
    if event.kind == .endOfStream {
      let name = input.id
      Self.record.withLock { $0.append("end of \(name)") }
    }
    return super.sinkEvent(event, at: input)
  }
  override func aggregate(isLate: Bool) throws(FlowError) {
    let inputs = inputs
    if inputs.allSatisfy(\.hasEnded) { throw .endOfStream }
    // What came was clipped away.
    guard inputs.allSatisfy({ $0.hasBuffer || $0.hasEnded }) else { throw Self.needsMoreData }
    var sum: UInt8 = 0
    for input in inputs {
      guard input.hasBuffer else { continue }
      let isSeen = input.peek() != nil
      guard isSeen, let buffer = input.pop() else { throw .error }
      sum += try buffer.copiedBytes().first ?? 0
    }
    // A sum of 100 is put off.
    if sum == 100 { throw Self.needsMoreData }
    guard let result = Buffer(copying: [sum].span) else { throw .error }
    try finish(result)
  }
}

/// Never finds caps for its output.
private final class Undecided: Aggregator {
  override class var padTemplates: [PadTemplate] { [.sink("ANY", named: "sink_%u", .request), .source("ANY")] }
  override func updateSourceCaps(_ caps: borrowing Caps) -> CapsChoice { .none }
  override func aggregate(isLate: Bool) throws(FlowError) {
    for input in inputs { input.drop() }
    try finish(Buffer())
  }
}

/// Offers memory to what is in front of it.
private final class Offering: Aggregator {
  static let record = Locked<[String]>([])
  override class var padTemplates: [PadTemplate] {
    [.sink("application/x-test", named: "sink_%u", .request), .source("ANY")]
  }
  override func proposeAllocation(decided: borrowing Query?, _ query: borrowing Query, at input: Input) -> Bool {
    let text = "\(input.id) of \(query.allocationCaps?.description ?? "nothing")"
    Self.record.withLock { $0.append(text) }
    query.setFirstPool(Query.PoolOffer(pool: nil, size: 4321, minimum: 3))
    return true
  }
  override func aggregate(isLate: Bool) throws(FlowError) {
    guard let buffer = inputs.first?.pop() else { throw .endOfStream }
    try finish(buffer)
  }
}

/// Records what is offered to it.
private final class Asking: PushSource {
  static let sizes = Locked<[UInt32]>([])
  private var isDone = false
  override class var padTemplates: [PadTemplate] { [.source("application/x-test")] }
  override func prepareToStream() { isDone = false }
  override func decideAllocation(_ query: borrowing Query) -> Bool {
    let size = query.firstPool()?.size ?? 0
    Self.sizes.withLock { $0.append(size) }
    return true
  }
  override func nextBuffer() throws(FlowError) -> Buffer {
    if isDone { throw .endOfStream }
    isDone = true
    return Buffer()
  }
}

@Suite(.serialized) struct AggregatorTests {
  init() throws {
    Harness.initialise()
    try Adder.register(as: "testadder", typeName: "GstTestAdder")
    try Undecided.register(as: "testundecided", typeName: "GstTestUndecided")
  }

  /// A pipeline whose two sources send these bytes, one in a buffer.
  private func sums(_ first: [UInt8], _ second: [UInt8]) async throws -> [UInt8] {
    let pipeline = try Pipeline(
      """
      appsrc name=a caps=application/x-test ! adder.  appsrc name=b caps=application/x-test ! adder.
      testadder name=adder ! appsink name=sums sync=false
      """)
    let sums = try pipeline.appSink("sums")
    try await pipeline.play()
    for (name, bytes) in [("a", first), ("b", second)] {
      let source = try pipeline.appSource(name)
      for byte in bytes {
        guard let buffer = Buffer(copying: [byte].span) else { throw FlowError.error }
        try await source.send(buffer)
      }
      try source.finish()
    }
    var result: [UInt8] = []
    for try await sample in sums { result += try sample.copiedBytes() }
    await pipeline.stop()
    return result
  }

  @Test func usesEveryInputForEachOutput() async throws {
    Adder.record.withLock { $0 = [] }
    #expect(try await sums([1, 2, 3], [10, 20, 30]) == [11, 22, 33])
    let record = Adder.record.snapshot
    #expect(record.first == "start" && record.last == "stop")
    #expect(record.contains("application/x-test, sum=(boolean)true"))
    #expect(record.contains("end of sink_0") && record.contains("end of sink_1"))
  }

  @Test func doesNotWaitForAnEndedInput() async throws {
    #expect(try await sums([1], [10, 20, 30]) == [11, 20, 30])
    #expect(try await sums([], []) == [])
  }

  @Test func doesNotAggregateClippedBuffers() async throws {
    #expect(try await sums([0, 1, 0, 2], [10, 0, 20]) == [11, 22])
  }

  @Test func anAggregationWithoutOutputIsNoFailure() async throws {
    #expect(try await sums([50, 1], [50, 2]) == [3])
  }

  @Test func offersMemoryToAnInput() async throws {
    try Offering.register(as: "testoffering", typeName: "GstTestOffering")
    try Asking.register(as: "testasking", typeName: "GstTestAsking")
    Offering.record.withLock { $0 = [] }
    Asking.sizes.withLock { $0 = [] }
    try await Pipeline("testasking ! testoffering ! fakesink").run()
    #expect(Offering.record.snapshot == ["sink_0 of application/x-test"])
    #expect(Asking.sizes.snapshot == [4321])
  }

  @Test func anOutputWithoutCapsIsAnError() async throws {
    let pipeline = try Pipeline("fakesrc num-buffers=2 ! testundecided ! fakesink")
    await #expect(throws: PipelineError.self) { try await pipeline.run() }
  }

  /// GStreamer's base class cannot be without it.
  @Test func refusesAClassWithoutASourcePad() {
    final class NoOutput: Aggregator {
      override class var padTemplates: [PadTemplate] { [.sink("ANY", named: "sink_%u", .request)] }
    }
    #expect(throws: RegistrationError.self) { try NoOutput.register(as: "testnooutput", typeName: "GstTestNoOutput") }
  }
}
