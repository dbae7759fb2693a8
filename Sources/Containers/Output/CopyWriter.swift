// SPDX-License-Identifier: MPL-2.0
import AVFormat
import GStreamer
import H26x
import StreamReport

/// Writes repackaged video and the other streams of its file into a container, in the order of decoding.
///
/// Its stages, in order:
///
/// - parameter sets, in front of keyframes
/// - gaps: the permission of gaps in `frame_num`, if a seam needs it
/// - format: edits, and the contents of one description
/// - roles: access units with which decoding can begin
/// - window: the choice of access units and of pictures
/// - seam: the encoding of pictures that cannot be copied
/// - sink: when they are shown, and the file
struct CopyWriter {
  // MARK: Stages

  /// `nil` for a target that has a description of the video.
  private var sets: KeyframeParameterSets?
  /// `nil` if the SPS stay as they are.
  private var gaps: FrameNumberGaps?
  private var format: CopyFormat
  /// `nil` if nothing depends on them.
  private var roles: (any AccessUnitRoleReading)?
  /// Of the range that is written now.
  private(set) var window: Window
  /// The numbers of ranges behind others that begin with a recovery point of H.264. Decoders expect the frame numbers of
  /// the pictures that were cut off in front of it.
  private(set) var recoveryPoints: [Int] = []
  /// Of the ranges that are written; `nil` for ranges without a picture.
  private(set) var finishedWindows: [Window?] = []
  /// `nil` before the first format.
  private var seam: (any SeamMaking)?
  private var sink: CopySink

  // MARK: Between the stages

  private let plan: CopyPlan
  /// The number of the range that is written.
  private var number = 0
  /// `nil` for a byte stream.
  private var source: CopySource?
  private var spacing = PictureSpacing()
  private var hasKeyframe = false
  /// Whether an access unit of the range was written.
  private var hasBegun = false

  /// Pictures before the first keyframe.
  private(set) var early = 0
  /// Access units without their bytes, if the plan surveys them; `nil` if it writes them.
  private(set) var surveyed: [MediaOutput.AccessUnit]?

  /// Why pictures cannot be encoded, by the first entry that is surveyed; `nil` before.
  private var surveyedEntry: SeamObstacle??

  /// Why pictures of the surveyed video cannot be encoded; `nil` if they can.
  var obstacle: SeamObstacle? { surveyedEntry ?? .damage }

  /// Access units of the video that were written.
  var written: Int { sink.written }
  /// Pictures that were encoded.
  var encoded: Int { seam?.encodedCount ?? 0 }
  /// Marking operations that were removed from copied pictures.
  var removedOperations: Int { seam?.removedOperationCount ?? 0 }
  /// Why encoded pictures cannot be in front of a recovery point; `nil` if they can.
  var openObstacle: SeamObstacle? { seam?.openObstacle }
  /// Nothing more of the source is needed.
  var isFinished: Bool { window.isFinished }
  /// The streams that were written, for the user.
  var contents: [String] { [format.video?.codec.name ?? "no video"] + sink.keptNames }

  /// Begins with the first range.
  ///
  /// - Parameters:
  ///   - opened: `nil` for a byte stream.
  ///   - editor: changes the headers; `nil` if no changes are requested.
  init(_ plan: CopyPlan, _ opened: CopySource.Opened?, _ editor: (any HeaderEditing)?) {
    let source = opened?.source
    (self.plan, self.source) = (plan, source)
    window = opened?.window ?? Window(plan.ranges[0].bounds)
    sets = plan.container.hasStartCodes ? source.flatMap { KeyframeParameterSets($0.video.track) } : nil
    gaps = plan.allowsFrameNumberGaps ? FrameNumberGaps(hasStartCodes: plan.container.hasStartCodes) : nil
    format = CopyFormat(plan, editor)
    sink = CopySink(plan, opened)
    surveyed = plan.surveys ? [] : nil
  }

