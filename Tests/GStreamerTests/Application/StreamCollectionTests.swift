// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

@Suite struct StreamCollectionTests {
  init() throws {
    Harness.initialise()
    try TwoStreams.register(as: "testtwostreams", typeName: "GstTestTwoStreams")
  }

  private var collection: StreamCollection {
    var tags = TagList()
    tags.set("language-code", "en")
    return StreamCollection(
      upstreamID: "film",
      [
        StreamCollection.Stream("film/1", .video, caps: Caps(parsing: "video/x-h264"), isDefault: true),
        StreamCollection.Stream("film/2", .audio, tags: Tags(tags)),
        StreamCollection.Stream("film/3", .text, isSparse: true), StreamCollection.Stream("film/4", .container),
        StreamCollection.Stream("film/5", .other),
      ])
  }

  @Test func anEventCarriesACollection() throws {
    let event = Event.streamCollection(collection)
    guard let read = event.streamCollection else {
      Issue.record("no collection")
      return
    }
    let kind = event.kind
    #expect(kind == .streamCollection && read.upstreamID == "film")
    #expect(read.streams.map(\.id) == (1...5).map { "film/\($0)" })
    #expect(read.streams.map(\.kind) == [.video, .audio, .text, .container, .other])
    #expect(read.streams.map(\.isDefault) == [true, false, false, false, false])
    #expect(read.streams.map(\.isSparse) == [false, false, true, false, false])
    #expect(read["film/1"]?.caps?.mediaType == "video/x-h264" && read["film/2"]?.caps == nil)
    #expect(read["film/2"]?.tags?["language-code"] == "en" && read["film/6"] == nil)
    let isNone = Event.endOfStream().streamCollection == nil
    #expect(isNone)
  }

  @Test func anEventCarriesASelection() throws {
    switch Event.selectStreams(["a", "b"]) {
    case .some(let event):
      let (kind, ids) = (event.kind, event.selectedStreams)
      #expect(kind == .selectStreams && ids == ["a", "b"])
    case .none: Issue.record("no event")
    }
    let isNone = Event.selectStreams([]) == nil && Event.endOfStream().selectedStreams == nil
    #expect(isNone)
  }

  @Test func playsTheSelectedStream() async throws {
    let pipeline = try Pipeline("testtwostreams name=source ! appsink name=bytes sync=false")
    let bytes = try pipeline.appSink("bytes").makeAsyncIterator()
    var messages = pipeline.messages.makeAsyncIterator()
    try await pipeline.play()
    var offered: [String] = []
    while offered.isEmpty, let message = try await messages.next() {
      if case .streamCollection(let collection) = message.content, message.source == "source" {
        offered = collection.streams.map(\.id)
      }
    }
    #expect(offered == ["one", "two"])
    try await pipeline.selectStreams(["two"])
    var selected: [String] = []
    while selected.isEmpty, let message = try await messages.next() {
      if case .streamsSelected(let collection, let ids) = message.content, collection["two"] != nil { selected = ids }
    }
    #expect(selected == ["two"])
    // Output of the first stream precedes.
    var last: [UInt8] = []
    var samples = bytes
    while last != [2], let sample = try await samples.next() { last = try sample.copiedBytes() }
    #expect(last == [2])
    try await pipeline.selectStreams(["one"], at: pipeline.element("bytes"))
    while last != [1], let sample = try await samples.next() { last = try sample.copiedBytes() }
    #expect(last == [1])
    await pipeline.stop()
  }

  @Test func anUnhandledSelectionIsAnError() async throws {
    let pipeline = try Pipeline("testtwostreams ! fakesink")
    try await pipeline.preroll()
    for ids in [[], ["three"]] {
      do throws(PipelineError) {
        try await pipeline.selectStreams(ids)
        Issue.record("taken: \(ids)")
      } catch {
        guard case .notSelected(let refused) = error, refused == ids else {
          Issue.record(error)
          continue
        }
      }
    }
    await pipeline.stop()
  }
}

/// A source of two streams, bytes of 1 and of 2, of which it plays the first until the other is chosen.
private final class TwoStreams: PushSource {
  private static let collection = StreamCollection(
    ["one", "two"].map { StreamCollection.Stream($0, .other, isDefault: $0 == "one") })
  private let number = Locked<UInt8>(1)

  override class var padTemplates: [PadTemplate] { [.source("application/x-test")] }
  override func start() throws(ElementError) { post(Self.collection) }
  override func nextBuffer() throws(FlowError) -> Buffer {
    guard let buffer = Buffer(copying: [number.snapshot].span) else { throw .error }
    return buffer
  }
  override func event(_ event: borrowing Event) -> Bool {
    guard let ids = event.selectedStreams else { return super.event(event) }
    guard let index = Self.collection.streams.firstIndex(where: { ids.contains($0.id) }) else { return false }
    number.withLock { $0 = UInt8(index + 1) }
    post(Self.collection, selected: ids)
    return true
  }
}
