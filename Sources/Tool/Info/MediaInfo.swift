// SPDX-License-Identifier: MPL-2.0
import Containers
import GStreamer
import StreamReport

/// The description of a file that `h26x info` prints.
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
  /// Bits in the second of video with the most of them; `nil` if the file was read in part, or is shorter.
  var peakBitrate: Double?
  /// The programs of an MPEG transport stream.
  var programs: [Int] = []
  /// The numbers of the streams of programs, if they are known.
  var programStreams: [Int: [Int]] = [:]
  let video: StreamDetails
  let others: [StreamDetails]
  let counts: Counts?
  /// Access units that the container lists, but that are beyond the end of the file.
  var missing = 0
  /// The encryption of the video; `nil` if it is not encrypted.
  var encryption: String?
  /// The layers above the base layer; `nil` if there are none, and if that is not known.
  var layers: String?
  /// The metadata in the video's NAL units.
  var metadata = VideoMetadata()
  /// The media rate of an edit that is not 1, and not supported; `nil` without one.
  var otherEditRate: Double?

  /// Counts of the access units that were read.
  struct Counts: Sendable {
    var pictures = 0
    var keyframes = 0
    var bytes = 0
    var first: ClockTime?
    var end: ClockTime?
    /// Pictures without presentation time, as in AVI.
    var untimed = 0
    private var hasLastDuration = false

    init() {}
    init(pictures: Int, keyframes: Int) { (self.pictures, self.keyframes) = (pictures, keyframes) }

    /// The time from the first picture to the end of the last.
    var duration: ClockTime? {
      guard untimed == 0, let first, let end else { return nil }
      return end - first
    }

    /// The duration of a file of this size, if the rest has the same bitrate.
    func estimate(size: Int?) -> ClockTime? {
      guard let size, bytes > 0, let duration else { return nil }
      return ClockTime(nanoseconds: UInt64(min(Double(duration.nanoseconds) * Double(size) / Double(bytes), 1e18)))
    }

    /// Replaces the counts with those found in the stream itself, if its slices can be read.
    mutating func replace(by found: Counts) {
      if found.pictures > 0 { (pictures, keyframes) = (found.pictures, found.keyframes) }
    }

    /// Counts a picture as a report does, the same whatever the stream is in: frames, and fields without a second one.
    mutating func add(_ accessUnit: AccessUnitRecord) {
      guard accessUnit.letter != nil else { return }
      if !accessUnit.isSecondField { pictures += 1 }
      if accessUnit.keyframe != .none { keyframes += 1 }
    }

    /// Notes the times of an access unit.
    mutating func add(_ sample: AccessUnitRecord.Sample?) {
      guard let sample, let pts = UInt64(exactly: sample.pts) else {
        untimed += 1
        return
      }
      let time = ClockTime(nanoseconds: pts)
      first = min(first ?? time, time)
      if end.map({ time + ClockTime(nanoseconds: UInt64(sample.duration)) > $0 }) ?? true {
        end = time + ClockTime(nanoseconds: UInt64(sample.duration))
        hasLastDuration = sample.duration > 0
      }
    }

    /// Adds the duration of the last picture if the container has none. It is the duration of a frame, in
    /// nanoseconds, or else the average.
    mutating func complete(frameDuration: Double?) {
      guard !hasLastDuration, let first, let end, pictures > 1 else { return }
      let average = Double((end - first).nanoseconds) / Double(pictures - 1)
      self.end = end + ClockTime(nanoseconds: UInt64((frameDuration ?? average).rounded()))
      hasLastDuration = true
    }
  }

  /// Reads a part of the file, or all of it for counting.
  ///
  /// - Parameter place: receives how far the file was read for counting.
  static func read(
    _ input: InputFile, counting: Bool, _ place: ProgressPlace
  ) throws(Failure) -> MediaInfo {
    switch input.kind {
    case .other, .unknown: throw Failure(input.noVideo)
    case .byteStream: return try ByteStreamInfo.read(input, counting: counting, place)
    case .container(.mp4) where input.size != nil:
      if let info = try MP4Info.read(input, counting: counting, place) { return info }
    default: break
    }
    return try ContainerInfo.read(input, counting: counting, place)
  }
}
