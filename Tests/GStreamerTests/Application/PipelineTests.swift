// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import Synchronization
import Testing

private func media(_ name: String) -> String {
  let folders = #filePath.split(separator: "/").dropLast(3)
  return "/" + folders.joined(separator: "/") + "/Media/" + name
}

@Suite struct PipelineMakingTests {
  init() throws { try Failing.register() }

  @Test func reportsWhyADescriptionCannotBeMade() {
    #expect {
      _ = try Pipeline("videotestsrc ! there-is-no-such-element")
    } throws: { error in
      guard case .noSuchElement("there-is-no-such-element") = error as? PipelineError else { return false }
      return true
    }
    #expect {
      _ = try Pipeline("videotestsrc ! ! fakesink")
    } throws: { error in
      guard case .invalidDescription(let reason) = error as? PipelineError else { return false }
      return !reason.isEmpty
    }
    #expect(throws: PipelineError.self) { _ = try Pipeline("videotestsrc no-such-property=1 ! fakesink") }
    #expect(throws: PipelineError.self) { _ = try Pipeline("!") }
  }

  @Test func propertiesAreTypedAndNeedNoQuoting() throws {
    let name = #"a "strange" \ name ! with=everything"#
    let pipeline = try Pipeline("filesrc name=file ! fakesink name=sink", ["file": ["location": .string(name)]])
    #expect(try pipeline.element("file").get("location") == .string(name))
    let sink = try pipeline.element("sink")
    try sink.set("num-buffers", 12)
    #expect(try sink.get("num-buffers") == .int(12))
    try sink.set("max-lateness", .int64(1 << 40))
    #expect(try sink.get("max-lateness") == .int64(1 << 40))
    let source = try PipelineElement("videotestsrc", ["pattern": "ball", "is-live": true, "foreground-color": 7])
    #expect(try source.get("pattern") == "ball")
    #expect(try source.get("is-live") == true)
    #expect(try source.get("foreground-color") == .uint(7))
  }

  @Test func refusesPropertiesThatDoNotFit() throws {
    let source = try PipelineElement("videotestsrc")
    func refuses(_ property: String, _ value: FieldValue) -> Bool {
      do throws(PipelineError) {
        try source.set(property, value)
        return false
      } catch {
        switch error {
        case .noSuchProperty, .invalidValue: return true
        default: return false
        }
      }
    }
    #expect(refuses("no-such-property", 1))
    #expect(refuses("pattern", "no-such-pattern"))
    #expect(refuses("num-buffers", .int64(1 << 40)))
    #expect(refuses("num-buffers", -2))
    #expect(refuses("foreground-color", -1))
    #expect(refuses("timestamp-offset", .double(0.5)))
    #expect(refuses("num-buffers", "many"))
    #expect(try source.get("num-buffers") == -1)
    #expect(throws: PipelineError.self) { try PipelineElement("there-is-no-such-element") }
    #expect(throws: PipelineError.self) { try Pipeline("fakesrc ! fakesink").element("nobody") }
  }

  @Test func refusesToLinkElementsThatDoNotFit() throws {
    let source = try PipelineElement("videotestsrc")
    let sink = try PipelineElement("audioconvert")
    #expect(throws: PipelineError.self) { try Pipeline(linking: source, sink) }
  }

  @Test func linksElementsWithCapsBetween() async throws {
    let pipeline = Pipeline()
    let source = try PipelineElement("videotestsrc", ["num-buffers": 3])
    let sink = try PipelineElement("appsink", name: "out")
    try pipeline.add(source)
    try pipeline.add(sink)
    try pipeline.link(source, sink, caps: "video/x-raw, format=GRAY8, width=8, height=4")
    let samples = try pipeline.appSink("out")
    try await pipeline.play()
    var sizes: [Int] = []
    for try await sample in samples { sizes.append(sample.size) }
    #expect(sizes == [32, 32, 32])
    await pipeline.stop()
  }

  /// A demultiplexer adds its pads after reading the file's header.
  @Test func linksPadsThatComeLater() async throws {
    let pipeline = Pipeline()
    let elements = [
      try PipelineElement("filesrc", ["location": .string(media("clip.mp4"))]), try PipelineElement("qtdemux"),
      try PipelineElement("appsink", name: "out", ["sync": false]),
    ]
    for element in elements { try pipeline.add(element) }
    for index in 1..<3 { try pipeline.link(elements[index - 1], elements[index]) }
    let samples = try pipeline.appSink("out")
    try await pipeline.play()
    var count = 0
    for try await sample in samples {
      count += 1
      #expect(sample.caps?.mediaType == "video/x-h264")
    }
    #expect(count == 62)
    await pipeline.stop()
  }

  /// The handler's return value is the signal's.
  @Test func handlersReturnTheSignalsValue() async throws {
    let pipeline = try Pipeline(
      "filesrc name=file ! decodebin name=decoder", ["file": ["location": .string(media("clip.mp4"))]])
    let decoder = try pipeline.element("decoder")
    let asked = Locked<[String]>([])
    try decoder.connect("autoplug-continue") { arguments in
      let type = arguments.caps(1)?.mediaType ?? ""
      asked.withLock { $0.append(type) }
      return .boolean(type != "video/x-h264")
    }
    let exposed = Locked<String?>(nil)
    let sink = try PipelineElement("fakesink", ["sync": false])
    try pipeline.add(sink)
    try decoder.onPadAdded { pad in
      exposed.withLock { $0 = pad.caps.mediaType }
      try? pad.link(to: sink)
    }
    try await pipeline.run()
    #expect(asked.snapshot.contains("video/x-h264"))
    #expect(exposed.snapshot == "video/x-h264")
    #expect(throws: PipelineError.self) { try decoder.connect("no-such-signal") { _ in nil } }
  }
}

