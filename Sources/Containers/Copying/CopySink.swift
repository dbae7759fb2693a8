// SPDX-License-Identifier: MPL-2.0
import AVCodec
import AVFormat
import StreamReport

/// The last stage of a copy. It gives access units the times of the presentation, and writes them, and between them the
/// source's other streams, into a container or a byte stream.
struct CopySink {
  private let plan: CopyPlan
  /// The number of the range that is written now.
  private var number = 0
  /// Of that range.
  private(set) var otherStreams: OtherStreams?
  /// Those of the first range, by which the target is described.
  private(set) var described: OtherStreams?
  /// The streams of a joined input that continue those of the first; `nil` while that is written.
  private var joined: JoinedOtherStreams?
  /// Losses of the ranges in front.
  private var earlierLosses: [String] = []
  private var output: (any ContainerOutput)?
  /// The target if it is a byte stream, which has no times.
  private var byteStream: OutputBytes?
  private var times: PresentationTimes
  /// The end of all that is written.
  private var end = PresentationTimes.End()
  /// When the first access unit is shown, and the earliest one that is not in front of the presentation.
  private var (first, earliest): (Int64, Int64) = (0, .max)
  /// The ranges of the media that are shown, if the copy has several, with times of the presentation.
  private var shown: [ShownRange] = []
  /// The part of the other streams that is kept; `nil` for everything.
  private var span: OtherStreamSpan?
  private var seams = SoundSeams()
  /// Streams that are written beside the video, and those that are not.
  private(set) var (kept, left): ([StreamDescription], [StreamDescription]) = ([], [])
  /// Chapters of the presentation that is written.
  private var chapters: [Chapter] = []
  /// Access units of the video that were written.
  private(set) var written = 0
  /// One of them is a sync sample.
  private var hasSync = false

  /// - Parameter opened: `nil` for a byte stream.
  init(_ plan: CopyPlan, _ opened: CopySource.Opened?) {
    (self.plan, otherStreams, times) = (plan, opened?.source.otherStreams, opened?.times ?? PresentationTimes())
    left = otherStreams?.others ?? []
    described = otherStreams
    if plan.container == .annexb { otherStreams?.choose([]) }
  }

  private var source: InputFile { plan.input }
  private var target: OutputFile { plan.target }
  private var container: TargetContainer { plan.container }

  /// Whether the target is open.
  var isOpen: Bool { output != nil || byteStream != nil }

  /// Descriptions of the streams beside the video in the container, for the user.
  var keptNames: [String] { kept.map { output?.displayName(of: $0) ?? $0.displayName } }

  // MARK: Ranges

  /// Begins the next range of the source.
  ///
  /// - Parameter opened: `nil` for a byte stream.
  mutating func beginRange(_ opened: CopySource.Opened?) {
    earlierLosses = rangeLosses
    number += 1
    (otherStreams, times) = (opened?.source.otherStreams, opened?.times ?? PresentationTimes())
    seams.beginRange()
    guard plan.joined != nil, isOpen else {
      otherStreams?.choose(plan.container == .annexb ? [] : kept.filter { !$0.isCover })
      return
    }
    let streams = JoinedOtherStreams(otherStreams, continuing: kept, of: described)
    otherStreams?.choose(streams.streams)
    (output as? MediaOutput)?.continue(with: streams)
    joined = streams
  }

  /// Begins to write the range behind others.
  ///
  /// - Parameters:
  ///   - decoding: when the first access unit is decoded, of the media.
  ///   - earliest: see ``open(_:_:_:earliest:first:)``.
  mutating func `continue`(_ window: Window, earliest: Int64, decoding: Int64) {
    times.begin(window, behind: end, earliest: earliest, decoding: decoding, hasEditList: plan.hasEditList)
    span = span(of: window)
  }

