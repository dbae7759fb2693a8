// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// Where timestamps come from.
struct TimestampState: Sendable {
  /// Upstream's segment is in time.
  var isUpstreamInTime = false
  /// Upstream has given presentation or decoding timestamps.
  var hasUpstreamTimes = false
  /// Upstream has given decoding timestamps.
  var hasUpstreamDecodingTimes = false
  /// The times of a raw stream.
  var timeline = PresentationTimeline()
  /// After a seek in a raw stream: the base class knows where, and says so on the first buffer's way out.
  var awaitsPosition = false
  /// What looks at the pictures to come.
  var lookAhead: PictureLookAhead?
  /// The picture in hand, in a raw stream.
  var picture: TimestampGenerator.Picture?
  /// The generated time of the first picture after a seek.
  var firstAfterSeek: ClockTime?
  var rebuilder: DecodingTimeRebuilder?
}

extension H264Parse {
  /// How long the unit in hand is shown: `nil` when unknown, zero when no picture begins with it.
  func pictureDuration() -> ClockTime? {
    guard unit.coded.contents.contains(.pictureStart) else { return .zero }
    let fields = unit.information.pictureTiming?.structure?.fieldPeriods ?? (unit.coded.slice?.isField == true ? 1 : 2)
    // Demuxers guess the frame rate; the ticks are what the encoder says.
    if timestamps.hasUpstreamTimes, !capsState.ignoresVUITiming, let ticks = capsState.vuiTiming {
      let time = ClockTime.seconds(UInt64(fields), times: ticks.unitsInTick, over: ticks.timeScale)
      if time.nanoseconds >= 1_000_000 { return time }
    }
    guard let rate = capsState.frameRate, rate.numerator > 0, rate.denominator > 0 else { return nil }
    return ClockTime.seconds(UInt64(fields), times: UInt32(rate.denominator), over: UInt32(rate.numerator)).half
  }

  // MARK: Before the unit goes to the base class

  /// Reads the order of the picture in hand, when timestamps have to be made of it. Answers whether enough is known:
  /// otherwise the unit waits for more data.
  func prepareTimestamps(_ bytes: Span<UInt8>, unitSize: Int) -> Bool {
    guard unit.coded.contents.contains(.pictureStart), makesTimestamps else { return true }
    let generation = scanner.parameterSetChanges
    if !unit.isOrderKnown {
      unit.isOrderKnown = true
      guard let slice = unit.coded.slice else { return true }
      if !capsState.isStale,
        let picture = timestamps.timeline.read(slice, rate: capsState.frameRate, generation: generation)
      {
        timestamps.picture = picture
        return true
      }
      guard let sps = scanner.parameterSets.sequenceParameterSet(slice.sequenceParameterSetID) else { return true }
      timestamps.picture = timestamps.timeline.reader.picture(slice, sps)
      guard updateSourceCaps() else { return true }
    }
    guard let id = unit.coded.slice?.sequenceParameterSetID,
      let sps = scanner.parameterSets.sequenceParameterSet(id)
    else { return true }
    guard let picture = timestamps.picture, let rate = capsState.frameRate, rate.numerator > 0 else { return true }
    if timestamps.timeline.covers(sps, rate, generation: generation) { return true }
    var lookAhead =
      timestamps.lookAhead
      ?? PictureLookAhead(
        picture, of: sps, reader: timestamps.timeline.reader, parameterSets: scanner.parameterSets, from: unitSize)
    let isComplete = isDraining || inputAlignment != nil || bytes.count > Self.maximumUnitSize / 2
    guard lookAhead.advance(bytes, isComplete: isComplete) else {
      timestamps.lookAhead = lookAhead
      return false
    }
    timestamps.lookAhead = nil
    timestamps.timeline.begin(sps, rate, lookAhead: lookAhead.pictures, generation: generation)
    return true
  }

  /// Whether the stream is a raw one.
  var makesTimestamps: Bool {
    guard inputFormat == .byteStream, !timestamps.hasUpstreamTimes, segment.rate > 0 else { return false }
    return !timestamps.isUpstreamInTime || segment.start == 0 && segment.rate == 1 && segment.appliedRate == 1
  }

