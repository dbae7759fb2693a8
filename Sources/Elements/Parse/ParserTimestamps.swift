// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// Stage: the timestamps of what goes out.
///
/// Upstream's are kept. A raw stream, which has none, gets them from picture order count and frame rate. Where upstream
/// gives presentation times alone, decoding times are made of those.
struct ParserTimestamps<Codec: ParserCodec>: Sendable {
  /// Upstream's segment is in time.
  private var isUpstreamInTime = false
  /// Upstream has given presentation or decoding timestamps.
  private var hasUpstreamTimes = false
  /// Upstream has given decoding timestamps.
  private var hasUpstreamDecodingTimes = false
  /// Upstream's decoding times are those of a container that cannot say any below 0, and made do with 0.
  private var areDecodingTimesSqueezed = false
  /// The times of a raw stream.
  private var timeline = Codec.Timeline()
  /// After a seek in a raw stream: the base class knows where, and says so on the first buffer's way out.
  private var awaitsPosition = false
  /// The generated times of the first picture after a seek.
  private var firstAfterSeek: PresentationTimes?
  /// A buffering period began: decoding times can be counted from there.
  private var hasBufferingPeriod = false
  /// The timestamps that the NAL units of one access unit share.
  private var accessUnitTimes: (pts: ClockTime?, dts: ClockTime?, rebuilt: Int64?) = (nil, nil, nil)
  private var rebuilder: DecodingTimeRebuilder?
  private(set) var shift = SegmentShift()

  // MARK: Events

  /// The position in the stream is lost: what comes next need not follow on what came before.
  ///
  /// - Parameter awaitingPosition: whether that is elsewhere than at the start of the stream.
  mutating func forgetPosition(awaitingPosition: Bool) {
    let before = self
    self = ParserTimestamps<Codec>()
    isUpstreamInTime = before.isUpstreamInTime
    hasBufferingPeriod = before.hasBufferingPeriod
    shift = before.shift
    awaitsPosition = awaitingPosition
  }

  /// A new stream begins.
  mutating func beginStream() { shift.beginStream() }

  /// A picture goes out.
  mutating func noticePicture() { shift.close() }

  /// A segment of upstream's begins.
  mutating func beginSegment(_ segment: Segment?, sequenceNumber: UInt32) {
    let isInTime = segment?.isTime ?? false
    forgetPosition(awaitingPosition: !isInTime && (segment?.start ?? 0) > 0)
    isUpstreamInTime = isInTime
    shift.beginSegment(isInTime && (segment?.rate ?? 0) > 0, sequenceNumber: sequenceNumber)
  }

  // MARK: What upstream knows

  /// Learns from an input buffer what upstream knows of time.
  mutating func notice(_ situation: ParserSituation) {
    // Sources of bytes put times of 0 on the first buffer, which say nothing.
    let hasDecodingTime = situation.attributes.dts != nil && isUpstreamInTime
    let hasPresentationTime = situation.attributes.pts.map { isUpstreamInTime || $0 > .zero } ?? false
    if hasPresentationTime && !situation.isPulling || hasDecodingTime { hasUpstreamTimes = true }
    if hasDecodingTime { hasUpstreamDecodingTimes = true }
  }

  /// Whether the stream is a raw one whose timestamps are made here.
  @inline(__always) func areMade(for input: ParserInputFormat<Codec>, _ playback: Playback) -> Bool {
    guard input.isByteStream, !hasUpstreamTimes else { return false }
    // Backwards, too, the base class reads on from where it sought; it does not say when that is, except at the start.
    guard playback.isForward else { return isUpstreamInTime ? false : !awaitsPosition }
    return isUpstreamInTime ? playback.isNormalFromStart : true
  }

  /// A picture of a raw stream is in hand whose times are known.
  var hasPicture: Bool { timeline.hasPicture }

  // MARK: Looking at the order of pictures

