// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// The source element of a pipeline that decodes or repackages the video track of a container.
///
/// The segment is the part that is shown. Pictures outside it, which others need, are dropped behind the decoder, as
/// they are behind a demultiplexer.
final class ContainerSource: PushSource {
  /// The stream time of the media's time 0, in nanoseconds. It leaves room for times below 0.
  static let origin: Int64 = 1_000_000_000_000_000

  private static let kind = "h26xcontainersrc"
  private static let isRegistered = (try? register(as: kind, typeName: "H26xContainerSource")) != nil

  private var reader: (any VideoTrackReader)?
  private var status = ReadingStatus()
  private var place: ProgressPlace?
  /// The last DTS and PTS of the track.
  private var (decoding, composition) = (Repetition(), Repetition())
  /// Properties of the track for queries, which come on any thread.
  private let (caps, length) = (Locked(""), Locked<ClockTime?>(nil))

  override class var padTemplates: [PadTemplate] { [.source("video/x-h264; video/x-h265")] }

  /// Makes the element. It takes the reader over.
  ///
  /// - Parameters:
  ///   - place: receives the reading position.
  ///   - clips: whether the hidden pictures are dropped behind the decoder.
  static func make(
    reading reader: any VideoTrackReader, _ status: ReadingStatus, _ place: ProgressPlace, clips: Bool
  ) throws(PipelineError) -> PipelineElement {
    _ = isRegistered
    let element = try PipelineElement(kind)
    guard let source = element.source(as: ContainerSource.self) else { throw .noSuchElement(kind) }
    (source.reader, source.status, source.place) = (reader, status, place)
    source.caps.withLock { $0 = reader.track.caps }
    source.length.withLock { $0 = reader.track.duration }
    let shown = reader.shown
    let segment = Segment.time(
      from: time(shown.start), until: shown.end.map(time), at: ClockTime(nanoseconds: UInt64(max(0, shown.time))))
    // The base class would end the stream with the first picture that is shown behind the end, whatever precedes it.
    if clips { element.pad("src")?.replaceSegments { _ in segment } }
    return element
  }

  override func prepareToStream() { setTimeFormat() }

  override func unlock() { status.stop() }
  override func unlockStop() { status.stop(false) }

  override func duration() -> ClockTime? { length.snapshot }

  override func sourceCaps(filter: borrowing Caps?) -> Caps {
    Caps(parsing: caps.snapshot) ?? super.sourceCaps(filter: filter)
  }

  /// Keeps the base class from adding the parser's preferred alignment. Each packet would then be taken for an access
  /// unit, but libavformat splits access units longer than 200 KiB over two packets.
  override func fixateCaps(_ caps: consuming Caps) -> Caps {
    guard let exact = Caps(parsing: self.caps.snapshot) else { return super.fixateCaps(caps) }
    return exact
  }

  override func nextBuffer() throws(FlowError) -> Buffer {
    guard let reader else { throw .error }
    guard !status.isStopping else { throw status.isEnding ? .endOfStream : .flushing }
    let next: VideoSample?
    do throws(Failure) { next = try reader.next() } catch {
      status.fail(error)
      post(ElementError(.resource(.read), error.message))
      throw .error
    }
    guard let sample = next else { throw status.isStopping && !status.isEnding ? .flushing : .endOfStream }
    let time = (sample.composition ?? 0) &- reader.shown.start &+ reader.shown.time
    place?.reach(time: time &+ sample.duration, bytes: reader.position)
    if let packaging = sample.packaging { begin(packaging, reader.track) }
    guard var buffer = Buffer(copying: sample.bytes.span) else { throw .error }
    // The base class of parsers takes a time that comes again for none. It continues DTS by the frame rate then.
    buffer.pts = composition.distinct(sample.composition).map(Self.time)
    buffer.dts = decoding.distinct(sample.decoding).map(Self.time)
    if sample.duration > 0 { buffer.duration = ClockTime(nanoseconds: UInt64(sample.duration)) }
    if !sample.isSync { buffer.flags.insert(.deltaUnit) }
    return buffer
  }

  private func begin(_ packaging: VideoTrack.Packaging, _ track: VideoTrack) {
    var track = track
    track.packaging = packaging
    let text = track.caps
    caps.withLock { $0 = text }
    if let caps = Caps(parsing: text) { _ = sourcePad.push(.caps(caps)) }
  }

  /// A time that may come again and again.
  private struct Repetition {
    private var time: Int64?
    /// How many samples in front of this one had it.
    private var count: Int64 = 0

    /// The time of the next sample, later by a nanosecond for each time that it came before.
    mutating func distinct(_ next: Int64?) -> Int64? {
      count = next == time ? count + 1 : 0
      time = next
      return next.map { $0 &+ count }
    }
  }

  /// A time of the media as a time of the stream.
  static func time(_ nanoseconds: Int64) -> ClockTime {
    ClockTime(nanoseconds: UInt64(max(0, nanoseconds.addingReportingOverflow(origin).partialValue)))
  }
}
