// SPDX-License-Identifier: MPL-2.0
import AVFormat
import GStreamer

/// A container that is copied: its video, and its other streams.
struct CopySource {
  let file: ContainerFile
  let video: any VideoTrackReader
  /// The times that the container has, if those of the copy are derived from the order of pictures.
  let known: KnownTimes?
  /// `nil` if libavformat does not read the container.
  let otherStreams: OtherStreams?
  /// Why it does not.
  let refusal: Failure?

  /// A source, the part of its video that is kept, and the times of that part.
  typealias Opened = (source: CopySource, window: Window, times: PresentationTimes)

  /// Opens the container at the place that the plan has for a range.
  ///
  /// - Throws: `CopyRefusal.missed` if there is no way to that place.
  static func open(_ plan: CopyPlan, _ range: CopyPlan.Range) throws(CopyRefusal) -> Opened {
    do throws(Failure) {
      let opened = try openAtFront(plan, range)
      guard case .near(let place, _) = range.start else { return opened }
      let video = opened.source.video
      let time = place &- video.shown.start &+ video.shown.time
      if try video.seek(to: ClockTime(positive: time)), opened.source.otherStreams?.seek(to: time) != false {
        return opened
      }
    } catch { throw .failure(error) }
    throw .missed
  }

  private static func openAtFront(_ plan: CopyPlan, _ range: CopyPlan.Range) throws(Failure) -> Opened {
    let input = plan.input(of: range)
    let file = try ContainerFile(input, ReadingStatus())
    // Before the video is read on, because a pipe is read once.
    let (otherStreams, refusal): (OtherStreams?, Failure?)
    do throws(Failure) {
      (otherStreams, refusal) = (try OtherStreams(file), nil)
    } catch {
      guard input.selection.isEmpty else { throw error }
      (otherStreams, refusal) = (nil, error)
    }
    let (video, bounds) = try reader(file, range.bounds)
    let container = video as? ContainerVideoReader
    if plan.ordersPictures { try container?.leaveTimesOut(frameRate: plan.framerate) }
    let source = CopySource(
      file: file, video: video, known: container?.known, otherStreams: otherStreams, refusal: refusal)
    let dropsFront = video.hidesFront && !plan.hasEditList
    guard video.parts.count <= 1 || bounds != nil else {
      video.readAllMedia()
      return (source, Window(parts: video.parts, dropsFront: dropsFront), PresentationTimes())
    }
    var shown = video.shown
    if let beginning = video.beginning {
      let start = otherStreams?.context.start.map { $0 &* 1000 } ?? beginning
      shown = ShownRange(start: min(beginning, start), end: nil, time: 0)
    }
    let origin: Int64? = if case .near(_, let origin) = range.start { origin } else { nil }
    // Access units of a byte stream need no times.
    let isWhole = plan.container == .annexb && bounds == nil && !dropsFront && shown.end == nil
    return (
      source, Window(bounds, of: isWhole ? nil : shown, dropsFront: dropsFront, origin: origin),
      PresentationTimes(shift: video.shift, countsFromFirst: video.beginning != nil)
    )
  }

  /// The reader of a video, and the requested bounds: of the part of an edit list that they are in, if it has several.
  static func reader(
    _ file: ContainerFile, _ bounds: Window.Bounds?
  ) throws(Failure) -> (any VideoTrackReader, Window.Bounds?) {
    let first = try ContainerReader.reader(file)
    guard let bounds, first.parts.count > 1 else { return (first, bounds) }
    let (part, within) = try Self.bounds(bounds, within: first.parts, of: file.input)
    return (try ContainerReader.reader(file, part: part), within)
  }

  /// The bounds within one of several parts that an edit list shows.
  static func bounds(
    _ bounds: Window.Bounds, within parts: [ShownRange], of input: InputFile
  ) throws(Failure) -> (part: Int, bounds: Window.Bounds) {
    guard let within = bounds.within(parts) else {
      throw Failure(
        "\(input.name): its edit list shows \(Text.count(parts.count, "part")); a cut must be within one of them")
    }
    return within
  }

  /// Ticks that hold the source's times exactly; `nil` if they are not known.
  var timeBase: TimeBase? { video.track.timescale.flatMap { TimeBase(1, $0) } }

  /// The frame rate that the source's container states; `nil` for none.
  var frameRate: TimeBase? {
    let track = video.track
    return track.isFramerateStated ? track.framerate.flatMap { TimeBase($0.numerator, $0.denominator) } : nil
  }
}

extension VideoTrackReader {
  /// How much later than the composition of a picture the media of other streams are that belong to it, in nanoseconds.
  package var shift: Int64 { beginning == nil ? shown.time &- shown.start : 0 }
}

extension ClockTime {
  /// A time in nanoseconds; 0 for one below.
  init(positive nanoseconds: Int64) { self.init(nanoseconds: UInt64(max(0, nanoseconds))) }
}