  /// Begins the next range, behind the end of the one before.
  ///
  /// - Parameter opened: `nil` for a byte stream.
  mutating func beginRange(_ number: Int, _ opened: CopySource.Opened?) {
    (self.number, source) = (number, opened?.source)
    window = opened?.window ?? Window(plan.ranges[number].bounds)
    sets = plan.container.hasStartCodes ? source.flatMap { KeyframeParameterSets($0.video.track) } : nil
    (roles, spacing, hasBegun) = (nil, PictureSpacing(), false)
    sink.beginRange(opened)
  }

  /// Begins another format, before the first access unit that has it.
  mutating func begin(_ next: MediaOutput.VideoFormat) throws(CopyRefusal) {
    var next = next
    if seam == nil { seam = next.codec.seam(plan) }
    gaps?.allow(in: &next)
    if plan.mayEncode { seam?.describe(&next) }
    let edited = try CopyRefusal.failing { () throws(Failure) in try format.begin(next) }
    if plan.container != .annexb || window.isSelective || surveyed != nil {
      roles = edited.roleReader(hasStartCodes: format.hasStartCodes)
    }
    if !window.isSearching { format.choose(format.formats.count - 1) }
  }

  /// Writes an access unit, and everything that comes before it.
  ///
  /// - Parameter accessUnit: has times of the media.
  mutating func take(_ accessUnit: consuming MediaOutput.AccessUnit) throws(CopyRefusal) {
    sets?.complete(&accessUnit)
    gaps?.allow(in: &accessUnit)
    do throws(Failure) { try format.edit(&accessUnit) } catch { throw .failure(error) }
    if let role = roles?.role(of: accessUnit.bytes) { accessUnit.role = role }
    spacing.add(accessUnit.presentation)
    if accessUnit.duration <= 0 {
      accessUnit.duration = format.video?.frameDuration?.nanoseconds(1) ?? spacing.duration
    }
    if surveyed != nil {
      if accessUnit.isSync, surveyedEntry == nil, let video = format.formats.last {
        surveyedEntry = .some(seam?.obstacle(video, under: accessUnit.role.parameterSets) ?? nil)
      }
      accessUnit.bytes = []
      accessUnit.role.parameterSets = []
      surveyed?.append(accessUnit)
      return
    }
    for accessUnit in try window.take(accessUnit) { try pass(accessUnit) }
  }

  /// Writes the rest of a range: nothing more of it comes.
  mutating func finishRange() throws(CopyRefusal) {
    guard surveyed == nil else { return }
    for accessUnit in try window.finish() { try pass(accessUnit) }
    if window.hasOnlyGradualRefresh, window.tally.count[.encoded] ?? 0 > 0 { throw .seam(.gradualRefresh) }
    for accessUnit in try seam?.finishRange() ?? [] { try write(accessUnit) }
    try CopyRefusal.failing { () throws(Failure) in
      if let (start, duration) = window.searched {
        // The beginning may be in a part that was not read.
        try Interruption.check()
        throw Failure(
          "\(plan.input.name): no picture after --start \(Text.time(ClockTime(positive: start))); the last one ends at "
            + Text.time(ClockTime(positive: duration)))
      }
      try sink.finishRange(window)
    }
    finishedWindows.append(hasBegun ? window : nil)
  }

  /// Completes the target.
  mutating func finish() throws(Failure) {
    guard surveyed == nil else { return }
    try format.finish()
    try sink.finish(window, extras)
  }

  // MARK: Behind the window

  private mutating func pass(_ accessUnit: MediaOutput.AccessUnit) throws(CopyRefusal) {
    guard format.formats.indices.contains(accessUnit.format) else { return try write(accessUnit) }
    let isExact = plan.ranges[number].bounds?.mode == .exact
    for accessUnit in try seam?.take(accessUnit, format.formats[accessUnit.format], isExact: isExact) ?? [] {
      try write(accessUnit)
    }
  }

  private mutating func write(_ accessUnit: consuming MediaOutput.AccessUnit) throws(CopyRefusal) {
    if !hasBegun { try begin(at: &accessUnit) }
    // One behind the end need not be shown.
    guard format.holds(accessUnit) || window.isBehind(accessUnit) else { throw .formatChange }
    if plan.container != .annexb {
      hasKeyframe = hasKeyframe || accessUnit.isKeyframe
      if !hasKeyframe { early += 1 }
    }
    do throws(Failure) { try sink.write(accessUnit) } catch { throw .failure(error) }
  }

