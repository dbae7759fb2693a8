// SPDX-License-Identifier: MPL-2.0
import Containers
import GStreamer
import H26x
import Synchronization

/// One pass over a file: a reader, a decoder, converting elements and an appsink.
final class DecodingPass: Sendable {
  let reader: any PictureSource
  private let decoder: DecoderInUse

  /// The decoder; `nil` until the stream is known.
  private final class DecoderInUse: Sendable {
    let element = Mutex<PipelineElement?>(nil)
  }

  /// - Parameters:
  ///   - part: the number of the container's part that is read, from 0.
  ///   - start: a time of the presentation at which the requested pictures begin. Earlier pictures come too.
  init(
    _ input: InputFile, _ options: DecodedPictureReader.Options, part: Int = 0, from start: ClockTime? = nil
  ) throws(Failure) {
    let used = DecoderInUse()
    decoder = used
    reader = try input.pictureSource(framerate: options.framerate, part: part, from: start) {
      codec throws(PipelineError) in
      try Self.chain(codec, options, used)
    }
  }

  /// The elements behind the parser.
  private static func chain(
    _ codec: FormatDescription.Codec, _ options: DecodedPictureReader.Options, _ used: DecoderInUse
  ) throws(PipelineError) -> [PipelineElement] {
    let decoder =
      if let name = options.decoder { try PipelineElement(name) } else { try PluginDecoder.make(codec) }
    try? decoder.set("max-threads", .int(options.threads))
    // Only H.265 has such hashes, and only its decoder of the plugin this property.
    if options.verifiesPictureHash { try? decoder.set("verify-picture-hash", true) }
    if options.verifiesSlices { try? decoder.set("verify-slices", true) }
    var chain = [decoder]
    for filter in options.filters { chain.append(try PipelineElement(filter.kind, filter.properties)) }
    let sink = try PipelineElement("appsink", name: "pictures", ["sync": false, "max-buffers": 4])
    // All users map pictures row by row, so that padded rows need no copy.
    sink.pad("sink")?.acceptVideoMeta()
    chain.append(sink)
    used.element.withLock { $0 = decoder }
    return chain
  }

  var pipeline: Pipeline { reader.pipeline }

  /// The decoder's statistics; `nil` for a decoder without the property `stats`.
  var decoderStatistics: Fields? { try? decoder.element.withLock { $0 }?.fields("stats") }

  /// Prerolls.
  ///
  /// - Returns: the stream time of the first picture; `nil` without one.
  func firstTime() async throws(Failure) -> ClockTime? {
    try await reader.preroll()
    do { return try pipeline.appSink("pictures").takePreroll()?.streamTime } catch { throw reader.failure(error) }
  }

  /// Calls `body` for every picture until it returns false. It is called on the streaming thread, one picture at a
  /// time: waking another thread costs more than decoding a small picture.
  ///
  /// - Returns: whether the stream has ended, and neither `body` nor an interruption ended it before.
  func readAll(_ body: @escaping @Sendable (Sample) throws(Failure) -> Bool) async throws(Failure) -> Bool {
    try await reader.preroll()
    let pipeline = pipeline
    let outcome = Outcome()
    var value = Outcome.Value.done
    try await Interruption.handled(
      by: {
        outcome.end(.interrupted)
        Task { await pipeline.stop() }
      },
      during: { () async throws(Failure) in
        try await Progress.during(reader.place) { () async throws(Failure) in
          let messages = pipeline.messages
          do throws(PipelineError) {
            try pipeline.appSink("pictures").onSample { sample in
              do throws(Failure) { return try body(sample) || outcome.end(.done) } catch {
                return outcome.end(.failed(error))
              }
            }
            Task { [reader] in
              do throws(PipelineError) {
                var iterator = messages.makeAsyncIterator()
                while try await iterator.next() != nil {}
                outcome.end(.endOfStream)
              } catch { outcome.end(.failed(reader.failure(error))) }
            }
            try await pipeline.play()
          } catch { throw reader.failure(error) }
          value = await outcome.value
          if case .failed(let failure) = value { throw failure }
        }
      })
    if case .endOfStream = value { return true }
    return false
  }
}

/// How reading ended: the first value counts.
private final class Outcome: Sendable {
  enum Value: Sendable {
    case done, endOfStream, interrupted
    case failed(Failure)
  }

  private let first = Mutex<Value?>(nil)
  private let ended: (stream: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation) =
    AsyncStream.makeStream()

  /// Returns false, the answer that ends the delivery of pictures.
  @discardableResult func end(_ value: Value) -> Bool {
    first.withLock { $0 = $0 ?? value }
    ended.continuation.finish()
    return false
  }

  /// Waits for the end.
  var value: Value {
    get async {
      for await _ in ended.stream {}
      return first.withLock { $0 ?? .done }
    }
  }
}
