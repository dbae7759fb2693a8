// SPDX-License-Identifier: MPL-2.0
package import GStreamer
import H26x
import StreamReport
import Synchronization

/// The first part of a pipeline that reads a byte stream, or plays any file: `parsebin` demultiplexes it into parsed
/// streams. The file's type is set explicitly. A type that `parsebin` recognizes itself may name other files and
/// addresses, which it would open.
package final class MediaReader: PictureSource {
  /// Returns the element to link a stream to, already added to the pipeline; `nil` to leave the stream unlinked, or
  /// when the route has linked it itself. Called on a streaming thread.
  package typealias Route = @Sendable (MediaStream, Pipeline) throws(PipelineError) -> PipelineElement?

  package let pipeline: Pipeline
  package let input: InputFile

  private struct State {
    var streams: [MediaStream] = []
    var video: MediaStream?
    var failure: Failure?
    /// The source, and the elements in `parsebin`.
    var parts: [PipelineElement] = []
    /// The parser of the video.
    var parser: PipelineElement?
    /// The demultiplexer has emitted no-more-pads; `parsebin` may still have to expose some.
    var isComplete = false
    /// The codec of the first pad that has H.264 or H.265. The stream need not have any data.
    var codec: FormatDescription.Codec?
    var hasDiscovered = false
  }
  private let state = Mutex(State())
  /// Ends when there is video, or when it is known that there is none.
  private let discovery: (stream: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation) =
    AsyncStream.makeStream()

  /// - Parameters:
  ///   - framerate: the frame rate of a byte stream that has none.
  ///   - route: called for the first H.264 or H.265 stream and for streams of other kinds; further video is not linked.
  /// - Throws: a `Failure` if the file is neither a byte stream nor a supported container.
  package init(
    _ input: InputFile, framerate: Fraction? = nil, route: @escaping Route
  ) throws(Failure) {
    guard let caps = input.caps else { throw Failure(input.noVideo) }
    self.input = input
    pipeline = Pipeline()
    place = ProgressPlace(of: pipeline)
    do throws(PipelineError) {
      let source = try input.source()
      let parse = try PipelineElement("parsebin", name: "parsebin")
      // Without typefind, which would also load every plugin that has a type finder, some with a hundred libraries.
      try parse.set("sink-caps", .string(caps))
      state.withLock { $0.parts.append(source) }
      try pipeline.add(source)
      try pipeline.add(parse)
      try pipeline.link(source, parse)
      try parse.connect("element-added") { [weak self] arguments in
        guard let element = arguments.element(0) else { return nil }
        self?.state.withLock { $0.parts.append(element) }
        _ = try? element.onPadAdded { [weak self] pad in
          var codec: FormatDescription.Codec?
          if let caps = pad.currentCaps { codec = FormatDescription.Codec(mediaType: caps.first.name) }
          self?.state.withLock { [codec] state in state.codec = state.codec ?? codec }
        }
        _ = try? element.connect("no-more-pads") { [weak self] _ in
          self?.state.withLock { $0.isComplete = true }
          return nil
        }
        if element.kind.hasPrefix("swifth26") {
          self?.state.withLock { $0.parser = $0.parser ?? element }
          if let framerate { try? element.set("framerate", .fraction(framerate)) }
        }
        return nil
      }
      try parse.onPadAdded { [weak self] pad in self?.found(MediaStream(pad: pad), route) }
    } catch { throw Failure(error, about: input.name) }
  }

  /// All streams that `parsebin` has exposed.
  package var streams: [MediaStream] { state.withLock { $0.streams } }
  package let place: ProgressPlace
  package var hasSought: Bool { false }
  package var parts: [ShownRange] { [] }
  package var remark: String { "" }
  package var parser: PipelineElement? { state.withLock { $0.parser } }
  /// The first H.264 or H.265 stream.
  package var video: MediaStream? { state.withLock { $0.video } }
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

  /// Stops the pipeline, and makes this its failure, unless it has one.
  package func fail(_ failure: Failure) {
    state.withLock { if $0.failure == nil { $0.failure = failure } }
    discovery.continuation.finish()
    Task { [weak pipeline] in await pipeline?.stop() }
  }

  /// The message for an error of the pipeline.
  package func failure(_ error: PipelineError) -> Failure {
    if let known = state.withLock({ $0.failure }) { return known }
    guard case .element(let failure) = error else { return Failure(error, about: input.name) }
    switch failure.error.code {
    case .stream(.wrongType): return nothingFound
    case .stream(.typeNotFound), .stream(.codecNotFound), .core(.missingPlugin):
      // If there is video, the decoder's reason is more specific.
      return video == nil ? nothingFound : Failure(error, about: input.name)
    default:
      // A demultiplexer without linked pads posts an error; a pipe may end before its type is known.
      let (streams, hasVideo) = state.withLock { ($0.streams, $0.video != nil) }
      if hasVideo { return Failure(error, about: input.name) }
      // Neither lists the streams.
      let isUnhelpful = streams.isEmpty && ["qtdemux", "tsdemux"].contains(failure.kind)
      if isUnhelpful, case .container = input.kind {
        return input.mp4Failure
          ?? Failure("\(input.name): \(input.containerName) that is cut off, or without H.264 or H.265 video")
      }
      return !streams.isEmpty || input.isRaw ? nothingFound : input.mp4Failure ?? Failure(error, about: input.name)
    }
  }

  /// The message that there is no H.264 or H.265 video, with the streams that were found.
  var nothingFound: Failure {
    if let codec = state.withLock({ $0.video?.codec ?? $0.codec }) {
      return input.mp4Failure ?? input.noPicture(codec)
    }
    let names = streams.map { $0.codecName }
    let found = names.joined(separator: ", ")
    let remedy = ElementPackage.remedy(forMediaTypes: names)
    return input.mp4Failure ?? Failure(found.isEmpty ? input.noVideo : "\(input.noVideo) (it has: \(found))\(remedy)")
  }

  /// Prerolls the pipeline.
  package func preroll() async throws(Failure) {
    try await discover()
    do { try await pipeline.preroll() } catch { throw failure(error) }
    try check()
  }

  /// Pauses the pipeline, and waits until it is known whether there is video.
  ///
  /// - Throws: a `Failure` when there is none.
  func discover() async throws(Failure) {
    let isFirst = state.withLock { state in
      defer { state.hasDiscovered = true }
      return !state.hasDiscovered
    }
    guard isFirst else { return try check() }
    do throws(PipelineError) {
      // A pipeline without sinks is PAUSED immediately, so the streams must be waited for here.
      let (messages, end) = (pipeline.messages, discovery.continuation)
      Task { [weak self] in
        do throws(PipelineError) {
          var iterator = messages.makeAsyncIterator()
          while try await iterator.next() != nil {}
        } catch { self?.ended(error) }
        end.finish()
      }
      try await pipeline.pause()
    } catch { throw failure(error) }
    let watch = Task { [weak self] in await self?.watchForStandstill() }
    defer { watch.cancel() }
    for await _ in discovery.stream {}
    try check()
  }

  /// Ends the wait for video when no message will: after two seconds with all streams announced and no video, or after
  /// five with every streaming thread paused. `parsebin` has no signal that it has exposed all pads, and it may miss a
  /// no-more-pads of its demultiplexer.
  private func watchForStandstill() async {
    var (still, without) = (0, 0)
    while still < 50, without < 20 {
      try? await Task.sleep(for: .milliseconds(100))
      if Task.isCancelled { return }
      let (parts, isComplete) = state.withLock { ($0.parts, $0.isComplete && !$0.streams.isEmpty && $0.video == nil) }
      // In pull mode the demultiplexer's sink pad has the thread, in push mode the source's pad.
      let threads = parts.flatMap { part in ["sink", "src"].compactMap { part.pad($0)?.thread } }
      still = threads.contains(.paused) && !threads.contains(.running) ? still + 1 : 0
      without = isComplete ? without + 1 : 0
    }
    fail(nothingFound)
  }

  /// Keeps an error that was posted while only `discover` listened.
  private func ended(_ error: PipelineError) {
    let failure = failure(error)
    state.withLock { if $0.failure == nil { $0.failure = failure } }
  }

  package func end() { Task { [pipeline] in try? await pipeline.finish() } }

  package func begin() async throws(Failure) { try await discover() }

  package func playToEnd() async throws(Failure) { try await playToEnd {} }

  /// Plays to the end of the stream. The pipeline is not stopped, so elements keep their statistics.
  ///
  /// - Parameter begun: called once the pipeline was set to play.
  package func playToEnd(_ begun: () -> Void) async throws(Failure) {
    try await discover()
    do throws(PipelineError) {
      var messages = pipeline.messages.makeAsyncIterator()
      try await pipeline.play()
      begun()
      while try await messages.next() != nil {}
    } catch { throw failure(error) }
    try check()
  }

  /// Throws the failure, if there is one, or that there is no video.
  package func check() throws(Failure) {
    if let failure = state.withLock({ $0.failure }) { throw failure }
    guard video != nil else { throw nothingFound }
  }
}

extension InputFile {
  /// The caps of the file's bytes; `nil` for unsupported formats.
  fileprivate var caps: String? {
    switch kind {
    case .byteStream(let codec, _): "\(codec.mediaType), stream-format=(string)\(codec.syntax.byteStreamFormat)"
    case .container(.mp4): "video/quicktime"
    case .container(.matroska): "video/x-matroska"
    case .container(.flv): "video/x-flv"
    case .container(.avi): "video/x-msvideo"
    case .container(.mpegTS): "video/mpegts, systemstream=(boolean)true"
    case .container(.mpegPS): "video/mpeg, mpegversion=(int)2, systemstream=(boolean)true"
    case .other, .unknown: nil
    }
  }
}
