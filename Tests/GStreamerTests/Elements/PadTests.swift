// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

/// Adds a source pad for each first byte of buffers, with the first such buffer, like a demultiplexer.
private final class Sorter: Element {
  private let outputs = Locked<[UInt8]>([])

  override class var padTemplates: [PadTemplate] { [.sink("ANY"), .source("ANY", named: "src_%u", .sometimes)] }

  required init(raw: UnsafeMutableRawPointer) {
    unsafe super.init(raw: raw)
    addPad(template: "sink") { pad in
      pad.onBuffer { [unowned self] (buffer) throws(FlowError) in try sort(buffer) }
      pad.onEvent { [unowned self] event in forward(event) }
    }
  }

  private func sort(_ buffer: consuming Buffer) throws(FlowError) {
    let value = try firstByte(buffer)
    let name = "src_\(value)"
    if pad(name) == nil, let made = addPad(template: "src_%u", named: name) {
      pad("sink")?.copyStickyEvents(to: made)
      outputs.withLock { $0.append(value) }
      if outputs.snapshot.count == 2 { declareNoMorePads() }
    }
    try pad(name)?.push(buffer)
  }

  private func firstByte(_ buffer: borrowing Buffer) throws(FlowError) -> UInt8 {
    let map = try buffer.map()
    return map.bytes[0]
  }

  private func forward(_ event: consuming Event) -> Bool {
    for value in outputs.snapshot { pad("src_\(value)")?.push(event.share()) }
    return true
  }
}

/// Has two request pads at most.
private final class Pair: Element {
  override class var padTemplates: [PadTemplate] { [.source("ANY", named: "src_%u", .request)] }
  override func requestPad(template: String, named name: String?) -> Pad? {
    pad("src_0") != nil && pad("src_1") != nil ? nil : addPad(template: template, named: name)
  }
}

/// Sends stream-start, caps and segment of its own.
private final class Relabeller: Element {
  override class var padTemplates: [PadTemplate] { [.sink("ANY"), .source("application/x-own")] }

  required init(raw: UnsafeMutableRawPointer) {
    unsafe super.init(raw: raw)
    let output = addPad(template: "src") { pad in
      pad.onQuery { query in
        guard query.kind == .latency else { return pad.passOn(query) }
        query.setLatency(isLive: true, minimum: .milliseconds(40), maximum: nil)
        return true
      }
    }
    guard let output else { return }
    addPad(template: "sink") { pad in
      pad.onEvent { (event: consuming Event) in
        switch event.kind {
        case .streamStart: output.push(.streamStart("own"))
        case .caps: output.setCaps(Caps(mediaType: "application/x-own"))
        case .segment: output.push(.segment(.time(from: .seconds(5), until: .seconds(9))))
        default: pad.passOn(event)
        }
      }
      pad.onBuffer { (buffer) throws(FlowError) in
        output.push(.gap(at: .seconds(5), duration: .milliseconds(500)))
        try output.push(buffer)
      }
    }
  }
}

@Suite struct PadTests {
  /// - Parameter isWrapped: whether an application has put its own functions in front of those of the pads.
  @Test(arguments: [false, true]) func exposesTheStreamsProperties(isWrapped: Bool) throws {
    try Relabeller.register(as: "testrelabeller", typeName: "GstTestRelabeller")
    let harness = try Harness("testrelabeller")
    if isWrapped { unsafe WrappedPads.wrap(padsOf: harness.element) }
    harness.setInputCaps("application/x-test")
    #expect(harness.push([1]) == 0)
    #expect(try harness.pullBytes() == [1])
    let current = try harness.outputCaps().mediaType
    #expect(current == "application/x-own")
    #expect(harness.queryLatency() == .milliseconds(40))
    let possible = harness.querySourceCaps().mediaType
    #expect(possible == "application/x-own")
    harness.push(Event.flushStart())
    harness.push(Event.flushStop())
    harness.endOfStream()
    var kinds: [Event.Kind] = []
    var times: [ClockTime?] = []
    while let event = harness.tryPullEvent() {
      kinds.append(event.kind)
      if let segment = event.segment { times += [segment.runningTime(of: .seconds(6)), segment.stop] }
    }
    #expect(kinds.contains([.streamStart, .caps, .segment, .gap]) && kinds.last == .endOfStream)
    #expect(kinds.contains([.flushStart, .flushStop]))
    #expect(times == [.second, .seconds(9)])
  }

  init() { Harness.initialise() }

  @Test func addsPadsForTheStream() async throws {
    try Sorter.register(as: "testsorter", typeName: "GstTestSorter")
    let pipeline = try Pipeline("appsrc name=in ! testsorter name=sorter")
    let sorter = try pipeline.element("sorter")
    let received = Locked<[String]>([])
    try sorter.onPadAdded { [weak pipeline] pad in
      received.withLock { $0.append(pad.name) }
      guard let pipeline, let sink = try? PipelineElement("fakesink", ["sync": false, "async": false]) else { return }
      try? pipeline.add(sink)
      try? pad.link(to: sink)
    }
    try sorter.connect("no-more-pads") { _ in
      received.withLock { $0.append("no more") }
      return nil
    }
    let input = try pipeline.appSource("in")
    try await pipeline.play()
    for value: UInt8 in [7, 7, 9] {
      guard let buffer = Buffer(copying: [value].span) else { return }
      try await input.send(buffer)
    }
    try input.finish()
    for try await message in pipeline.messages { if case .endOfStream = message.content { break } }
    #expect(received.snapshot == ["src_7", "src_9", "no more"])
    await pipeline.stop()
  }

  @Test func addsAndReleasesRequestPads() throws {
    try Pair.register(as: "testpair", typeName: "GstTestPair")
    let element = try PipelineElement("testpair")
    let first = try #require(element.requestPad("src_%u"))
    let second = try #require(element.requestPad("src_%u"))
    #expect(first.name == "src_0" && second.name == "src_1" && element.requestPad("src_%u") == nil)
    element.releasePad(first)
    #expect(element.pad("src_0") == nil && element.requestPad("src_%u", named: "src_0")?.name == "src_0")
  }
}