  /// Learns from an input buffer what upstream knows of time.
  func noticeUpstreamTimes(pts: ClockTime?, dts: ClockTime?) {
    // Sources of bytes put a decoding timestamp of 0 on the first buffer.
    let hasDecodingTime = dts != nil && timestamps.isUpstreamInTime
    if pts != nil && !sinkPad.isPulling || hasDecodingTime { timestamps.hasUpstreamTimes = true }
    if hasDecodingTime { timestamps.hasUpstreamDecodingTimes = true }
  }

  /// Puts timestamps on the buffer of the unit in hand where upstream did not.
  func stamp(_ times: inout Buffer.Attributes) {
    if timestamps.hasUpstreamTimes {
      rebuildDecodingTime(&times)
    } else if let picture = timestamps.picture {
      timestamps.picture = nil
      stampRaw(&times, picture)
    } else if makesTimestamps {
      stampUnordered(&times)
    }
    if alignment == .nalUnit { shareTimes(&times) }
  }

  private func stampRaw(_ times: inout Buffer.Attributes, _ picture: TimestampGenerator.Picture) {
    guard let next = timestamps.timeline.next(picture) else { return stampUnordered(&times) }
    if timestamps.awaitsPosition {
      timestamps.awaitsPosition = false
      timestamps.firstAfterSeek = next.pts
      (times.pts, times.dts) = (nil, nil)
    } else {
      (times.pts, times.dts) = next
    }
  }

  /// Without a frame rate there is only the start of buffering to hold on to.
  private func stampUnordered(_ times: inout Buffer.Attributes) {
    if unit.information.hasBufferingPeriod { hasBufferingPeriod = true }
    if hasBufferingPeriod, times.dts == nil, unit.coded.contents.contains(.pictureStart) { times.dts = .zero }
  }

  /// All NAL units of an access unit belong to the same instant.
  private func shareTimes(_ times: inout Buffer.Attributes) {
    if unit.coded.contents.contains(.accessUnitStart) {
      accessUnitTimes = (times.pts, times.dts)
    } else {
      if let pts = times.pts { accessUnitTimes.pts = pts } else { times.pts = accessUnitTimes.pts }
      if let dts = times.dts { accessUnitTimes.dts = dts } else { times.dts = accessUnitTimes.dts }
    }
  }

  /// Where upstream gives presentation times alone, as Matroska does, decoding times are the same in order.
  private func rebuildDecodingTime(_ times: inout Buffer.Attributes) {
    guard timestamps.isUpstreamInTime, !timestamps.hasUpstreamDecodingTimes, segment.rate > 0,
      unit.coded.contents.contains(.pictureStart), times.dts == nil, let pts = times.pts
    else { return }
    var rebuilder = timestamps.rebuilder ?? makeRebuilder()
    let time = rebuilder.next(presentation: Int64(clamping: pts.nanoseconds))
    timestamps.rebuilder = rebuilder
    times.dts = ClockTime(nanoseconds: UInt64(max(time, 0)))
  }

  private func makeRebuilder() -> DecodingTimeRebuilder {
    let sps = capsState.sequenceParameterSetID.flatMap { scanner.parameterSets.sequenceParameterSet($0) }
    let depth = sps?.maximumReorderFrames ?? 0
    return DecodingTimeRebuilder(
      reorderDepth: unit.coded.slice?.isField == true ? depth * 2 : depth,
      frameDuration: Int64(clamping: pictureDuration()?.nanoseconds ?? 0))
  }

  // MARK: Before the unit goes out

  /// Puts back the timestamps that the base class was not to see, and those that it took off because upstream's segment
  /// is in time and upstream did not give them.
  func restoreTimes(_ times: inout Buffer.Attributes) {
    let known = outgoing.attributes
    guard times.pts == nil && known.pts != nil || times.dts == nil && known.dts != nil else { return }
    times.pts = times.pts ?? known.pts
    times.dts = times.dts ?? known.dts
    // The base class counts the position by what it sees.
    if let end = known.end { advancePosition(to: end) }
  }

  /// The first picture after a seek in a raw stream: the base class put the position on it.
  func takePosition(_ times: inout Buffer.Attributes) {
    guard let generated = timestamps.firstAfterSeek else { return }
    timestamps.firstAfterSeek = nil
    guard let position = times.dts else { return }
    timestamps.timeline.move(generated, to: position)
    times.pts = position
  }
}
