// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// What `h26x info` prints of a file.
struct MediaInfo: Sendable {
  let name: String
  let container: String
  let size: Int?
  let duration: ClockTime?
  /// Whether the duration is extrapolated from the size and the part that was read.
  let isEstimate: Bool
  /// Bits a second of the video stream, by the container or counted.
  let videoBitrate: Double?
  /// Whether the bitrate was not counted over the whole file.
  var isVideoBitrateEstimate = false
  /// The programmes of an MPEG transport stream.
  var programs: [Int] = []
  let video: StreamDetails
  let others: [StreamDetails]
  let counts: Counts?
  /// Access units that the container lists, but that are beyond the end of the file.
  var missing = 0

  /// Counts of the access units that were read.
  struct Counts: Sendable {
    var pictures = 0
    var keyframes = 0
    var bytes = 0
    var first: ClockTime?
    var end: ClockTime?
    /// Pictures without presentation time, as in AVI.
    var untimed = 0

    /// From the first picture to the end of the last.
    var duration: ClockTime? {
      guard untimed == 0, let first, let end else { return nil }
      return end - first
    }

    /// The duration of a file of this size, if the rest has the same bitrate.
    func estimate(size: Int?) -> ClockTime? {
      guard let size, bytes > 0, let duration else { return nil }
      return ClockTime(nanoseconds: UInt64(min(Double(duration.nanoseconds) * Double(size) / Double(bytes), 1e18)))
    }

    /// What was found in the stream itself, where its slices can be read.
    mutating func replace(by found: PictureCount) {
      if found.pictures > 0 { (pictures, keyframes) = (found.pictures, found.keyframes) }
    }

    mutating func add(_ sample: Sample) {
      let attributes = sample.attributes
      pictures += 1
      bytes += sample.size
      if !attributes.flags.contains(.deltaUnit) { keyframes += 1 }
      // Stream time, because the times of segments begin at different values.
      guard let time = sample.streamTime else {
        untimed += 1
        return
      }
      first = min(first ?? time, time)
      end = max(end ?? .zero, time + (attributes.duration ?? .zero))
    }
  }

  /// Reads a part of the file, or all of it for counting. Byte streams and MP4 files are read without GStreamer.
  static func read(_ input: InputFile, counting: Bool) async throws(Failure) -> MediaInfo {
    switch input.kind {
    case .other: throw Failure(input.noVideo)
    case .byteStream: return try ByteStreamInfo.read(input, counting: counting)
    case .container("MP4") where input.size != nil:
      if let info = try MP4Info.read(input, counting: counting) { return info }
    default: break
    }
    try PluginFile.load()
    return try await readPipeline(input, counting: counting)
  }

  private static func readPipeline(_ input: InputFile, counting: Bool) async throws(Failure) -> MediaInfo {
    let reader = try MediaReader(input) { stream, pipeline throws(PipelineError) in
      guard stream.codec != nil else {
        // The tags of audio come with its first samples. Subtitles may come late and are not awaited.
        guard stream.kind == "audio" else { return nil }
        // A leaky queue, because the sink blocks until the pipeline has prerolled.
        let queue = try PipelineElement("queue", ["leaky": "downstream"])
        let sink = try PipelineElement("fakesink", ["sync": false, "async": false])
        try pipeline.add(chain: queue, sink)
        return queue
      }
      let sink = try PipelineElement("appsink", name: "access-units", ["sync": false, "max-buffers": 64])
      try pipeline.add(sink)
      return sink
    }
    do throws(Failure) {
      try await reader.discover()
      let (duration, seen, isWhole) = try await count(reader, all: counting)
      guard let video = reader.video.map({ StreamDetails($0) }) else { throw Failure(input.noVideo) }
      let counts = isWhole ? seen : nil
      let exact = counts?.duration ?? duration
      let estimate = exact == nil ? seen.estimate(size: input.size) : nil
      var bitrate = video.bitrate
      if let counts, let seconds = counts.duration.map({ Double($0.nanoseconds) / 1e9 }), seconds > 0 {
        bitrate = Double(counts.bytes) * 8 / seconds
      }
      let info = MediaInfo(
        name: input.name, container: reader.containerCaps.map(Container.name) ?? "unknown", size: input.size,
        duration: exact ?? estimate, isEstimate: estimate != nil, videoBitrate: bitrate,
        isVideoBitrateEstimate: counts == nil, programs: input.programs, video: video,
        others: reader.otherStreams.map { StreamDetails($0) }, counts: counting ? counts : nil)
      await reader.pipeline.stop()
      return info
    } catch {
      await reader.pipeline.stop()
      throw error
    }
  }

  /// Counts all access units, or reads until all streams are described, 250 pictures at most.
  private static func count(
    _ reader: MediaReader, all: Bool
  ) async throws(Failure) -> (duration: ClockTime?, counts: Counts, isWhole: Bool) {
    var counts = Counts()
    var found = PictureCount()
    var duration: ClockTime?
    do throws(PipelineError) {
      var samples = try reader.pipeline.appSink("access-units").makeAsyncIterator()
      try await reader.pipeline.play()
      while let sample = try await samples.next() {
        counts.add(sample)
        if all, let codec = reader.video?.codec { try? found.add(sample, codec) }
        if duration == nil { duration = reader.pipeline.duration }
        if all { continue }
        let isDescribed = reader.otherStreams.allSatisfy { $0.kind != "audio" || $0.isDescribed }
        if counts.pictures > 250 || (reader.hasAllStreams && isDescribed && duration != nil) {
          return (duration, counts, false)
        }
      }
    } catch { throw reader.failure(error) }
    guard counts.pictures > 0 else { throw reader.nothingFound }
    found.finish()
    counts.replace(by: found)
    return (duration, counts, true)
  }
}
