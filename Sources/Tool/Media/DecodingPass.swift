// SPDX-License-Identifier: MPL-2.0
import GStreamer
import Synchronization

/// One pass over a file: a `MediaReader`, a decoder, elements that convert, and an appsink.
final class DecodingPass: Sendable {
  let reader: MediaReader
  private let decoder: DecoderInUse

  /// The decoder; `nil` until the stream is known.
  private final class DecoderInUse: Sendable {
    let element = Mutex<PipelineElement?>(nil)
  }

  /// - Parameter pushed: see `MediaReader`.
  init(_ input: InputFile, _ options: DecodedPictureReader.Options, pushed: Bool) throws(Failure) {
    let used = DecoderInUse()
    decoder = used
    reader = try MediaReader(input, framerate: options.framerate, pushed: pushed, countsFromTimestamps: true) {
      stream, pipeline throws(PipelineError) in
      guard let codec = stream.codec else { return nil }
      let name = options.decoder ?? "swifth\(codec.digits)dec"
      let decoder = try PipelineElement(name)
      try? decoder.set("max-threads", .int(options.threads))
      // Only H.265 has such hashes, and only its decoder of the plugin this property.
      if options.verifiesPictureHash { try? decoder.set("verify-picture-hash", true) }
      var chain = [decoder]
      for filter in options.filters { chain.append(try PipelineElement(filter.kind, filter.properties)) }
      let sink = try PipelineElement("appsink", name: "pictures", ["sync": false, "max-buffers": 4])
      // All users map pictures row by row, so that padded rows need no copy.
      sink.pad("sink")?.acceptVideoMeta()
      chain.append(sink)
      try pipeline.add(chain: chain)
      used.element.withLock { $0 = decoder }
      return decoder
    }
  }

  var pipeline: Pipeline { reader.pipeline }

  /// The decoder's statistics; `nil` for a decoder without the property `stats`.
  var decoderStatistics: Fields? { try? decoder.element.withLock { $0 }?.fields("stats") }

  /// Prerolls, and seeks to the random access point before a time that counts from the first picture.
  ///
  /// - Returns: the stream time of the first picture; `nil` when it cannot be sought.
  func seek(to time: ClockTime) async throws(Failure) -> ClockTime? {
    try await reader.preroll()
    do throws(PipelineError) {
      guard let origin = try pipeline.appSink("pictures").takePreroll()?.streamTime else { return nil }
      try await pipeline.seek(to: origin + time, [.flush, .keyUnit])
      return origin
    } catch .notSeekable { return nil } catch { throw reader.failure(error) }
  }

  /// Calls `body` for every picture until it returns false. It is called on the streaming thread, one picture at a time:
  /// waking another thread costs more than decoding a small picture.
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
        try await Progress.during(of: pipeline) { () async throws(Failure) in
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

  /// Returns false, the answer that asks for no more pictures.
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
