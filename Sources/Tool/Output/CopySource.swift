// SPDX-License-Identifier: MPL-2.0
import AVFormat
import GStreamer

/// A container that is copied.
struct CopySource {
  let file: ContainerFile
  let video: any VideoTrackReader
  /// The same, if its times are derived from the order of pictures.
  let ordered: OrderedVideoReader?
  /// `nil` if libavformat does not read the container.
  let otherStreams: OtherStreams?
  /// Why it does not.
  let refusal: Failure?
  let times: CopyTimes
  /// The part of the video reader's presentation that is kept.
  let cut: Cut?
  /// There is no way to the place at which reading should begin.
  private(set) var isMissed = false

  /// - Parameters:
  ///   - place: the place at which reading begins, in nanoseconds of the media; `nil` for the beginning.
  ///   - ordersPictures: whether all times are derived from the order of pictures.
  ///   - frameRate: the frame rate for derived times, if the stream has none.
  init(
    _ input: InputFile, _ cut: Cut?, from place: Int64?, ordersPictures: Bool, frameRate: Fraction?
  ) throws(Failure) {
    file = try ContainerFile(input, ReadingStatus())
    // Before the video is read on, because a pipe is read once.
    do throws(Failure) {
      (otherStreams, refusal) = (try OtherStreams(file), nil)
    } catch {
      guard input.selection.isEmpty else { throw error }
      (otherStreams, refusal) = (nil, error)
    }
    let first = try ContainerReader.reader(file)
    let (reader, within): (any VideoTrackReader, Cut?) =
      if let cut { try Self.reader(file, first, cut) } else { (first, nil) }
    self.cut = within
    ordered =
      if ordersPictures, let container = reader as? ContainerVideoReader {
        try OrderedVideoReader(container, frameRate: frameRate)
      } else {
        nil
      }
    video = ordered ?? reader
    var times = CopyTimes(shown: video.shown)
    times.hidesFront = video.hidesFront
    if video.parts.count > 1, cut == nil {
      (times.shown, times.parts) = (nil, video.parts)
      video.readAllMedia()
    }
    if let beginning = video.beginning {
      let start = otherStreams?.context.start.map { $0 &* 1000 } ?? beginning
      times.zero = min(beginning, start)
      times.shown = ShownRange(start: times.zero, end: nil, time: 0)
    }
    times.timeBase = video.track.timescale.flatMap { TimeBase(1, $0) }
    if video.track.isFramerateStated {
      times.frameRate = video.track.framerate.flatMap { TimeBase($0.numerator, $0.denominator) }
    }
    self.times = times
    guard let place else { return }
    let time = place &- video.shown.start &+ video.shown.time
    isMissed = try !video.seek(to: ClockTime(positive: time)) || otherStreams?.seek(to: time) == false
  }

  /// Reads the part of an edit list that a cut is in, if there are several parts.
  private static func reader(
    _ file: ContainerFile, _ first: any VideoTrackReader, _ cut: Cut
  ) throws(Failure) -> (any VideoTrackReader, Cut) {
    let parts = first.parts
    guard let origin = parts.first?.time, parts.count > 1 else { return (first, cut) }
    let place = parts.lastIndex { $0.time - origin <= cut.start } ?? 0
    let part = parts[place]
    var within = cut
    within.offset = part.time - origin
    within.start -= within.offset
    within.end = cut.end.map { $0 - within.offset }
    if let length = part.end.map({ $0 - part.start }) {
      guard within.start < length, within.end ?? .max <= length || place == parts.count - 1 else {
        throw Failure(
          "\(file.input.name): its edit list shows \(Text.count(parts.count, "part")); a cut must be within one of them"
        )
      }
    }
    return (try ContainerReader.reader(file, part: place), within)
  }
}