  /// Reads the order of the picture in hand, in a raw stream.
  ///
  /// - Parameters:
  ///   - bytes: what is there, beginning with the access unit.
  ///   - size: where the next one begins.
  ///   - isComplete: whether no more data is to be waited for.
  /// - Returns: whether enough is known: otherwise the access unit waits for more data.
  mutating func readOrder(
    of accessUnit: inout ParsedAccessUnit<Codec>, _ bytes: Span<UInt8>, size: Int,
    _ scanner: borrowing Codec.Scanner, rate: H26x.Fraction?, isComplete: Bool
  ) -> Bool {
    guard let slice = accessUnit.scanned.slice else { return true }
    let isContinued = accessUnit.isOrderKnown
    accessUnit.isOrderKnown = true
    let generation = scanner.parameterSetChanges
    if !isContinued, timeline.read(slice, rate: rate, generation: generation) { return true }
    return timeline.read(
      slice, isContinued: isContinued, endsSequence: accessUnit.scanned.contents.contains(.endOfSequence), rate: rate,
      parameterSets: scanner.parameterSets, generation: generation, lookingAt: bytes, from: size,
      isComplete: isComplete)
  }

  // MARK: On the way to the base class

  /// Puts times on an access unit where upstream did not.
  mutating func stamp(
    _ accessUnit: inout ParsedAccessUnit<Codec>, _ facts: SourceFacts, input: ParserInputFormat<Codec>,
    _ situation: ParserSituation,
    sharesTimes: Bool, needsDecodingTimes: Bool
  ) {
    let duration = duration(of: accessUnit, facts)
    if hasUpstreamTimes {
      if needsDecodingTimes { rebuildDecodingTime(of: &accessUnit, facts, situation.playback) }
    } else if timeline.hasPicture {
      stampRaw(&accessUnit)
    } else if areMade(for: input, situation.playback) {
      accessUnit.attributes.pts = nil
      stampUnordered(&accessUnit)
    }
    if sharesTimes { shareTimes(&accessUnit) }
    if accessUnit.scanned.contents.contains(.endOfSequence) { timeline.endSequence() }
    if accessUnit.attributes.duration == nil { accessUnit.attributes.duration = duration }
  }

  /// How long an access unit is shown: nil when unknown, zero when no picture begins with it.
  @inline(__always) private func duration(of accessUnit: ParsedAccessUnit<Codec>, _ facts: SourceFacts) -> ClockTime? {
    guard accessUnit.beginsPicture else { return .zero }
    let fields = accessUnit.sei.display.fieldPeriods ?? accessUnit.scanned.fieldPeriods
    // Demuxers guess the frame rate; the ticks are what the encoder says.
    if hasUpstreamTimes, !facts.isTickSenseless, let tick = facts.tick {
      let ticks = UInt64(fields) * UInt64(tick.perFrame)
      let time = ClockTime.seconds(ticks, times: tick.units, over: tick.timeScale).half
      if time.nanoseconds >= 1_000_000 { return time }
    }
    guard let rate = facts.frameRate, rate.numerator > 0, rate.denominator > 0 else { return nil }
    return ClockTime.seconds(UInt64(fields), times: UInt32(rate.denominator), over: UInt32(rate.numerator)).half
  }

  private mutating func stampRaw(_ accessUnit: inout ParsedAccessUnit<Codec>) {
    guard let next = timeline.takeTimes() else { return stampUnordered(&accessUnit) }
    if awaitsPosition {
      awaitsPosition = false
      firstAfterSeek = next
      (accessUnit.attributes.pts, accessUnit.attributes.dts) = (nil, nil)
    } else {
      accessUnit.attributes.pts = ClockTime(nanoseconds: next.presentation)
      accessUnit.attributes.dts = ClockTime(nanoseconds: next.decoding)
    }
  }

  /// Without a frame rate there is only the start of buffering to hold on to.
  private mutating func stampUnordered(_ accessUnit: inout ParsedAccessUnit<Codec>) {
    if accessUnit.sei.hasBufferingPeriod { hasBufferingPeriod = true }
    if hasBufferingPeriod, accessUnit.attributes.dts == nil, accessUnit.beginsPicture {
      accessUnit.attributes.dts = .zero
    }
  }

  /// All NAL units of an access unit belong to the same instant.
  private mutating func shareTimes(_ accessUnit: inout ParsedAccessUnit<Codec>) {
    let (pts, dts) = (accessUnit.attributes.pts, accessUnit.attributes.dts)
    if accessUnit.scanned.contents.contains(.accessUnitStart) {
      accessUnitTimes = (pts, dts, accessUnit.rebuiltDecodingTime)
    } else {
      if let pts { accessUnitTimes.pts = pts } else { accessUnit.attributes.pts = accessUnitTimes.pts }
      if let dts { accessUnitTimes.dts = dts } else { accessUnit.attributes.dts = accessUnitTimes.dts }
      if let rebuilt = accessUnit.rebuiltDecodingTime {
        accessUnitTimes.rebuilt = rebuilt
      } else {
        accessUnit.rebuiltDecodingTime = accessUnitTimes.rebuilt
      }
    }
  }

