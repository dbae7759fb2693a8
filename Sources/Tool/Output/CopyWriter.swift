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
/// - format: edits, and the contents of one description
/// - roles: access units with which decoding can begin
/// - front: the beginning of the copy
/// - times: the choice of pictures, and when they are shown
/// - sink
struct CopyWriter {
  // MARK: Stages

  /// `nil` for a target that has a description of the video.
  private var sets: KeyframeParameterSets?
  private var format: CopyFormat
  /// `nil` if nothing depends on them.
  private var roles: (any AccessUnitRoleReading)?
  /// `nil` once the copy has begun.
  private var front: CopyFront?
  private(set) var times: CopyTimes
  private var sink: CopySink

  // MARK: Between the stages

  private let source: InputFile
  private let target: OutputFile
  private let container: TargetContainer
  private let cut: Cut?
  private var beginning: CutBeginning?
  private var spacing = PictureSpacing()
  /// Hidden access units since the last access unit that is shown. Later access units may need them.
  private var held: [MediaOutput.AccessUnit] = []
  /// The number of them that come behind the end.
  private var behindCount = 0
  private var hasKeyframe = false

  // MARK: For the user

  /// Hidden pictures that come with later, shown pictures.
  private(set) var hiddenBehind = 0
  /// Why nothing but the video can be read of the source.
  private let refusal: Failure?
  /// Pictures before the first keyframe.
  private(set) var early = 0
  /// Nothing more of the source is needed.
  private(set) var isFinished = false

  /// Access units of the video that were written.
  var written: Int { sink.written }
  /// The streams that were written, for the user.
  var contents: [String] { [format.video?.codec.name ?? "no video"] + sink.keptNames }
  /// The beginning of the cut, for the user; `nil` before it is known.
  var cutRemark: String? { cut.flatMap { cut in beginning.map { $0.remark(cut) } } }

  /// - Parameters:
  ///   - read: the source, if it is a container.
  ///   - origin: the composition time of the first picture, if reading begins somewhere in front of the cut.
  ///   - seeks: whether reading may continue at a place near the cut.
  ///   - sets: the parameter sets of a source that has them in a configuration record, if the target has no such
  ///     record.
  init(
    _ source: InputFile, _ target: OutputFile, _ container: TargetContainer, _ read: CopySource?,
    keepsAudio: Bool, _ cut: Cut?, origin: Int64?, seeks: Bool, _ edits: StreamEditList,
    _ sets: KeyframeParameterSets?
  ) {
    let (otherStreams, times) = (read?.otherStreams, read?.times ?? CopyTimes())
    (self.source, self.target, self.container) = (source, target, container)
    refusal = read?.refusal
    self.sets = sets
    (self.times, self.cut) = (times, cut)
    format = CopyFormat(source, target, container, edits)
    sink = CopySink(source, target, container, otherStreams, keepsAudio: keepsAudio)
    let front: CutFront? =
      if let cut {
        CutFront(cut, of: times.shown, origin: origin)
      } else if times.hidesFront, !container.hasEditList(in: target) {
        CutFront(Cut(mode: .hidden), of: times.shown)
      } else {
        nil
      }
    self.front = front.map {
      CopyFront(
        $0, hasStartCodes: container.hasStartCodes, seeks: seeks, coding: otherStreams?.sampleEntry?.coding)
    }
  }

  private var hasEditList: Bool { container.hasEditList(in: target) }

  /// Begins another format, before the first access unit that has it.
  mutating func begin(_ next: MediaOutput.VideoFormat) throws(CopyRefusal) {
    let edited: MediaOutput.VideoFormat
    do throws(Failure) { edited = try format.edited(next) } catch { throw .failure(error) }
    if container != .annexb || front != nil || times.shown?.end != nil {
      roles = edited.roleReader(hasStartCodes: container.hasStartCodes)
    }
    if front != nil { front?.begin(edited) } else { format.begin(edited) }
  }

  /// Writes an access unit, and everything that comes before it.
  ///
  /// - Parameter accessUnit: has times of the media.
  mutating func take(_ accessUnit: consuming MediaOutput.AccessUnit) throws(CopyRefusal) {
    sets?.complete(&accessUnit)
    do throws(Failure) { try format.edit(&accessUnit) } catch { throw .failure(error) }
    if let role = roles?.role(of: accessUnit.bytes) { accessUnit.role = role }
    spacing.add(accessUnit.presentation)
    if accessUnit.duration <= 0 {
      accessUnit.duration = format.video?.frameDuration?.nanoseconds(1) ?? spacing.duration
    }
    guard front == nil else {
      if let start = try front?.add(accessUnit) { try begin(at: start) }
      return
    }
    // One behind the end is not written.
    guard format.holds(accessUnit) || times.isBehind(accessUnit) else { throw .formatChange }
    do throws(Failure) { try place(accessUnit) } catch { throw .failure(error) }
  }

