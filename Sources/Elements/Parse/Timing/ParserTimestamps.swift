// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// Stage: the timestamps of the output.
///
/// Upstream's are kept. A raw stream, which has none, gets them from picture order count and frame rate. If upstream
/// gives only PTS, DTS are derived from them.
struct ParserTimestamps<Codec: ParserCodec>: Sendable {
  /// Upstream's segment is in time.
  private var isUpstreamInTime = false
  /// Upstream has given presentation or decoding timestamps.
  private var hasUpstreamTimes = false
  /// Upstream has given decoding timestamps.
  private var hasUpstreamDecodingTimes = false
  /// Upstream's DTS come from a container that has none below 0, which clamps them to 0.
  private var areDecodingTimesSqueezed = false
  /// Generates the times of a raw stream.
  private var timeline = Codec.Timeline()
  /// After a seek in a raw stream: the base class puts its position on the first buffer, on its way out.
  private var awaitsPosition = false
  /// The base class has the time of that buffer.
  private var isPositionKnown = false
  /// The generated times of the first picture after a seek.
  private var firstAfterSeek: PresentationTimes?
  /// A buffering period has begun: DTS can count from there.
  private var hasBufferingPeriod = false
  /// The timestamps that the NAL units of one access unit share.
  private var accessUnitTimes: (pts: ClockTime?, dts: ClockTime?, rebuilt: Int64?) = (nil, nil, nil)
  private var rebuilder: DecodingTimeRebuilder?
  private(set) var shift = SegmentShift()

  // MARK: Events

  /// The next data need not continue what came before.
  ///
  /// - Parameters:
  ///   - awaitingPosition: whether it is elsewhere than at the start of the stream.
  ///   - isPositionKnown: whether the base class has its time.
  mutating func forgetPosition(awaitingPosition: Bool, isPositionKnown: Bool = false) {
    let before = self
    self = ParserTimestamps<Codec>()
    isUpstreamInTime = before.isUpstreamInTime
    hasBufferingPeriod = before.hasBufferingPeriod
    shift = before.shift
    awaitsPosition = awaitingPosition
    self.isPositionKnown = isPositionKnown
  }

  /// FLUSH_STOP has passed.
  mutating func flush() {
    forgetPosition(awaitingPosition: false)
    shift.flush()
  }

  /// A new stream begins.
  mutating func beginStream() { shift.beginStream() }

  /// Upstream begins a segment.
  mutating func beginSegment(_ segment: Segment?, sequenceNumber: UInt32) {
    let isInTime = segment?.isTime ?? false
    forgetPosition(awaitingPosition: !isInTime && (segment?.start ?? 0) > 0)
    isUpstreamInTime = isInTime
    shift.beginSegment(isInTime && (segment?.rate ?? 0) > 0, sequenceNumber: sequenceNumber)
  }

  // MARK: Upstream's times

  /// Notes from an input buffer which times upstream provides.
  mutating func notice(_ snapshot: InputSnapshot) {
    // Byte sources put a time of 0 on the first buffer, which means nothing.
    let hasDecodingTime = snapshot.attributes.dts != nil && isUpstreamInTime
    let hasPresentationTime = snapshot.attributes.pts.map { isUpstreamInTime || $0 > .zero } ?? false
    if hasPresentationTime && !snapshot.isPulling || hasDecodingTime { hasUpstreamTimes = true }
    if hasDecodingTime { hasUpstreamDecodingTimes = true }
  }

  /// Whether the stream is a raw one whose timestamps are generated here.
  @inline(__always) func areMade(for input: ParserInputFormat<Codec>, _ playback: Playback) -> Bool {
    guard input.isByteStream, !hasUpstreamTimes else { return false }
    // In reverse, the base class reads forward from the place it sought. The time of that place is known at the start
    // of the file and at the keyframes of its index.
    guard playback.isForward else { return isUpstreamInTime ? false : !awaitsPosition || isPositionKnown }
    return isUpstreamInTime ? playback.isNormalFromStart : true
  }

  /// The current picture is one of a raw stream, with known times.
  var hasPicture: Bool { timeline.hasPicture }

  // MARK: Looking at the order of pictures