@Suite struct PipelineRunTests {
  init() throws { try Failing.register() }

  @Test func runsToTheEndAndCanRunAgain() async throws {
    let pipeline = try Pipeline("videotestsrc num-buffers=5 ! fakesink name=sink signal-handoffs=true")
    let count = Locked(0)
    try pipeline.element("sink").connect("handoff") { _ in
      count.withLock { $0 += 1 }
      return nil
    }
    try await pipeline.run()
    #expect(count.snapshot == 5 && pipeline.state == .null)
    try await pipeline.run()
    #expect(count.snapshot == 10)
  }

  @Test func errorsHaveDetails() async throws {
    let pipeline = try Pipeline("videotestsrc ! testfailing name=culprit after=3 ! fakesink")
    do throws(PipelineError) {
      try await pipeline.run()
      Issue.record("no error")
    } catch {
      guard case .element(let failure) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(failure.source == "culprit")
      #expect(failure.error.code == .stream(.decode))
      #expect(failure.error.message == "It is enough.")
      #expect(failure.error.debug.contains("after 4"))
      #expect(failure.details?.name == "test-failure")
      #expect(failure.details?["buffers"] == 4 && failure.details?["reason"] == "as asked")
      #expect(failure.details?["nothing"] == nil)
    }
    #expect(pipeline.state == .null)
  }

  @Test func reportsAnElementThatCannotStart() async throws {
    let pipeline = try Pipeline("filesrc name=file ! fakesink", ["file": ["location": "/there/is/no/such/file"]])
    do throws(PipelineError) {
      try await pipeline.play()
      Issue.record("no error")
    } catch {
      guard case .element(let failure) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(failure.error.code == .resource(.notFound))
    }
    #expect(pipeline.state == .null)
  }

  @Test func messagesComeInOrderAndEndWithTheStream() async throws {
    let pipeline = try Pipeline("videotestsrc num-buffers=3 ! fakesink")
    try await pipeline.play()
    var states: [Pipeline.State] = []
    var isAtEnd = false
    var hasStarted = false
    // Messages that were posted before are delivered too.
    for try await message in pipeline.messages {
      switch message.content {
      case .stateChanged(_, let state) where message.isFromPipeline: states.append(state)
      case .streamStart: hasStarted = true
      case .endOfStream: isAtEnd = true
      default: break
      }
    }
    #expect(states == [.ready, .paused, .playing] && hasStarted && isAtEnd)
    await pipeline.stop()
  }

  /// A change of state, or a seek, is complete when the sinks have their first buffer.
  @Test func postsPrerollAndDurationChanges() async throws {
    let pipeline = try Pipeline("videotestsrc num-buffers=3 name=source ! fakesink")
    let source = try pipeline.element("source")
    try await pipeline.preroll()
    let object = unsafe UnsafeMutableRawPointer(source.raw).assumingMemoryBound(to: GstObject.self)
    unsafe gst_element_post_message(source.raw, gst_message_new_duration_changed(object))
    try await pipeline.play()
    var posted: [String] = []
    for try await message in pipeline.messages {
      switch message.content {
      case .asyncDone: posted.append("done, by \(message.isFromPipeline ? "pipeline" : message.source)")
      case .durationChanged: posted.append("duration, by \(message.source)")
      default: break
      }
    }
    #expect(posted == ["done, by pipeline", "duration, by source"])
    await pipeline.stop()
  }

