// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

/// Pipelines that are changed, and bins.
@Suite struct ChangingTests {
  init() { Harness.initialise() }

  @Test func padsAreLinkedAndUnlinked() throws {
    let pipeline = Pipeline()
    let (source, sink) = (try PipelineElement("fakesrc", name: "a"), try PipelineElement("fakesink", name: "b"))
    try pipeline.add(source)
    try pipeline.add(sink)
    let (first, second) = (try #require(source.pad("src")), try #require(sink.pad("sink")))
    #expect(first.peer == nil)
    try first.link(to: second)
    #expect(first.peer?.name == "sink" && second.peer?.element?.name == "a")
    do throws(PipelineError) {
      try first.link(to: second)
      Issue.record("linked twice")
    } catch { #expect("\(error)" == "a.src cannot be linked to b.sink") }
    second.unlink()
    #expect(first.peer == nil && second.peer == nil)
    second.unlink()
    try pipeline.link(source, sink)
    try pipeline.unlink(source, sink)
    #expect(first.peer == nil)
  }

  /// The element in the middle is exchanged while the pipeline plays, and nothing is lost.
  @Test func anElementIsExchangedWhileDataFlows() async throws {
    let pipeline = try Pipeline(
      "videotestsrc num-buffers=300 ! identity name=front sleep-time=1000 ! identity name=old ! fakesink name=out")
    let (front, old, out) = (
      try pipeline.element("front"), try pipeline.element("old"), try pipeline.element("out")
    )
    let count = Counter()
    let begun = AsyncStream.makeStream(of: Void.self)
    let counting = try #require(out.pad("sink")).addBufferProbe { _ in
      count.increment()
      if count.value == 20 { begun.continuation.finish() }
      return .pass
    }
    try await pipeline.play()
    for await _ in begun.stream {}
    let idle = AsyncStream.makeStream(of: Void.self)
    let block = try #require(front.pad("src")).addBlockingProbe { idle.continuation.finish() }
    for await _ in idle.stream {}
    let seen = count.value
    let fresh = try PipelineElement("identity", name: "new")
    try await pipeline.remove(old)
    #expect(old.state == .null)
    try pipeline.add(fresh)
    try pipeline.link(front, fresh)
    try pipeline.link(fresh, out)
    #expect(count.value == seen)
    block.remove()
    for try await _ in pipeline.messages {}
    #expect(count.value == 300)
    #expect(throws: PipelineError.self) { try pipeline.element("old") }
    do throws(PipelineError) {
      try await pipeline.remove(old)
      Issue.record("removed twice")
    } catch { #expect("\(error)" == "“old” is not in this pipeline") }
    await pipeline.stop()
    counting.remove()
  }

  @Test func aBinIsUsedAsOneElement() async throws {
    let bin = try PipelineElement(bin: "identity name=i ! capsfilter caps=video/x-raw,width=64,height=48", name: "box")
    let pipeline = try Pipeline(
      linking: PipelineElement("videotestsrc", ["num-buffers": 2]), bin, PipelineElement("fakesink", name: "out"))
    try await pipeline.run()
    #expect(bin.name == "box")
    #expect(try bin.element("i").kind == "identity")
    #expect(throws: PipelineError.self) { try bin.element("out") }
    #expect(throws: PipelineError.self) { try pipeline.element("out").element("i") }
  }

  @Test func ghostPadLinksAPadInsideTheBin() throws {
    let bin = try PipelineElement(bin: "tee name=t ! fakesink", name: "box")
    let tee = try bin.element("t")
    let branch = try #require(tee.requestPad("src_%u"))
    let ghost = try bin.addGhostPad("extra", of: branch)
    #expect(ghost.isSource && bin.pad("extra")?.name == "extra" && bin.pad("sink") != nil)
    #expect(throws: PipelineError.self) { try bin.addGhostPad("extra", of: #require(tee.requestPad("src_%u"))) }
    #expect(throws: PipelineError.self) { try bin.addGhostPad("other", of: branch) }
    #expect(throws: PipelineError.self) { try tee.addGhostPad("none", of: branch) }
  }

  @Test func propertiesOfChildrenAreReached() throws {
    let bin = try PipelineElement(bin: "identity name=i ! fakesink name=f", name: "box")
    try bin.set("i::sleep-time", 5)
    #expect(try bin.get("i::sleep-time") == .uint(5))
    #expect(try bin.element("i").get("sleep-time") == .uint(5))
    let mixer = try PipelineElement("compositor", name: "mixer")
    let pad = try #require(mixer.requestPad("sink_%u", named: "sink_3"))
    try mixer.set("sink_3::alpha", 0.5)
    #expect(try mixer.get("\(pad.name)::alpha") == .double(0.5))
    for wrong in ["sink_9::alpha", "sink_3::none", "::", "none"] {
      do throws(PipelineError) {
        try mixer.set(wrong, 1)
        Issue.record("\(wrong) is set")
      } catch { #expect("\(error)" == "mixer has no property “\(wrong)”") }
    }
  }

  @Test func errorNamesTheElementThatABinLacks() {
    do throws(PipelineError) {
      _ = try PipelineElement(bin: "identity ! nosuchthing")
      Issue.record("made")
    } catch { #expect("\(error)" == "there is no element “nosuchthing”") }
  }
}