  /// Reads the POC of the current picture, in a raw stream.
  ///
  /// - Parameters:
  ///   - bytes: the data, starting at the access unit.
  ///   - size: the offset of the next access unit.
  ///   - isComplete: whether no more data comes.
  ///   - mayWait: whether later data is there already, so that reading it takes no time.
  /// - Returns: whether enough is known; else the access unit waits for more data.
  mutating func readOrder(
    of accessUnit: inout ParsedAccessUnit<Codec>, _ bytes: Span<UInt8>, size: Int,
    _ scanner: borrowing Codec.Scanner, rate: Ratio?, isComplete: Bool, mayWait: Bool
  ) -> Bool {
    guard let slice = accessUnit.scanned.slice else { return true }
    let isContinued = accessUnit.readOrder()
    let generation = scanner.parameterSetChanges
    timeline.fieldPeriods = accessUnit.sei.display.fieldPeriods
    timeline.mayWait = mayWait
    if !isContinued, timeline.read(slice, rate: rate, generation: generation) { return true }
    return timeline.read(
      slice, isContinued: isContinued, endsSequence: accessUnit.scanned.contents.contains(.endOfSequence), rate: rate,
      parameterSets: scanner.parameterSets, generation: generation, lookingAt: bytes, from: size,
      isComplete: isComplete)
  }

  // MARK: On the way to the base class

  /// Gives an access unit the times that upstream gave, and those that it did not give, as far as they are known.
  mutating func setTimes(
    of accessUnit: inout ParsedAccessUnit<Codec>, _ upstream: Buffer.Attributes, _ timing: StreamTiming,
    input: ParserInputFormat<Codec>, _ playback: Playback, sharesTimes: Bool, needsDecodingTimes: Bool
  ) {
    accessUnit.attributes = upstream
    if hasUpstreamTimes {
      if needsDecodingTimes { rebuildDecodingTime(of: &accessUnit, timing, playback) }
    } else if areMade(for: input, playback) {
      // The base class has put the PTS of the file's first buffer there, or nothing in its first run.
      accessUnit.attributes.pts = nil
      if let made = timeline.takeTimes() {
        set(&accessUnit.attributes, made)
      } else if !sharesTimes, let end = timeline.endOfPictures {
        // Muxers need a time with each access unit.
        accessUnit.attributes.pts = ClockTime(nanoseconds: end)
      } else if startsCountingDecodingTimes(at: accessUnit), accessUnit.attributes.dts == nil {
        accessUnit.attributes.dts = .zero
      }
    }
    if sharesTimes { share(&accessUnit) }
    if accessUnit.scanned.contents.contains(.endOfSequence) { timeline.endSequence() }
    if accessUnit.attributes.duration == nil { accessUnit.attributes.duration = duration(of: accessUnit, timing) }
  }

  /// The display duration of an access unit: nil if unknown, zero if no picture begins in it.
  @inline(__always) func duration(of accessUnit: ParsedAccessUnit<Codec>, _ timing: StreamTiming) -> ClockTime? {
    guard accessUnit.beginsPicture else { return .zero }
    let fields = accessUnit.sei.display.fieldPeriods ?? accessUnit.scanned.fieldPeriods
    // Demuxers guess the frame rate; the encoder gives the ticks.
    if hasUpstreamTimes, !timing.isTickBeyondLevel, let tick = timing.tick {
      let ticks = UInt64(fields) * UInt64(tick.perFrame)
      let time = ClockTime.seconds(ticks, times: tick.units, over: tick.timeScale).half
      if time.nanoseconds >= 1_000_000 { return time }
    }
    guard let rate = timing.frameRate, rate.numerator > 0, rate.denominator > 0 else { return nil }
    return ClockTime.seconds(UInt64(fields), times: UInt32(rate.denominator), over: UInt32(rate.numerator)).half
  }

  private mutating func set(_ times: inout Buffer.Attributes, _ made: PresentationTimes) {
    if awaitsPosition {
      awaitsPosition = false
      firstAfterSeek = made
      (times.pts, times.dts) = (nil, nil)
    } else {
      times.pts = ClockTime(nanoseconds: made.presentation)
      times.dts = ClockTime(nanoseconds: made.decoding)
    }
  }

  /// Whether a picture begins whose DTS is 0: without a frame rate no other DTS is known, and this one only since the
  /// first buffering period.
  private mutating func startsCountingDecodingTimes(at accessUnit: ParsedAccessUnit<Codec>) -> Bool {
    if accessUnit.sei.hasBufferingPeriod { hasBufferingPeriod = true }
    return hasBufferingPeriod && accessUnit.beginsPicture
  }

  /// All NAL units of an access unit have the same times.
  private mutating func share(_ nalUnit: inout ParsedAccessUnit<Codec>) {
    if !nalUnit.scanned.contents.contains(.accessUnitStart) {
      nalUnit.attributes.pts = nalUnit.attributes.pts ?? accessUnitTimes.pts
      nalUnit.attributes.dts = nalUnit.attributes.dts ?? accessUnitTimes.dts
      nalUnit.rebuiltDecodingTime = nalUnit.rebuiltDecodingTime ?? accessUnitTimes.rebuilt
    }
    accessUnitTimes = (nalUnit.attributes.pts, nalUnit.attributes.dts, nalUnit.rebuiltDecodingTime)
  }

  // MARK: Decoding times

