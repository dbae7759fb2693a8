// SPDX-License-Identifier: MPL-2.0
import Testing

@testable import GStreamer

/// Messages and handlers from several threads.
@Suite struct MessageHubTests {
  private func end() -> Message { Message(source: "sink", isFromPipeline: true, content: .endOfStream) }
  private func hasEnded(_ hub: MessageHub) -> Bool { if case .ended = hub.phase { true } else { false } }

  /// An EOS message that is posted during a flushing seek is ignored.
  @Test func ignoresEndsThatAreFlushedByASeek() {
    let hub = MessageHub()
    hub.start()
    hub.beginSeek(7)
    _ = hub.resume()
    hub.post(end(), number: 3)
    #expect(!hasEnded(hub))
    hub.endSeek(7)
    hub.post(end(), number: 7)
    #expect(hasEnded(hub))
  }

  /// A listener that does not read does not fill the memory, and still learns of the end.
  @Test func keepsTheNewestUnreadMessages() async {
    let hub = MessageHub()
    hub.start()
    let messages = hub.listen()
    for number in 0..<3000 {
      hub.post(Message(source: "\(number)", isFromPipeline: false, content: .streamStart))
    }
    hub.post(end())
    var read: [Message] = []
    for await message in messages { read.append(message) }
    #expect(read.count == 1024 && read.first?.source == "1977")
    if case .endOfStream = read.last?.content {} else { Issue.record("no end") }
  }

  /// The EOS message of the seek itself counts, however early it comes.
  @Test func theEndOfTheSeekItselfCounts() {
    let hub = MessageHub()
    hub.start()
    hub.beginSeek(7)
    _ = hub.resume()
    hub.post(end(), number: 7)
    #expect(hasEnded(hub))
    hub.endSeek(7)
    #expect(hasEnded(hub))
  }

  /// Late messages of a stopped pipeline do not reach its next run.
  @Test func ignoresMessagesOfAStoppedPipeline() async {
    let hub = MessageHub()
    hub.start()
    hub.stop(isCancelled: false)
    let failure = ElementFailure(error: ElementError(.stream(.decode), "late"), source: "old")
    hub.post(Message(source: "old", isFromPipeline: false, content: .error(failure)))
    hub.prepare()
    hub.start()
    let messages = hub.listen()
    hub.post(end())
    var sources: [String] = []
    for await message in messages { sources.append(message.source) }
    #expect(sources == ["sink"] && hasEnded(hub))
  }

  /// A seek that is refused at the end of the stream changes nothing.
  @Test func aRefusedSeekKeepsTheEnd() async throws {
    let pipeline = try Pipeline("fakesrc num-buffers=3 ! fakesink")
    try await pipeline.play()
    for try await _ in pipeline.messages {}
    await #expect(throws: PipelineError.self) { try await pipeline.seek(to: .seconds(1), [.accurate]) }
    for try await _ in pipeline.messages {}
    await pipeline.stop()
  }

  /// Many seeks around the end of the stream: every end is reported.
  @Test func reportsTheEndAfterEverySeek() async throws {
    let pipeline = try Pipeline(
      "videotestsrc num-buffers=8 ! video/x-raw,width=16,height=16 ! appsink name=s sync=false")
    let sink = try pipeline.appSink("s")
    try await pipeline.preroll()
    try await pipeline.play()
    for _ in 0..<100 {
      var samples = sink.makeAsyncIterator()
      _ = try await samples.next()
      try await pipeline.seek(to: .zero)
      while try await samples.next() != nil {}
      var hasEnded = false
      for try await message in pipeline.messages { if case .endOfStream = message.content { hasEnded = true } }
      #expect(hasEnded)
    }
    await pipeline.stop()
  }

  private final class Token: Sendable {}
  private struct Watch: Sendable { weak let token: Token? }

  /// Several threads connect handlers to a new element at once: all can be disconnected.
  @Test func disconnectsHandlersOfManyThreads() async throws {
    for _ in 0..<200 {
      let element = try PipelineElement("identity")
      let watches = await withTaskGroup(of: Watch.self) { group in
        for _ in 0..<4 {
          group.addTask {
            let token = Token()
            _ = try? element.connect("notify::name") { _ in
              withExtendedLifetime(token) { nil }
            }
            return Watch(token: token)
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      element.reference.disconnectAll()
      #expect(watches.allSatisfy { $0.token == nil })
    }
  }
}