  /// Writes the rest: nothing more comes.
  mutating func finish() throws(CopyRefusal) {
    if let start = try front?.finish() { try begin(at: start) }
    do throws(Failure) {
      if let duration = front?.duration {
        // The beginning may be in a part that was not read.
        try Interruption.check()
        throw nothing(after: duration)
      }
      try format.edit?.finish()
      try sink.finish(showing: times.edits, extras)
    } catch { throw .failure(error) }
  }

  /// The message that a cut begins behind the end.
  private func nothing(after duration: Int64) -> Failure {
    let (end, start) = (ClockTime(positive: duration), ClockTime(positive: cut?.start ?? 0))
    return Failure(
      "\(source.name): no picture after --start \(Text.time(start)); the last one ends at \(Text.time(end))")
  }

  // MARK: The beginning

  /// Writes the kept access units in front of the beginning.
  private mutating func begin(at start: CopyFront.Start) throws(CopyRefusal) {
    let found = start.beginning
    (beginning, front) = (found, nil)
    guard let first = found.entries.first else { return }
    format.begin(start.formats[first.format])
    for entry in found.entries where entry.accessUnit.presentation < found.end ?? .max {
      guard format.holds(entry.accessUnit, of: start.formats[entry.format]) else { throw .formatChange }
    }
    if let cut {
      let end = found.end.map { times.otherStreamTime(of: $0 + Cut.tolerance) }
      times.cut(from: found.start, to: found.end)
      sink.span = OtherStreamSpan(
        start: times.zero, isOpen: cut.start == 0, end: end, hidesFront: hasEditList, hasPriming: container == .mkv)
    }
    do throws(Failure) { for entry in found.entries { try place(entry.accessUnit) } } catch { throw .failure(error) }
  }

  private mutating func open(at first: borrowing MediaOutput.AccessUnit) throws(Failure) {
    guard var video = format.description(first) else { throw Failure("\(target.name): neither H.264 nor H.265") }
    times.begin(at: beginning?.earliest ?? first.presentation, hasEditList: hasEditList)
    let timeBase = times.timeBase ?? video.frameDuration ?? TimeBase(1, 90_000) ?? .nanoseconds
    video.statedFrameRate = times.frameRate
    video.staleSideData.formUnion(extras.staleSideData(copiesBoxes: hasEditList))
    let delay = times.zero.subtractingReportingOverflow(times.otherStreamOffset).partialValue
    try sink.open(video, timeBase, keepsTimeCode: (cut?.start ?? 0) == 0, delay: delay)
    if container == .flv { times.beginAtZero(first.decoding, try sink.firstOtherStreamTime()) }
    sink.otherStreamOffset = times.otherStreamOffset
  }

  // MARK: Times

  private mutating func place(_ accessUnit: consuming MediaOutput.AccessUnit) throws(Failure) {
    if container == .annexb {
      if beginning == nil, times.shown?.end == nil { return try sink.write(accessUnit) }
    } else {
      hasKeyframe = hasKeyframe || accessUnit.isKeyframe
      if !hasKeyframe { early += 1 }
      if !sink.isOpen {
        // Nothing is in front of the first picture that others could refer to.
        if accessUnit.role.isIntra { accessUnit.role.start = .closed }
        try open(at: accessUnit)
      }
    }
    let isBehind = times.isBehind(accessUnit)
    guard times.place(&accessUnit) else {
      held.append(accessUnit)
      behindCount += isBehind ? 1 : 0
      // More than can be decoded in front of the last one that is shown.
      isFinished = cut != nil && behindCount > CutFront.reorderLimit
      return
    }
    behindCount = 0
    for hidden in held {
      if hidden.presentation >= accessUnit.presentation { hiddenBehind += 1 }
      try sink.write(hidden)
    }
    held = []
    try sink.write(accessUnit)
  }

  // MARK: Losses

  /// The parts of the video's description that libavformat does not write.
  private var extras: SampleEntryExtras {
    SampleEntryExtras(
      sink.otherStreams?.sampleEntry, sink.otherStreams?.video, format.edits,
      allowsInBandParameterSets: format.video?.allowsInBandParameterSets ?? false)
  }

  /// The parts of the source that are not in the target, for the user.
  var losses: [String] {
    var losses = sink.losses
    if let refusal { losses.append("everything but the video (\(refusal.message))") }
    if times.parts.count > 1, !hasEditList {
      losses.append("\(Text.count(times.parts.count, "edit")), so all pictures are shown once")
    }
    if cut?.end == nil, source.isCutOff {
      losses.append("everything beyond the end of the source, which is cut off")
    }
    let boxes = hasEditList ? extras.edited : extras.untranslated
    if !boxes.isEmpty { losses.append("\(Text.list(boxes)) in the description of the video") }
    return losses
  }
}

extension ClockTime {
  /// A time in nanoseconds; 0 for one below.
  init(positive nanoseconds: Int64) { self.init(nanoseconds: UInt64(max(0, nanoseconds))) }
}
