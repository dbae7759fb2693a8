// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

/// Sends the text of its URI once.
private final class TextSource: PushSource {
  struct State: Sendable {
    var text: String?
    var isSent = false
    var isStarted = false
  }
  let state = Locked(State())

  override class var padTemplates: [PadTemplate] { [.source("text/x-raw, format=utf8")] }
  override class var uriHandler: URIHandler? {
    .source(of: ["testtext", "testtext+lines"]) { (element: TextSource) in
      element.state.snapshot.text.map { "testtext:\($0)" }
    } set: { element, uri throws(URIError) in
      let text = String(uri.drop { $0 != ":" }.dropFirst())
      if text == "none" { throw URIError(.badReference, "there is no text") }
      let isTaken = element.state.withLock { state in
        if !state.isStarted { state.text = text }
        return !state.isStarted
      }
      guard isTaken else { throw URIError(.badState, "another text is being sent") }
    }
  }

  override func prepareToStream() { state.withLock { ($0.isSent, $0.isStarted) = (false, true) } }
  override func stop() { state.withLock { $0.isStarted = false } }

  override func nextBuffer() throws(FlowError) -> Buffer {
    let text = state.withLock { state in
      defer { state.isSent = true }
      return state.isSent ? nil : state.text
    }
    guard let text, let buffer = Buffer(copying: Array(text.utf8).span) else { throw .endOfStream }
    return buffer
  }
}

private final class TextSink: BaseSink {
  override class var padTemplates: [PadTemplate] { [.sink("ANY")] }
  override class var uriHandler: URIHandler? {
    .sink(of: ["testtext"]) { (_: TextSink) in
      nil
    } set: { _, _ in
    }
  }
}

/// An element that declares what cannot be.
private class WrongHandler: BaseSink {
  class var protocols: [String] { [] }
  override class var padTemplates: [PadTemplate] { [.sink("ANY")] }
  override class var uriHandler: URIHandler? {
    .sink(of: protocols) { (_: WrongHandler) in
      nil
    } set: { _, _ in
    }
  }
}
private final class UpperCaseHandler: WrongHandler { override class var protocols: [String] { ["HTTP"] } }
private final class SpacedHandler: WrongHandler { override class var protocols: [String] { ["a b"] } }

@Suite(.serialized) struct URIHandlerTests {
  init() throws {
    Harness.initialise()
    try TextSource.register(as: "testtextsource", typeName: "GstTestTextSource", rank: .primary)
    try TextSink.register(as: "testtextsink", typeName: "GstTestTextSink", rank: .primary)
  }

  @Test func findsTheElementOfAURI() throws {
    let source = try PipelineElement(uri: "testtext:hello", name: "hello")
    #expect(source.kind == "testtextsource" && source.name == "hello" && source.uri == "testtext:hello")
    #expect(try PipelineElement(uri: "testtext+lines:hello").kind == "testtextsource")
    #expect(try PipelineElement(uri: "testtext:hello", for: .sink).kind == "testtextsink")
    #expect(
      Runtime.handles(uriProtocol: "testtext+lines") && !Runtime.handles(uriProtocol: "testtext+lines", for: .sink))
    #expect(!Runtime.handles(uriProtocol: "no protocol") && !Runtime.handles(uriProtocol: ""))
  }

  @Test func filesHaveURIs() throws {
    let uri = try #require(Runtime.uri(ofFile: "/tmp/a file#1"))
    #expect(uri == "file:///tmp/a%20file%231")
    let source = try PipelineElement(uri: uri)
    #expect(source.kind == "filesrc")
    #expect(try source.get("location") == "/tmp/a file#1")
    #expect(Runtime.uri(ofFile: "") == nil)
  }

  /// As playbin and its like use it.
  @Test func otherElementsUseTheHandler() async throws {
    let texts = try await samples(of: "urisourcebin uri=testtext:hello")
    #expect(try texts.map { String(decoding: try $0.copiedBytes(), as: UTF8.self) } == ["hello"])
  }

  @Test func changesTheURIOfAnElement() throws {
    let source = try PipelineElement("testtextsource")
    #expect(source.uri == nil)
    try source.setURI("testtext:one")
    #expect(source.uri == "testtext:one")
    #expect(throws: URIError(.badReference, "there is no text")) { try source.setURI("testtext:none") }
    #expect(source.uri == "testtext:one")
  }

  @Test func refusesAURIWhileDataFlows() async throws {
    let source = try PipelineElement(uri: "testtext:one")
    let pipeline = try Pipeline(linking: source, PipelineElement("fakesink"))
    try await pipeline.preroll()
    #expect(throws: URIError(.badState, "another text is being sent")) { try source.setURI("testtext:two") }
    #expect(source.uri == "testtext:one")
    await pipeline.stop()
    try source.setURI("testtext:two")
    #expect(source.uri == "testtext:two")
  }

  @Test func errorsNameWhatIsWrong() throws {
    func reason(_ body: () throws -> Void) -> URIError.Reason? {
      do { try body() } catch { return (error as? URIError)?.reason }
      return nil
    }
    #expect(reason { _ = try PipelineElement(uri: "no URI") } == .badURI)
    #expect(reason { _ = try PipelineElement(uri: "nosuchprotocol://x") } == .unsupportedProtocol)
    #expect(reason { _ = try PipelineElement(uri: "testtext:none") } == .badReference)
    let source = try PipelineElement("testtextsource")
    #expect(reason { try source.setURI("no URI") } == .badURI)
    #expect(reason { try source.setURI("file:///tmp/x") } == .unsupportedProtocol)
    let identity = try PipelineElement("identity")
    #expect(identity.uri == nil && reason { try identity.setURI("testtext:x") } == .unsupportedProtocol)
  }

  @Test func refusesAWrongDeclaration() {
    func refusal(_ type: Element.Type) -> String? {
      do throws(RegistrationError) {
        try type.register(as: "testwronghandler", typeName: "GstTestWrongHandler")
        return nil
      } catch {
        guard case .uriProtocol(let name, _) = error else { return nil }
        return name
      }
    }
    #expect(refusal(WrongHandler.self) == "")
    #expect(refusal(UpperCaseHandler.self) == "HTTP")
    #expect(refusal(SpacedHandler.self) == "a b")
  }
}
