// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import Synchronization

/// Reads a transport or program stream in which some pictures have no time. The container's times are left out, so
/// the parser derives all times from the order of pictures and the frame rate.
final class OrderedVideoReader: VideoTrackReader {
  private let reader: ContainerVideoReader
  private var ahead: VideoSample?
  let track: VideoTrack
  let known: KnownTimes

  /// The times that the container has, in nanoseconds of the media.
  final class KnownTimes: Sendable {
    /// The time of the first picture in decoding order.
    let first: Int64
    /// The latest time of any picture.
    var latest: Int64 { last.load(ordering: .relaxed) }
    private let last: Atomic<Int64>

    init(first: Int64) {
      self.first = first
      last = Atomic(first)
    }

    func add(_ time: Int64) { last.max(time, ordering: .relaxed) }
  }

  /// - Parameter frameRate: the frame rate of a stream that has none.
  /// - Returns: `nil` if the first picture has no time.
  init?(_ reader: ContainerVideoReader, frameRate: Fraction?) throws(Failure) {
    guard let sample = try reader.next(), let time = sample.composition else { return nil }
    (self.reader, ahead, known) = (reader, sample, KnownTimes(first: time))
    var track = reader.track
    track.framerate = track.framerate ?? frameRate
    self.track = track
  }

  var shown: ShownRange { reader.shown }
  var hidesFront: Bool { reader.hidesFront }
  var parts: [ShownRange] { reader.parts }
  var beginning: Int64? { reader.beginning }
  var position: Int64 { reader.position }

  func readAllMedia() { reader.readAllMedia() }

  // There is no index.
  func seek(to time: ClockTime) -> Bool { false }

  func next() throws(Failure) -> VideoSample? {
    let next = if let sample = ahead.take() { sample } else { try reader.next() }
    guard var sample = next else { return nil }
    if let time = sample.composition { known.add(time) }
    (sample.composition, sample.decoding) = (nil, nil)
    return sample
  }
}