  @Test func warningsDoNotEndTheMessages() async throws {
    let pipeline = try Pipeline("videotestsrc ! testfailing after=0 ! fakesink")
    var warnings: [String] = []
    do throws(PipelineError) {
      try await pipeline.play()
      for try await message in pipeline.messages {
        if case .warning(let failure) = message.content { warnings.append(failure.error.message) }
      }
      Issue.record("no error")
    } catch {
      guard case .element = error else {
        Issue.record("\(error)")
        return
      }
    }
    #expect(warnings == ["Now it comes."])
    // A later listener gets the end too.
    await #expect(throws: PipelineError.self) { for try await _ in pipeline.messages {} }
    await pipeline.stop()
  }

  @Test func readsTags() async throws {
    let pipeline = try Pipeline(
      "videotestsrc num-buffers=1 ! taginject tags=\"title=Eins,maximum-bitrate=(uint)12\" ! fakesink")
    try await pipeline.play()
    var title: FieldValue?
    var bitrate: FieldValue?
    for try await message in pipeline.messages {
      guard case .tags(let tags) = message.content, tags.names.contains("title") else { continue }
      (title, bitrate) = (tags["title"], tags["maximum-bitrate"])
    }
    #expect(title == "Eins" && bitrate == .uint(12))
    await pipeline.stop()
  }

  /// A recording ends with all that was recorded.
  @Test func finishEndsALiveSource() async throws {
    let pipeline = try Pipeline("videotestsrc is-live=true ! fakesink sync=false")
    try await pipeline.play()
    try await pipeline.finish()
    await pipeline.stop()
    #expect(pipeline.state == .null)
  }

  @Test func seeksAndReportsThePosition() async throws {
    let pipeline = try Pipeline(
      "videotestsrc num-buffers=500 ! video/x-raw,framerate=50/1,width=16,height=16 ! appsink name=out")
    let samples = try pipeline.appSink("out")
    try await pipeline.preroll()
    #expect(pipeline.position == .zero)
    #expect(pipeline.latency?.minimum == .zero)
    #expect(pipeline.seekableRange != nil)
    var first: ClockTime?
    for seconds: UInt64 in [3, 1, 5] {
      try await pipeline.seek(to: .seconds(seconds), until: .seconds(seconds + 1))
      #expect(pipeline.position == .seconds(seconds))
    }
    try await pipeline.play()
    var count = 0
    for try await sample in samples {
      if first == nil { first = sample.pts }
      count += 1
    }
    #expect(first == .seconds(5) && count == 50)
    // After the end, a seek starts the stream again.
    try await pipeline.seek(to: .zero, until: .second)
    count = 0
    for try await _ in samples { count += 1 }
    #expect(count == 50)
    await pipeline.stop()
    await #expect(throws: PipelineError.self) { try await pipeline.seek(to: .zero, rate: 0) }
  }

  @Test func aFileHasADuration() async throws {
    let pipeline = try Pipeline(
      "filesrc name=file ! qtdemux ! fakesink", ["file": ["location": .string(media("clip.mp4"))]])
    try await pipeline.preroll()
    let duration = try #require(pipeline.duration)
    #expect(ClockTime.seconds(2) < duration && duration < ClockTime.seconds(3))
    await pipeline.stop()
  }

  /// The error comes before the first buffer.
  /// A state may have failed before its error is posted.
  @Test func prerollThrowsTheErrorOfTheElement() async throws {
    for _ in 0..<200 {
      let pipeline = try Pipeline("videotestsrc num-buffers=3 ! identity error-after=1 ! fakesink")
      do throws(PipelineError) {
        try await pipeline.preroll()
        Issue.record("no error")
      } catch .element(let failure) {
        #expect(failure.kind == "identity")
      } catch { Issue.record("\(error)") }
    }
  }

  @Test func prerollEndsWithAnError() async throws {
    let pipeline = try Pipeline("videotestsrc ! testfailing after=0 ! fakesink")
    await #expect(throws: PipelineError.self) { try await pipeline.preroll() }
    #expect(pipeline.state == .null)
  }
}