  /// Ends a range: writes the rest of its other streams.
  mutating func finishRange(_ window: Window) throws(Failure) {
    guard output != nil else { return }
    let shownEnd = window.shown.flatMap { shown in window.shownDuration.map { shown.start &+ $0 } }
    // Sound of a joined input ends with its pictures.
    let isFollowed = plan.joined != nil && number + 1 < plan.ranges.count
    if let shownEnd, let end = span?.end ?? (isFollowed ? .min : nil) {
      span?.end = max(end, times.otherStreamTime(of: shownEnd))
    }
    otherStreams?.endVideo()
    try writeOtherStreams(before: .max)
    guard plan.ranges.count > 1, let start = window.shown?.start, let duration = window.shownDuration else { return }
    let place = start &- times.offset
    // Durations of samples may be those of their decoding, shorter or longer than their pictures are shown.
    let hides = window.hiddenInFront > 0 || window.hiddenBehind > 0
    end.media = hides ? max(end.media, place &+ duration) : place &+ duration
    shown.append(ShownRange(start: place, end: place &+ duration, time: end.presentation))
    var part = span
    part?.end = times.otherStreamTime(of: start &+ duration)
    for chapter in part?.clipped(otherStreams?.context.chapters ?? []) ?? [] {
      chapters.append(
        chapter.delayed(by: plan.hasEditList ? end.presentation : place, id: Int64(chapters.count) + 1))
    }
    end.presentation = plan.hasEditList ? end.presentation &+ duration : end.media
  }

  /// The part of the other streams that belongs to a window; `nil` for everything.
  private func span(of window: Window) -> OtherStreamSpan? {
    guard window.isCut, let opening = window.opening, let shown = window.shown else { return nil }
    return OtherStreamSpan(
      start: times.otherStreamTime(of: shown.start), isOpen: opening.isAtOrigin && written == 0,
      end: shown.end.map { times.otherStreamTime(of: $0 &+ Window.tolerance) },
      hidesFront: plan.hasEditList && written == 0, isBehindOthers: written > 0, hasPriming: container == .mkv)
  }

  // MARK: Writing

  /// Opens the target with the other streams that its muxer takes. The muxer may refuse a stream as late as in the
  /// header.
  ///
  /// - Parameters:
  ///   - timeBase: the ticks of the video.
  ///   - window: the part of the source that is written.
  ///   - earliest: the earliest presentation time of an access unit, of the media.
  ///   - first: when the first access unit is shown and decoded, of the media.
  mutating func open(
    _ video: MediaOutput.VideoFormat, _ timeBase: TimeBase, _ window: Window, earliest: Int64,
    first: (presentation: Int64, decoding: Int64)
  ) throws(Failure) {
    span = span(of: window)
    let delay = times.begin(window, at: earliest, hasEditList: plan.hasEditList)
    // The source's time code applies to the first picture here, too.
    let keepsTimeCode = window.opening?.isAtOrigin ?? true
    let wanted = (otherStreams?.chosen ?? []).filter { plan.keepsAudio || $0.kind != .audio }
    // The places of several ranges are known at their ends.
    let all = plan.ranges.count > 1 ? [] : otherStreams?.context.chapters ?? []
    chapters = (span?.clipped(all) ?? all).map { $0.delayed(by: delay) }
    func makeOutput(isTrial: Bool = false) throws(Failure) -> any ContainerOutput {
      if container == .hls { return try SegmentedOutput(target, duration: plan.segmentDuration, isTrial: isTrial) }
      return try MediaOutput(
        target, container, keepsTimeCode: keepsTimeCode, room: isTrial ? 0 : room, isTrial: isTrial)
    }
    func begin(_ output: any ContainerOutput, _ streams: [StreamDescription]) throws(Failure) {
      kept = streams.filter { other in otherStreams.map { output.canHold(other, of: $0.context) } == true }
      // FLV has room for one.
      if container == .flv, let first = kept.first { kept = [first] }
      try output.begin(
        video, timeBase, otherStreams, keeping: kept, chapters, beginsLate: earliest < first.presentation)
    }
    func isTaken(_ streams: [StreamDescription]) -> Bool {
      do throws(Failure) { try begin(makeOutput(isTrial: true), streams) } catch { return false }
      return true
    }
    var output = try makeOutput()
    do throws(Failure) { try begin(output, wanted) } catch {
      var taken: [StreamDescription] = []
      for stream in wanted where isTaken(taken + [stream]) { taken.append(stream) }
      output = try makeOutput()
      try begin(output, taken)
    }
    self.output = output
    described = otherStreams
    left = (otherStreams?.others ?? []).filter { other in !kept.contains { $0.index == other.index } }
    otherStreams?.choose(kept.filter { !$0.isCover })
    if container == .flv {
      let span = span
      let sound = try otherStreams?.firstTime(before: times.otherStreamOffset) { span?.clip(&$0) != false }
      times.beginAtZero(first.decoding, sound)
    }
  }

