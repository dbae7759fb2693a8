// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

/// Errors name what is wrong, and what is expected.
@Suite struct NamedErrorTests {
  init() { Harness.initialise() }

  /// The message of an error; nil where there is none.
  private func message(of body: () throws(PipelineError) -> Void) -> String? {
    do throws(PipelineError) {
      try body()
      return nil
    } catch { return "\(error)" }
  }

  @Test func namesTheKindOfTheWrongElement() throws {
    let pipeline = try Pipeline("fakesrc name=s ! fakesink name=f")
    #expect(
      message { () throws(PipelineError) in _ = try pipeline.appSink("f") }
        == "“f” is of the kind fakesink, not appsink")
    #expect(
      message { () throws(PipelineError) in _ = try pipeline.appSource("s") }
        == "“s” is of the kind fakesrc, not appsrc")
    #expect(message { () throws(PipelineError) in _ = try pipeline.appSink("g") } == "there is no element “g”")
  }

  @Test func namesAReadOnlyProperty() throws {
    let sink = try PipelineElement("fakesink", name: "sink")
    #expect(
      message { () throws(PipelineError) in try sink.set("last-message", "text") }
        == "the property “last-message” of sink can only be read")
    #expect(message { () throws(PipelineError) in try sink.set("no-such", 1) } == "sink has no property “no-such”")
    #expect(message { () throws(PipelineError) in _ = try sink.get("no-such") } == "sink has no property “no-such”")
  }

  @Test(
    arguments: [
      (
        "num-buffers", .string("many"),
        "source does not accept many as “num-buffers”, which is a gint from -1 to 2147483647"
      ),
      ("blocksize", .int(-1), "source does not accept -1 as “blocksize”, which is a guint from 0 to 4294967295"),
      ("do-timestamp", .string("perhaps"), "source does not accept perhaps as “do-timestamp”, which is a gboolean"),
      (
        "animation-mode", .string("x"),
        "source does not accept x as “animation-mode”, which is one of frames, wall-time, running-time"
      ),
    ] as [(String, FieldValue, String)])
  func namesAValueThatDoesNotFit(property: String, value: FieldValue, expected: String) throws {
    let source = try PipelineElement("videotestsrc", name: "source")
    #expect(message { () throws(PipelineError) in try source.set(property, value) } == expected)
  }

  @Test func namesArgumentsThatASignalDoesNotTake() throws {
    let source = try PipelineElement("appsrc", name: "source")
    #expect(
      message { () throws(PipelineError) in try source.emit("end-of-stream", 1) }
        == "the signal “end-of-stream” of source takes no arguments")
    #expect(
      message { () throws(PipelineError) in try source.emit("need-data") }
        == "the signal “need-data” of source takes (guint)")
    #expect(message { () throws(PipelineError) in try source.emit("none") } == "source has no signal “none”")
  }

  @Test func namesAnElementThatAlreadyHasAPipeline() throws {
    let element = try PipelineElement("identity", name: "one")
    let pipeline = try Pipeline(linking: element)
    let message = message { () throws(PipelineError) in try pipeline.add(PipelineElement("identity", name: "one")) }
    #expect(message == "“one” cannot be added: it is in a pipeline, or its name is taken")
    #expect(throws: PipelineError.self) { try Pipeline().add(element) }
  }

  @Test func namesAWriteOnlyProperty() throws {
    let element = try PipelineElement("taginject", name: "one")
    #expect(
      message { () throws(PipelineError) in _ = try element.get("tags") }
        == "the property “tags” of one cannot be read")
  }

  @Test func namesAFileThatIsNoPlugin() {
    #expect(
      message { () throws(PipelineError) in try Runtime.loadPlugin(at: "/no/such/plugin.so") }?
        .hasPrefix("the plugin cannot be loaded: ") == true)
  }

  @Test func namesASignalThatDoesNotExist() throws {
    let element = try PipelineElement("identity", name: "one")
    #expect(
      message { () throws(PipelineError) in try element.connect("none") { _ in nil } } == "one has no signal “none”")
  }

  /// No element can convert a time to bytes.
  @Test func reportsThatThePipelineCannotSeek() async throws {
    let pipeline = try Pipeline("appsrc name=in ! fakesink")
    try await pipeline.play()
    do throws(PipelineError) {
      try await pipeline.seek(to: .second)
      Issue.record("it has sought")
    } catch { #expect("\(error)" == "the pipeline cannot seek there") }
    await pipeline.stop()
  }

  @Test func namesAMissingElementOfALine() {
    #expect(
      message { () throws(PipelineError) in _ = try Pipeline("fakesrc ! nosuchthing ! fakesink") }
        == "there is no element “nosuchthing”")
  }
}
