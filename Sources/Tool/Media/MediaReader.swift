// SPDX-License-Identifier: MPL-2.0
import GStreamer
import Synchronization

/// The head of every pipeline here: a file, taken apart by `parsebin` into parsed streams.
final class MediaReader: Sendable {
  /// Says where a stream goes: an element that was added to the pipeline, `nil` to leave the stream where it is.
  /// Called on a thread of the pipeline's.
  typealias Route = @Sendable (MediaStream, Pipeline) throws(PipelineError) -> PipelineElement?

  let pipeline: Pipeline
  let input: InputFile

  private struct State {
    var streams: [MediaStream] = []
    var video: MediaStream?
    var failure: Failure?
  }
  private let state = Mutex(State())
  /// Ends when there is video, or never will be any.
  private let discovery: (stream: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation) =
    AsyncStream.makeStream()

  /// - Parameters:
  ///   - framerate: for a raw stream that does not say it.
  ///   - route: where the first H.264 or H.265 stream goes, and streams of other kinds; further video is left behind.
  init(_ input: InputFile, framerate: Fraction? = nil, route: @escaping Route) throws(Failure) {
    self.input = input
    pipeline = Pipeline()
    do throws(PipelineError) {
      let source = try input.source()
      let parse = try PipelineElement("parsebin", name: "parsebin")
      try pipeline.add(source)
      try pipeline.add(parse)
      try pipeline.link(source, parse)
      if let framerate {
        try parse.connect("element-added") { arguments in
          guard let element = arguments.element(0), element.kind.hasPrefix("swifth26") else { return nil }
          try? element.set("framerate", .fraction(framerate))
          return nil
        }
      }
      try parse.onPadAdded { [weak self] pad in self?.found(MediaStream(pad: pad), route) }
    } catch { throw Failure(error, about: input.name) }
  }

  /// All streams that were found.
  var streams: [MediaStream] { state.withLock { $0.streams } }
  /// The stream that is worked on.
  var video: MediaStream? { state.withLock { $0.video } }
  /// Streams of other kinds, and further video.
  var otherStreams: [MediaStream] {
    let (streams, video) = state.withLock { ($0.streams, $0.video) }
    return streams.filter { $0.pad.name != video?.pad.name }
  }

  /// What the file was found to be, as caps.
  var containerCaps: String? {
    guard let element = try? pipeline.element("typefind") else { return nil }
    // Quoted, as a value inside a structure would be.
    return (try? element.get("caps").string)?.filter { $0 != "\"" && $0 != "\\" }
  }

  private func found(_ stream: MediaStream, _ route: Route) {
    let isWanted = state.withLock { state in
      state.streams.append(stream)
      guard stream.codec != nil else { return stream.kind != "video" }
      guard state.video == nil else { return false }
      state.video = stream
      return true
    }
    guard isWanted else { return }
    do throws(PipelineError) {
      if let element = try route(stream, pipeline) { try stream.pad.link(to: element) }
    } catch {
      fail(Failure(error, about: input.name))
    }
    if stream.codec != nil { discovery.continuation.finish() }
  }

  /// Ends the pipeline for a reason of our own.
  func fail(_ failure: Failure) {
    state.withLock { if $0.failure == nil { $0.failure = failure } }
    discovery.continuation.finish()
    Task { [weak pipeline] in await pipeline?.stop() }
  }

  /// The failure behind an error of the pipeline.
  func failure(_ error: PipelineError) -> Failure {
    if let known = state.withLock({ $0.failure }) { return known }
    guard case .element(let failure) = error else { return Failure(error, about: input.name) }
    switch failure.error.code {
    case .stream(.typeNotFound), .stream(.wrongType), .stream(.codecNotFound), .core(.missingPlugin):
      return Failure(input.noVideo)
    default:
      // Streams that nobody wants end the demultiplexer; a short pipe ends before its type is known.
      let (streams, hasVideo) = state.withLock { ($0.streams, $0.video != nil) }
      guard !hasVideo, !streams.isEmpty || input.isRaw else { return Failure(error, about: input.name) }
      let found = streams.map { $0.codecName }.joined(separator: ", ")
      return Failure(found.isEmpty ? input.noVideo : "\(input.noVideo) (it has: \(found))")
    }
  }

  /// Reads as far as the first picture.
  func preroll() async throws(Failure) {
    try await discover()
    do { try await pipeline.preroll() } catch { throw failure(error) }
    try check()
  }

  /// Reads until it is known whether there is video.
  func discover() async throws(Failure) {
    do throws(PipelineError) {
      // A pipeline without sinks is paused at once: wait for the streams, then for what they are linked to.
      let messages = pipeline.messages
      Task { [weak self] in
        do throws(PipelineError) {
          var iterator = messages.makeAsyncIterator()
          while try await iterator.next() != nil {}
        } catch { self?.ended(error) }
        self?.discovery.continuation.finish()
      }
      try await pipeline.pause()
    } catch { throw failure(error) }
    for await _ in discovery.stream {}
    try check()
  }

  /// An element failed while nobody else listens.
  private func ended(_ error: PipelineError) {
    let failure = failure(error)
    state.withLock { if $0.failure == nil { $0.failure = failure } }
  }

  /// Starts to read.
  func play() async throws(Failure) {
    do { try await pipeline.play() } catch { throw failure(error) }
  }

  /// Reads to the end. Elements still know what they counted.
  func playToEnd() async throws(Failure) {
    do throws(PipelineError) {
      var messages = pipeline.messages.makeAsyncIterator()
      try await pipeline.play()
      while try await messages.next() != nil {}
    } catch { throw failure(error) }
    try check()
  }

  /// Throws what ended the pipeline, if something did.
  func check() throws(Failure) {
    if let failure = state.withLock({ $0.failure }) { throw failure }
    guard video != nil else { throw Failure(input.noVideo) }
  }
}