  /// Writes an access unit with times of the media, and everything that comes before it.
  mutating func write(_ accessUnit: consuming MediaOutput.AccessUnit) throws(Failure) {
    if container == .annexb {
      try write(accessUnit.bytes)
    } else {
      try writeOtherStreams(before: accessUnit.decoding)
      times.place(&accessUnit)
      try output?.write(accessUnit)
      if written == 0 { first = accessUnit.presentation }
      if accessUnit.presentation >= 0 { earliest = min(earliest, accessUnit.presentation) }
      end.media = max(end.media, accessUnit.presentation &+ accessUnit.duration)
      end.decoding = max(end.decoding, accessUnit.decoding)
    }
    written += 1
    hasSync = hasSync || accessUnit.isSync
  }

  private mutating func write(_ bytes: [UInt8]) throws(Failure) {
    if byteStream == nil { byteStream = try OutputBytes(target) }
    let stream = byteStream
    let failure = unsafe bytes.withUnsafeBytes { bytes -> AVError? in
      do throws(AVError) { try unsafe stream?.write(bytes) } catch { return error }
      return nil
    }
    if let failure { throw Failure("\(target.name): \(failure)") }
  }

  /// - Parameter time: of the video's media in the source.
  private mutating func writeOtherStreams(before time: Int64) throws(Failure) {
    guard let otherStreams, let output else { return }
    let turn =
      time == .max ? span?.readingEnd ?? .max : min(times.otherStreamTime(of: time), span?.settledEnd ?? .max)
    let zero = times.otherStreamOffset
    while var packet = try otherStreams.next(before: turn) {
      let base = packet.stream.timeBase
      let end = plan.ranges.count > 1 ? span?.end.map { base.rescaled($0, from: .nanoseconds) } : nil
      let start = span.flatMap { $0.isBehindOthers ? base.rescaled($0.start, from: .nanoseconds) : nil }
      let stream = joined?.number(of: packet.stream.index) ?? packet.stream.index
      if span?.clip(&packet) != false,
        seams.place(&packet, of: stream, zero: base.rescaled(zero, from: .nanoseconds), start: start, end: end)
      {
        try output.write(packet, zero: zero)
      }
    }
  }

  /// Writes the rest: nothing more comes.
  ///
  /// - Parameters:
  ///   - window: the part of the source that was written.
  ///   - extras: the parts of the video's description that libavformat does not write.
  mutating func finish(_ window: Window, _ extras: SampleEntryExtras) throws(Failure) {
    guard written > 0 else {
      try Interruption.check()
      throw Failure("\(target.name): no picture to write", isEmptyRange: true)
    }
    if let segments = output as? SegmentedOutput { return try segments.finish(extras) }
    guard let output = output as? MediaOutput else { return }
    try output.finish(plan.ranges.count > 1 && target.isSeekable ? chapters : [])
    guard plan.hasEditList, let path = target.path else { return }
    guard var file = try MovieFile(path, name: target.name, room: output.room) else {
      // Nothing would be in the room.
      guard output.room == 0 else { throw Failure("\(target.name): its description is not in the expected place") }
      return
    }
    var shown = plan.ranges.count > 1 ? edits : window.edits(offset: times.offset)
    // The edit of libavformat begins with the first access unit, whose leading pictures are shown before it.
    if shown.isEmpty, earliest < first { shown = [ShownRange(start: earliest, end: end.media, time: earliest)] }
    if !shown.isEmpty { file.movie.setEdits(edits(shown, output)) }
    if !hasSync { file.movie.denySyncSamples() }
    file.movie.enableSubtitles(kept.filter { $0.kind == .subtitle }.map { $0.disposition.contains(.isDefault) })
    file.complete(extras)
    if let metadata = described?.quickTimeMetadata {
      file.movie.addMetadata(
        movie: QuickTimeMetadata(metadata.movie).kept, track: metadata.track, isFullBox: container == .mp4)
    }
    try file.finish()
  }

