// SPDX-License-Identifier: MPL-2.0
import GStreamer
import Synchronization

/// Reads the pictures of a file: the decoder behind a `MediaReader`, and elements that convert.
final class PictureReader: Sendable {
  /// What is done to pictures, and which.
  struct Options: Sendable {
    var framerate: Fraction?
    /// Of the decoder; 0 for as many as there are processors.
    var threads: Int32 = 0
    /// The decoder; ours where nothing is said.
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
      chain.append(try PipelineElement("appsink", name: "pictures", ["sync": false, "max-buffers": 4]))
      // From the end on, so that each finds the next one ready.
      for element in chain.reversed() { try pipeline.add(element) }
      for (a, b) in zip(chain, chain.dropFirst()) { try pipeline.link(a, b) }
      used.element.withLock { $0 = decoder }
      return decoder
    }
  }

  /// What the decoder counted; `nil` for one that does not count.
  var statistics: Fields? { try? decoder.element.withLock { $0 }?.fields("stats") }

  /// Hands on every picture that is wanted, until the body answers false.
  func readAll(_ body: (Sample) throws(Failure) -> Bool) async throws(Failure) {
    try await reader.preroll()
    let pipeline = reader.pipeline
    let end = options.duration.map { (options.start ?? .zero) + $0 }
    if let start = options.start, start > .zero {
      // What cannot be sought is read, and left out below.
      do { try await pipeline.seek(to: start, until: end) } catch PipelineError.notSeekable {} catch {
        throw reader.failure(error)
      }
    }
    let stopped = Mutex(false)
    try await Interruption.handled(
      by: {
        stopped.withLock { $0 = true }
        Task { await pipeline.stop() }
      },
      during: { () async throws(Failure) in
        try await Progress.during(of: pipeline) { () async throws(Failure) in
          var samples: AppSink.Iterator
          do throws(PipelineError) {
            samples = try pipeline.appSink("pictures").makeAsyncIterator()
            try await pipeline.play()
          } catch { throw reader.failure(error) }
          while true {
            let next: Sample?
            do throws(PipelineError) { next = try await samples.next() } catch {
              if stopped.withLock({ $0 }) { return }
              throw reader.failure(error)
            }
            guard let next else { return }
            if let time = next.streamTime {
              if let start = options.start, time + (next.duration ?? .zero) <= start { continue }
              if let end, time >= end { return }
            }
            guard try body(next) else { return }
          }
        }
      })
  }

  func stop() async { await reader.pipeline.stop() }
}

/// The decoder, once the stream is known.
private final class DecoderInUse: Sendable {
  let element = Mutex<PipelineElement?>(nil)
}

extension Sample {
  /// When it is shown, counted from the beginning of the file.
  var streamTime: ClockTime? {
    guard let pts else { return nil }
    return segment?.streamTime(of: pts) ?? pts
  }
}