  // MARK: Decoding times

  /// Where upstream gives presentation times alone, as Matroska does, decoding times are the same in order. So they are
  /// where upstream's decoding times begin with the first presentation, at 0, although the stream says that it reorders:
  /// Flash video, for one, has no times below 0.
  private mutating func rebuildDecodingTime(
    of accessUnit: inout ParsedAccessUnit<Codec>, _ facts: SourceFacts, _ playback: Playback
  ) {
    guard isUpstreamInTime, playback.isForward, let pts = accessUnit.attributes.pts else { return }
    if shift.isOpen, pts == .zero, accessUnit.attributes.dts == .zero, facts.saysReordering {
      areDecodingTimesSqueezed = true
    }
    guard areDecodingTimesSqueezed || !hasUpstreamDecodingTimes && accessUnit.attributes.dts == nil else { return }
    // 16 frames of a second at most.
    let delay = ClockTime(nanoseconds: UInt64(min(facts.reorderDepth, 16)) * facts.frameDuration)
    shift.begin(with: pts, needing: delay)
    guard accessUnit.beginsPicture else { return }
    var rebuilder = self.rebuilder ?? Self.makeRebuilder(facts, isField: accessUnit.scanned.fieldPeriods == 1)
    accessUnit.rebuiltDecodingTime = rebuilder.next(presentation: Int64(clamping: pts.nanoseconds))
    self.rebuilder = rebuilder
  }

  private static func makeRebuilder(_ facts: SourceFacts, isField: Bool) -> DecodingTimeRebuilder {
    let frame = Int64(clamping: facts.frameDuration)
    return isField
      ? DecodingTimeRebuilder(reorderDepth: facts.reorderDepth * 2, frameDuration: frame / 2)
      : DecodingTimeRebuilder(reorderDepth: facts.reorderDepth, frameDuration: frame)
  }

  // MARK: On the way out

  /// Puts back the timestamps that the base class was not to see, and those that it took off because upstream's segment
  /// is in time and upstream did not give them. Answers whether any were missing.
  ///
  /// - Parameter areMade: whether presentation times are those made here and no others: what a source of bytes put on its
  ///   first buffer, the base class gives to all that come of it.
  @inline(__always) func restore(
    _ times: inout Buffer.Attributes, of accessUnit: ParsedAccessUnit<Codec>, areMade: Bool
  ) -> Bool {
    let known = accessUnit.attributes
    if areMade { times.pts = nil }
    guard times.pts == nil && known.pts != nil || times.dts == nil && known.dts != nil else { return false }
    times.pts = times.pts ?? known.pts
    times.dts = times.dts ?? known.dts
    return true
  }

  /// The first picture after a seek in a raw stream: the base class put the position on it.
  mutating func takePosition(_ times: inout Buffer.Attributes) {
    guard let generated = firstAfterSeek else { return }
    firstAfterSeek = nil
    guard let position = times.dts else { return }
    timeline.move(generated.presentation, to: position.nanoseconds)
    times.pts = position
    times.dts =
      position - (ClockTime(nanoseconds: generated.presentation) - ClockTime(nanoseconds: generated.decoding))
  }

  /// Times in the segment that goes out.
  @inline(__always)
  func outgoing(_ times: Buffer.Attributes, of accessUnit: ParsedAccessUnit<Codec>) -> Buffer.Attributes {
    if !shift.isShifted, accessUnit.rebuiltDecodingTime == nil { return times }
    var times = times
    times.pts = times.pts.map { $0 + shift.amount }
    if let rebuilt = accessUnit.rebuiltDecodingTime {
      times.dts = shift.shifted(rebuilt)
    } else {
      times.dts = times.dts.map { $0 + shift.amount }
    }
    return times
  }

  /// The segment that goes out is about to be told, shifted.
  mutating func takeShift() -> SegmentShift.Announcement? { shift.takeAnnouncement() }
}

extension ScannedAccessUnit where SliceHeader: SliceHeaderSyntax {
  /// How many fields are shown of it, where SEI does not say otherwise.
  fileprivate var fieldPeriods: Int { slice?.isField == true && pictureCount < 2 ? 1 : 2 }
}