  /// What an edit list must show of several ranges; empty if timestamps alone show it.
  private var edits: [ShownRange] {
    var edits: [ShownRange] = []
    for range in shown {
      if let last = edits.last, last.end == range.start {
        edits[edits.count - 1].end = range.end
      } else {
        edits.append(range)
      }
    }
    return edits.count == 1 && edits[0].start == 0 && edits[0].end == end.media ? [] : edits
  }

  private func edits(_ shown: [ShownRange], _ output: MediaOutput) -> [MP4Edit] {
    var edits: [MP4Edit] = []
    var time: Int64 = 0
    for part in shown {
      if part.time > time { edits.append(MP4Edit(duration: part.time &- time, mediaTime: -1)) }
      let duration = (part.end ?? part.start) &- part.start
      edits.append(MP4Edit(duration: duration, mediaTime: output.mediaTime(of: part.start)))
      time = part.time &+ duration
    }
    return edits
  }

  // MARK: Room for the description

  /// The bytes in front of a movie that its description will take, so the media need not be moved afterwards. It is 0
  /// if they are few, or if the number of samples is not known.
  private var room: Int64 {
    guard plan.hasEditList, source.size ?? 0 >= Int(MovieFile.roomSize), let otherStreams,
      let duration = otherStreams.context.duration, duration > 0
    else { return 0 }
    let rate = otherStreams.video?.frameRate.map { Double($0.numerator) / Double(max($0.denominator, 1)) }
    // Joined inputs have about as many samples for their size.
    let growth = Double(plan.inputs.reduce(0) { $0 + ($1.size ?? 0) }) / Double(max(source.size ?? 1, 1))
    let seconds = Double(duration) / 1_000_000 * growth
    let pictures = seconds * min(max(rate ?? 60, 1), 300)
    // A frame of sound lasts 20 ms and more.
    let packets = seconds * 50 * Double(otherStreams.chosen.count)
    let bytes = pictures * Self.pictureSize + packets * Self.packetSize + Self.descriptionSize
    return min(Int64(bytes), Self.roomLimit) / 4096 * 4096
  }

  /// The bytes for a picture in a movie's description, whose samples are chunks of their own. They would be 12 bytes
  /// in stsc, 8 in stts, in ctts and in co64, and 4 in stsz. This is half of them, because runs are shorter.
  private static let pictureSize = 20.0
  /// The bytes for a packet of sound.
  private static let packetSize = 16.0
  /// Descriptions of streams, and metadata.
  private static let descriptionSize = 65_536.0
  private static let roomLimit: Int64 = 1 << 28

  // MARK: Losses

  /// Whether the target is no transport stream, or has the configuration of Dolby Vision.
  var describesDolbyVision: Bool { container != .ts || (output as? MediaOutput)?.hasDolbyVisionInProgramMap == true }

  /// The caption services of the source's program map that the target does not have; `nil` for none. Playlists have their
  /// languages.
  var lostCaptionServices: CaptionServiceDescriptor? {
    (output as? MediaOutput)?.hasCaptionServices == true || container == .hls ? nil : described?.captionServices
  }