  private mutating func begin(at first: inout MediaOutput.AccessUnit) throws(CopyRefusal) {
    hasBegun = true
    format.choose(first.format)
    if window.opening != nil {
      let completed = format.completed(first)
      // Parameter sets may be in samples in front of the place that was sought.
      let isInBand = (source?.otherStreams?.sampleEntry?.coding).map(Self.inBandEntries.contains) ?? false
      guard !plan.ranges[number].start.isNear || !isInBand || completed.count == first.bytes.count else {
        throw .missed
      }
      if format.hasStartCodes || format.video?.allowsInBandParameterSets == true { first.bytes = completed }
    }
    if sink.isOpen, first.role.start == .open, !first.role.isIRAP { recoveryPoints.append(number) }
    guard plan.container != .annexb else { return }
    // Nothing is in front of the first picture that others could refer to.
    if first.role.isIntra { first.role.start = .closed }
    do throws(Failure) { try open(at: first) } catch { throw .failure(error) }
  }

  private static let inBandEntries: Set = [
    FourCharacterCode("avc3"), FourCharacterCode("avc4"), FourCharacterCode("hev1"), FourCharacterCode("dvav"),
    FourCharacterCode("dvhe"),
  ]

  private mutating func open(at first: borrowing MediaOutput.AccessUnit) throws(Failure) {
    guard !sink.isOpen else { return sink.continue(window, at: first) }
    guard var video = format.description(first) else { throw Failure("\(plan.target.name): neither H.264 nor H.265") }
    let timeBase = source?.timeBase ?? video.frameDuration ?? TimeBase(1, 90_000) ?? .nanoseconds
    video.statedFrameRate = source?.frameRate
    video.staleSideData = extras.staleSideData(copiesBoxes: plan.hasEditList)
    try sink.open(video, timeBase, window, at: first)
  }

  // MARK: Losses

  /// The parts of the video's description that libavformat does not write.
  private var extras: SampleEntryExtras {
    SampleEntryExtras(
      sink.otherStreams?.sampleEntry, sink.otherStreams?.video, editing: format.video?.edited ?? [],
      allowsInBandParameterSets: format.video?.allowsInBandParameterSets ?? false)
  }

  /// The parts of the source that are not in the target, for the user.
  var losses: [String] {
    var losses = sink.losses
    if let refusal = source?.refusal { losses.append("everything but the video (\(refusal.message))") }
    if window.parts.count > 1, !plan.hasEditList {
      losses.append("\(Text.count(window.parts.count, "edit")), so all pictures are shown once")
    }
    if plan.reachesEnd, plan.input.isCutOff {
      losses.append("everything beyond the end of the source, which is cut off")
    }
    let boxes = plan.hasEditList ? extras.edited : extras.untranslated
    if !boxes.isEmpty { losses.append("\(Text.list(boxes)) in the description of the video") }
    return losses
  }
}

/// Puts the parameter sets of a configuration record in front of each keyframe of a copy with start codes, so
/// decoding can begin there. The parser puts them in front of the first IDR picture alone.
struct KeyframeParameterSets {
  private var reader: any AccessUnitRoleReading
  private var isAtStart = true

  /// - Returns: `nil` for a track without a configuration record.
  init?(_ track: VideoTrack) {
    guard case .lengthPrefixed(let configuration, _) = track.packaging else {
      return nil
    }
    reader = track.codec.roleReader(configuration, hasStartCodes: true)
  }

  /// Completes the next access unit, a keyframe or the first one, whatever that is.
  mutating func complete(_ accessUnit: inout MediaOutput.AccessUnit) {
    let sets = reader.parameterSets(upTo: accessUnit.bytes)
    if accessUnit.isKeyframe || isAtStart { accessUnit.bytes = reader.completed(accessUnit.bytes, with: sets) }
    isAtStart = false
  }
}