  /// Derives the DTS if upstream gives only PTS, as Matroska does: these PTS in ascending order. The same applies if
  /// upstream's DTS begin at 0 with the first PTS although the stream signals reordering: FLV, for example, has no
  /// times below 0.
  private mutating func rebuildDecodingTime(
    of accessUnit: inout ParsedAccessUnit<Codec>, _ timing: StreamTiming, _ playback: Playback
  ) {
    let (presentation, decoding) = (accessUnit.attributes.pts, accessUnit.attributes.dts)
    guard isUpstreamInTime, playback.isForward, let pts = presentation else { return }
    if shift.isOpen, pts == .zero, decoding == .zero, timing.signalsReordering { areDecodingTimesSqueezed = true }
    guard areDecodingTimesSqueezed || !hasUpstreamDecodingTimes && decoding == nil else { return }
    // At most `FormatDescription.deepestReordering` frames, of a second each.
    let delay = ClockTime(nanoseconds: UInt64(timing.reorderDepth) * timing.frameDuration)
    shift.begin(with: pts, needing: delay)
    guard accessUnit.beginsPicture else { return }
    var rebuilder = self.rebuilder ?? Self.makeRebuilder(timing, isField: accessUnit.scanned.fieldPeriods == 1)
    accessUnit.rebuiltDecodingTime = rebuilder.next(presentation: Int64(clamping: pts.nanoseconds))
    self.rebuilder = rebuilder
  }

  private static func makeRebuilder(_ timing: StreamTiming, isField: Bool) -> DecodingTimeRebuilder {
    let frame = Int64(clamping: timing.frameDuration)
    return isField
      ? DecodingTimeRebuilder(reorderDepth: timing.reorderDepth * 2, frameDuration: frame / 2)
      : DecodingTimeRebuilder(reorderDepth: timing.reorderDepth, frameDuration: frame)
  }

  // MARK: On the way out

  /// Gives an access unit the times with which it is output. If a picture begins in it, the segment is shifted no more.
  ///
  /// - Parameters:
  ///   - given: the base class's, if the access unit is at the beginning of a frame.
  ///   - areMade: whether PTS are those generated here and no others.
  /// - Returns: the shifted segment, if it has to be sent before the access unit.
  @inline(__always) mutating func release(
    _ accessUnit: inout ParsedAccessUnit<Codec>, given: Buffer.Attributes?, areMade: Bool
  ) -> SegmentShift.Announcement? {
    let known = accessUnit.attributes
    var times = given ?? known
    accessUnit.position = nil
    if given != nil {
      // The base class derives the position from the times it gets.
      if restore(&times, known, areMade: areMade) { accessUnit.position = known.end }
      takePosition(&times)
    }
    accessUnit.completed = times
    accessUnit.outgoing = outgoing(times, accessUnit.rebuiltDecodingTime)
    if accessUnit.beginsPicture { shift.close() }
    return shift.takeAnnouncement()
  }

  /// Puts back the timestamps that were withheld from the base class, and those it removed because upstream's segment
  /// is in time and upstream gave none. Returns whether any were missing.
  ///
  /// - Parameter areMade: whether PTS are those generated here and no others: the base class gives the PTS of a byte
  ///   source's first buffer to every frame cut from it.
  @inline(__always) private func restore(
    _ times: inout Buffer.Attributes, _ known: Buffer.Attributes, areMade: Bool
  ) -> Bool {
    if areMade { times.pts = nil }
    guard times.pts == nil && known.pts != nil || times.dts == nil && known.dts != nil else { return false }
    times.pts = times.pts ?? known.pts
    times.dts = times.dts ?? known.dts
    return true
  }

  /// The first picture after a seek in a raw stream: the base class has put its position on it.
  mutating func takePosition(_ times: inout Buffer.Attributes) {
    guard let generated = firstAfterSeek else { return }
    firstAfterSeek = nil
    guard let position = times.dts else { return }
    timeline.move(generated.presentation, to: position.nanoseconds)
    times.pts = position
    times.dts =
      position - (ClockTime(nanoseconds: generated.presentation) - ClockTime(nanoseconds: generated.decoding))
  }

  /// Times in the outgoing segment.
  @inline(__always) private func outgoing(_ times: Buffer.Attributes, _ rebuilt: Int64?) -> Buffer.Attributes {
    if !shift.isShifted, rebuilt == nil { return times }
    var times = times
    times.pts = times.pts.map { $0 + shift.amount }
    if let rebuilt {
      times.dts = shift.shifted(rebuilt)
    } else {
      times.dts = times.dts.map { $0 + shift.amount }
    }
    return times
  }
}

extension ScannedAccessUnit where SliceHeader: SliceHeaderSyntax {
  /// Its number of field periods, unless SEI signals another.
  fileprivate var fieldPeriods: Int { slice?.isField == true && pictureCount < 2 ? 1 : 2 }
}
