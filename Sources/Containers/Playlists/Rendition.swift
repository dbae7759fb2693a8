// SPDX-License-Identifier: MPL-2.0
import AVFormat
import StreamReport

/// A stream of a playlist, in segments of its own.
final class Rendition {
  /// The sound that it has; `nil` for the video.
  let sound: StreamDescription?
  let output: MediaOutput
  private let files: SegmentFiles
  /// When its last segment begins, in nanoseconds of the presentation; `nil` before the first one.
  private var start: Int64?
  /// How many segments of the video it has passed.
  private var passed = 0

  init(
    _ target: OutputFile, _ folder: OutputFolder?, name: String, _ sound: StreamDescription? = nil
  ) throws(Failure) {
    self.sound = sound
    files = SegmentFiles(folder, name: name)
    output = try MediaOutput(target, .hls, keepsTimeCode: false, segments: files)
  }

  /// The name of its playlist.
  var playlistName: String { "\(files.name).m3u8" }
  private var initializationName: String { "\(files.name)-init.mp4" }

  /// Whether it has packets.
  var hasSegments: Bool { files.segments.contains { $0.size > 0 } }

  /// Decides whether a segment begins with the next packet of sound: where segments of the video do, or if the last
  /// one is twice as long as requested.
  ///
  /// - Parameters:
  ///   - time: of the packet, in nanoseconds of the presentation.
  ///   - starts: when segments of the video begin, but for the first one.
  ///   - duration: the requested duration of segments, in nanoseconds.
  func reach(_ time: Int64, _ starts: [Int64], _ duration: Int64) {
    var isBoundary = false
    while passed < starts.count, starts[passed] <= time &+ Window.tolerance {
      passed += 1
      isBoundary = true
    }
    if let last = start {
      guard isBoundary || time &- last >= 2 * duration else { return }
      output.endSegment()
    }
    start = time
  }

  // MARK: At the end

  /// The movie in its initialization; `nil` if it cannot be read.
  var movie: MP4.Movie? {
    let bytes = files.initialization
    guard let box = Self.movieBox(bytes) else { return nil }
    return try? MP4.Movie(Array(bytes[box.content]))
  }

  private static func movieBox(_ bytes: [UInt8]) -> MP4.Box? {
    var boxes = MP4.Boxes(bytes.span, in: bytes.indices)
    return boxes.firstIntact(FourCharacterCode("moov"))
  }

  /// Completes the sample entry of the video.
  func complete(_ extras: SampleEntryExtras) { files.completeInitialization { $0.complete(extras) } }

  /// When its segments begin, and when the last one ends, in nanoseconds of the presentation. It ends with its last
  /// packet.
  func timeline(from origin: Int64) -> SegmentTimeline {
    SegmentTimeline(files.segments, output.ticks(of: 0), from: origin)
  }

  /// When it begins, in nanoseconds of the presentation.
  var beginning: Int64 { max(0, output.ticks(of: 0).nanoseconds(files.segments.first?.start ?? 0)) }

  /// Writes its initialization and its playlist.
  ///
  /// - Parameter targetDuration: in seconds.
  func write(_ timeline: SegmentTimeline, targetDuration: Int64, isIndependent: Bool, to folder: OutputFolder)
    throws(Failure)
  {
    try folder.write(files.initialization, to: initializationName)
    let text = timeline.playlist(
      targetDuration: targetDuration, initialization: initializationName, isIndependent: isIndependent)
    try folder.write(Array(text.utf8), to: playlistName)
  }
}
