// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// What `h26x info` says of a file.
struct MediaInfo {
  let name: String
  let container: String
  let size: Int?
  let duration: ClockTime?
  /// Bits a second of the video stream, as the container says it or as it was counted.
  let videoBitrate: Double?
  let video: MediaStream
  let others: [MediaStream]
  let counts: Counts?

  /// What was counted.
  struct Counts {
    var pictures = 0
    var keyframes = 0
    var bytes = 0
    var first: ClockTime?
    var end: ClockTime?

    /// From the first picture to the end of the last.
    var duration: ClockTime? {
      guard let first, let end else { return nil }
      return end - first
    }

    mutating func add(_ sample: Sample) {
      let attributes = sample.attributes
      pictures += 1
      bytes += sample.size
      if !attributes.flags.contains(.deltaUnit) { keyframes += 1 }
      guard let pts = attributes.pts else { return }
      first = min(first ?? pts, pts)
      end = max(end ?? .zero, attributes.end ?? pts)
    }
  }

  /// Reads as little as it can, or everything, and has it put into words while the streams are there.
  static func read(
    _ input: InputFile, counting: Bool, _ words: (MediaInfo) -> String
  ) async throws(Failure) -> String {
    let reader = try MediaReader(input) { stream, pipeline throws(PipelineError) in
      guard stream.codec != nil else { return nil }
      let sink = try PipelineElement("appsink", name: "units", ["sync": false, "max-buffers": 64])
      try pipeline.add(sink)
      return sink
    }
    do throws(Failure) {
      try await reader.preroll()
      guard let video = reader.video else { throw Failure(input.noVideo) }
      let duration = reader.pipeline.duration
      let counts = counting ? try await count(reader) : nil
      let exact = counts?.duration ?? duration
      var bitrate = (video.tag("bitrate") ?? video.tag("nominal-bitrate"))?.number
      if let counts, let seconds = counts.duration.map({ Double($0.nanoseconds) / 1e9 }), seconds > 0 {
        bitrate = Double(counts.bytes) * 8 / seconds
      }
      let info = MediaInfo(
        name: input.name, container: reader.containerCaps.map(Container.name) ?? "unknown", size: input.size,
        duration: exact, videoBitrate: bitrate, video: video, others: reader.otherStreams, counts: counts)
      let text = words(info)
      await reader.pipeline.stop()
      return text
    } catch {
      await reader.pipeline.stop()
      throw error
    }
  }

  private static func count(_ reader: MediaReader) async throws(Failure) -> Counts {
    var counts = Counts()
    do throws(PipelineError) {
      let sink = try reader.pipeline.appSink("units").makeAsyncIterator()
      var samples = sink
      try await reader.pipeline.play()
      while let sample = try await samples.next() { counts.add(sample) }
    } catch { throw reader.failure(error) }
    return counts
  }
}
