// SPDX-License-Identifier: MPL-2.0
import GStreamer
import Synchronization

/// Reads the pictures of a file: a `MediaReader`, a decoder, elements that convert, and an appsink.
final class PictureReader: Sendable {
  /// The decoder's settings, the elements behind it, and the range of time.
  struct Options: Sendable {
    var framerate: Fraction?
    /// The decoder's threads; 0 for one per processor.
    var threads: Int32 = 0
    /// The decoder element; `nil` for the plugin's.
    var decoder: String?
    /// Elements between decoder and sink, each with its properties.
    var filters: [(kind: String, properties: KeyValuePairs<String, FieldValue>)] = []
    var start: ClockTime?
    var duration: ClockTime?
  }

  let reader: MediaReader
  private let options: Options
  private let decoder: DecoderInUse

  init(_ input: InputFile, _ options: Options) throws(Failure) {
    self.options = options
    let used = DecoderInUse()
    decoder = used
    reader = try MediaReader(input, framerate: options.framerate) { stream, pipeline throws(PipelineError) in
      guard let codec = stream.codec else { return nil }
      let name = options.decoder ?? "swifth\(codec.digits)dec"
      let decoder = try PipelineElement(name)
      try? decoder.set("max-threads", .int(options.threads))
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

  /// The decoder's statistics; `nil` for a decoder without the property `stats`.
  var statistics: Fields? { try? decoder.element.withLock { $0 }?.fields("stats") }

  /// Calls `body` for every picture in the range of time, until it returns false. It is called on the streaming thread,
  /// one picture at a time: waking another thread costs more than decoding a small picture.
  func readAll(_ body: @escaping @Sendable (Sample) throws(Failure) -> Bool) async throws(Failure) {
    try await reader.preroll()
    let pipeline = reader.pipeline
    let (start, end) = (options.start, options.duration.map { (options.start ?? .zero) + $0 })
    if let start, start > .zero {
      // Where the source is not seekable, the pictures before are decoded and skipped below.
      do { try await pipeline.seek(to: start, until: end) } catch PipelineError.notSeekable {} catch {
        throw reader.failure(error)
      }
    }
    let outcome = Outcome()
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
              if let time = sample.streamTime {
                if let start, time + (sample.duration ?? .zero) <= start { return true }
                if let end, time >= end { return outcome.end(.done) }
              }
              do throws(Failure) { return try body(sample) || outcome.end(.done) } catch {
                return outcome.end(.failed(error))
              }
            }
            Task { [reader] in
              do throws(PipelineError) {
                var iterator = messages.makeAsyncIterator()
                while try await iterator.next() != nil {}
                outcome.end(.done)
              } catch { outcome.end(.failed(reader.failure(error))) }
            }
            try await pipeline.play()
          } catch { throw reader.failure(error) }
          if case .failed(let failure) = await outcome.value { throw failure }
        }
      })
  }

  func stop() async { await reader.pipeline.stop() }
}

/// How reading ended: the first value counts.
private final class Outcome: Sendable {
  enum Value: Sendable {
    case done, interrupted
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

/// The decoder; `nil` until the stream is known.
private final class DecoderInUse: Sendable {
  let element = Mutex<PipelineElement?>(nil)
}

extension Sample {
  /// The stream time of its PTS: its time since the beginning of the file.
  var streamTime: ClockTime? {
    guard let pts else { return nil }
    return segment?.streamTime(of: pts) ?? pts
  }
}