  /// Whether the target loses the reserved bits of the configuration of Dolby Vision, which libavformat does not write.
  var losesReservedBits: Bool {
    container.isMovie && !plan.completesDescription
      || container == .mkv && (output as? MediaOutput)?.hasWholeDolbyVision != true
  }

  /// The comparison of the target with the source; `nil` if it cannot be read.
  private var comparison: CopyComparison? {
    if container == .annexb { return CopyComparison() }
    if let segments = output as? SegmentedOutput { return CopyComparison(segments.front, container) }
    guard target.isSeekable else { return (output as? MediaOutput).flatMap { CopyComparison($0.front, container) } }
    return target.path.flatMap { CopyComparison($0) }
  }

  /// Properties of the target that not every player expects, for the user.
  var remarks: [String] { (output as? SegmentedOutput)?.remarks ?? [] }

  /// The source's streams and metadata that are not in the target, for the user.
  ///
  /// - Parameter exceptions: metadata of the video that is no loss.
  func losses(except exceptions: Set<SideData.Kind>) -> [String] {
    let copy = written > 0 ? comparison : nil
    let lost = left.filter {
      $0.index != described?.chapterStream && !($0.isTimeCode && copy?.hasTimeCode == true)
    }
    var losses = lost.map(\.numberedSummary)
    if source.programs.count > 1 {
      let read = described?.program ?? source.programs.first
      losses += source.programs.filter { $0 != read }.map { "program \($0)" }
    }
    guard let described else { return losses + rangeLosses }
    if let rotation = described.rotation, !container.keepsRotation { losses.append("rotation (\(rotation))") }
    losses += rangeLosses + (output?.losses ?? [])
    let segments = output as? SegmentedOutput
    // MP4 and MPEG-TS have it without libavformat.
    let unread: Set<SideData.Kind> = container == .mkv && described.dolbyVision != nil ? [.dolbyVision] : []
    losses +=
      copy?.losses(
        described.context.metadata, described.video, unread, except: exceptions, segments == nil ? kept : []) ?? []
    for (stream, front) in segments?.soundFronts ?? [] {
      losses += CopyComparison(front, container)?.losses(ofRendition: stream) ?? []
    }
    losses += UnreadElements(source)?.losses(video: described.video?.index, others: kept.map(\.index)) ?? []
    if container.keepsChapters {
      losses += copy?.losses(chapters) ?? []
    } else if !described.context.chapters.isEmpty {
      losses.append(Text.count(described.context.chapters.count, "chapter"))
    }
    return losses
  }

  /// Losses of the other streams up to the range that is written now.
  private var rangeLosses: [String] {
    guard let otherStreams else { return earlierLosses }
    guard plan.joined != nil else { return otherStreams.losses }
    var losses = otherStreams.losses
    let isFirst = plan.ranges[number].inputNumber == 0
    if let services = otherStreams.captionServices, services != described?.captionServices {
      losses.append(services.summary)
    }
    if !isFirst {
      // The time code of the first input goes on.
      losses += otherStreams.others
        .filter { joined?.contains($0.index) != true && $0.index != otherStreams.chapterStream && !$0.isTimeCode }
        .map(\.numberedSummary)
    }
    if !isFirst, !container.keepsChapters, !otherStreams.context.chapters.isEmpty {
      losses.append(Text.count(otherStreams.context.chapters.count, "chapter"))
    }
    guard !losses.isEmpty else { return earlierLosses }
    let line = "\(plan.input(of: plan.ranges[number]).name): \(Text.list(losses))"
    return earlierLosses.contains(line) ? earlierLosses : earlierLosses + [line]
  }
}

extension TargetContainer {
  /// Whether decoded pictures can be hidden. Into a pipe, movies are written in fragments, behind their edit list.
  package func hasEditList(in target: OutputFile) -> Bool { isMovie && self != .hls && target.isSeekable }

  fileprivate var keepsChapters: Bool { isMovie && self != .hls || self == .mkv }

  fileprivate var keepsRotation: Bool { self == .mkv ? FormatLibrary.keepsGeometry : isMovie }
}
