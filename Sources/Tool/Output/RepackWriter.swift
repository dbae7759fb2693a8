// SPDX-License-Identifier: MPL-2.0
import AVCodec
import AVFormat
import GStreamer
import H26x
import StreamReport

/// Writes repackaged video and what goes with it into a container, in the order of decoding.
struct RepackWriter {
  /// The source's name, for messages.
  private let source: String
  private let target: OutputFile
  private let container: TargetContainer
  /// Known before the first access unit.
  private(set) var format: MediaOutput.VideoFormat?
  private let companions: CompanionStreams?
  private let keepsAudio: Bool
  private(set) var times: RepackTimes
  private var spacing = PictureSpacing()
  private var output: MediaOutput?
  /// A byte stream, which has no times.
  private var byteStream: OutputBytes?
  /// Hidden access units since the last one that is shown: what follows may need them.
  private var held: [MediaOutput.AccessUnit] = []
  /// Those of them that come behind the end.
  private var behindCount = 0
  /// Access units of the video that were written.
  private(set) var written = 0
  /// Hidden pictures that come with later ones that are shown.
  private(set) var hiddenBehind = 0
  /// Pictures before the first keyframe.
  private(set) var early = 0
  private var hasKeyframe = false
  /// Nothing more of the source is needed.
  private(set) var isFinished = false
  /// Access units in front of where a cut, or what the source shows, begins; `nil` from there on.
  private var front: CutFront?
  /// Reads access units in front of the beginning.
  private var roles: (any AccessUnitRoleReading)?
  /// The formats of access units in front of the beginning.
  private var frontFormats: [MediaOutput.VideoFormat] = []
  /// The description of the video does not hold what comes next.
  private var isFormatChanged = false
  /// What samples may not add to; `nil` where they may.
  private var described: DescribedParameterSets?
  private let cut: Cut?
  private let edits: [StreamEdit]
  /// Changes the headers; `nil` where nothing is to be changed, and before the first format.
  private(set) var edit: VideoEdit?
  /// Where the cut begins, for the user; `nil` before that is known.
  var cutRemark: String? { cut.flatMap { cut in beginning.map { $0.remark(cut) } } }
  private var beginning: CutBeginning?
  /// Whether reading may continue at a place near the cut.
  var seeks = false
  /// What of the other streams is kept; `nil` for everything.
  private var span: CompanionSpan?
  /// Streams that are written beside the video, and those that are not.
  private(set) var (kept, left): ([StreamDescription], [StreamDescription]) = ([], [])

  /// What those that are written are in the container, for the user.
  var keptNames: [String] { kept.map { output?.displayName(of: $0) ?? $0.displayName } }

  init(
    _ source: InputFile, _ target: OutputFile, _ container: TargetContainer, _ companions: CompanionStreams?,
    keepsAudio: Bool, _ times: RepackTimes, _ cut: Cut?, origin: Int64? = nil, _ edits: [StreamEdit] = []
  ) {
    (self.source, self.edits) = (source.name, edits)
    (self.target, self.container, self.companions) = (target, container, companions)
    (self.keepsAudio, self.times, self.cut) = (keepsAudio, times, cut)
    if let cut {
      front = CutFront(cut, of: times.shown, origin: origin)
    } else if times.hidesFront, !hasEditList {
      front = CutFront(Cut(mode: .hidden), of: times.shown)
    }
    left = companions?.others ?? []
    if container == .annexb { companions?.choose([]) }
  }

  private var hasEditList: Bool { container.hasEditList(in: target) }

  /// Why an access unit cannot be written.
  enum Refusal: Error {
    /// It has no presentation time.
    case untimed
    /// The format changes, which one description of the video cannot hold.
    case formatChange
    /// What packages it has to be read first.
    case irregular
    /// It is so far in front of the cut that reading had better continue at a place, in nanoseconds of the media.
    case distant(origin: Int64, place: Int64)
    /// Reading began at a place behind the keyframe that the cut needs.
    case missed
    case failure(Failure)
  }

  /// Begins another format, before the first access unit that has it.
  mutating func begin(_ format: MediaOutput.VideoFormat) throws(Refusal) {
    let next: MediaOutput.VideoFormat
    do throws(Failure) { next = try edited(format) } catch { throw .failure(error) }
    if front != nil {
      roles = next.roleReader(hasStartCodes: container.hasStartCodes)
      return frontFormats.append(next)
    }
    guard let format = self.format else { return describe(next) }
    isFormatChanged = !canHold(next, beside: format)
  }

  private mutating func describe(_ format: MediaOutput.VideoFormat) {
    self.format = format
    // What was written into a pipe cannot be written anew.
    guard target.isSeekable, !container.hasStartCodes, !format.allowsInBandParameterSets else { return }
    described = DescribedParameterSets(format)
  }

  private mutating func edited(_ format: MediaOutput.VideoFormat) throws(Failure) -> MediaOutput.VideoFormat {
    guard !edits.isEmpty else { return format }
    var (edit, format) = (edit ?? VideoEdit(format.codec, edits, source: source), format)
    format.configuration = try edit.edit(configuration: format.configuration)
    edit.describe(&format)
    self.edit = edit
    return format
  }

  private func canHold(_ next: MediaOutput.VideoFormat, beside format: MediaOutput.VideoFormat) -> Bool {
    container.hasStartCodes || format.allowsInBandParameterSets || next.configuration == format.configuration
  }

  /// Writes an access unit, and what comes before it.
  ///
  /// - Parameter unit: has times of the media.
  mutating func take(_ unit: consuming MediaOutput.AccessUnit) throws(Refusal) {
    if edit != nil {
      do throws(Failure) { unit.bytes = try edit?.edit(unit.bytes) ?? unit.bytes } catch { throw .failure(error) }
    }
    spacing.add(unit.presentation)
    if unit.duration <= 0 { unit.duration = format?.frameDuration?.nanoseconds(1) ?? spacing.duration }
    guard front == nil else { return try hold(unit) }
    // One behind the end is not written.
    if isFormatChanged || described?.contain(thoseOf: unit.bytes) == false, !times.isBehind(unit) {
      throw .formatChange
    }
    do throws(Failure) { try place(unit) } catch { throw .failure(error) }
  }

  private mutating func place(_ unit: consuming MediaOutput.AccessUnit) throws(Failure) {
    if container == .annexb {
      if beginning == nil, times.shown?.end == nil { return try write(unit.bytes) }
    } else {
      hasKeyframe = hasKeyframe || unit.isSync
      if !hasKeyframe { early += 1 }
      if output == nil { try begin(at: unit) }
    }
    let isBehind = times.isBehind(unit)
    guard times.place(&unit) else {
      held.append(unit)
      behindCount += isBehind ? 1 : 0
      // More than can be decoded in front of the last one that is shown.
      isFinished = cut != nil && behindCount > CutFront.reorderLimit
      return
    }
    behindCount = 0
    for hidden in held {
      if hidden.presentation >= unit.presentation { hiddenBehind += 1 }
      try write(hidden)
    }
    held = []
    try write(unit)
  }

  // MARK: The beginning

  private mutating func hold(_ unit: consuming MediaOutput.AccessUnit) throws(Refusal) {
    guard let role = roles?.role(of: unit.bytes) else { return }
    let entry = CutFront.Entry(unit: unit, role: role, format: frontFormats.count - 1)
    if front?.add(entry) == true { return try beginBehindFront(isAtEnd: false) }
    if let (origin, place) = front?.distantStart, seeks { throw .distant(origin: origin, place: place) }
  }

  /// Writes what is kept of the access units in front of the beginning.
  private mutating func beginBehindFront(isAtEnd: Bool) throws(Refusal) {
    guard let found = front?.beginning(isAtEnd: isAtEnd), let first = found.entries.first else { return }
    if front?.misses(found) == true || front?.hasSought == true && lacksParameterSets(first) { throw .missed }
    (beginning, front, roles) = (found, nil, nil)
    guard frontFormats.indices.contains(first.format) else { return }
    let video = frontFormats[first.format]
    describe(video)
    for entry in found.entries where entry.unit.presentation < found.end ?? .max {
      guard canHold(frontFormats[entry.format], beside: video), described?.contain(thoseOf: entry.unit.bytes) != false
      else { throw .formatChange }
    }
    if let cut {
      let end = found.end.map { times.companionTime(of: $0 + Cut.tolerance) }
      times.cut(from: found.start, to: found.end)
      span = CompanionSpan(
        start: times.zero, isOpen: cut.start == 0, end: end, hidesFront: hasEditList,
        hasPriming: container == .mkv)
    }
    var units = found.entries.map(\.unit)
    if container.hasStartCodes || video.allowsInBandParameterSets {
      let reader = video.roleReader(hasStartCodes: container.hasStartCodes)
      units[0].bytes = reader.completed(units[0].bytes, with: first.role.parameterSets)
    }
    do throws(Failure) { for unit in units { try place(unit) } } catch { throw .failure(error) }
  }

  /// Whether the sample entry allows parameter sets in samples (`avc3`, `hev1`), and an access unit does not have all that
  /// are known: others may be in samples in front of it.
  private func lacksParameterSets(_ entry: CutFront.Entry) -> Bool {
    guard let coding = companions?.sampleEntry?.coding, Self.inBandEntries.contains(coding),
      let reader = roles
    else { return false }
    return reader.completed(entry.unit.bytes, with: entry.role.parameterSets).count != entry.unit.bytes.count
  }

  private static let inBandEntries: Set = [
    FourCharacterCode("avc3"), FourCharacterCode("avc4"), FourCharacterCode("hev1"), FourCharacterCode("dvav"),
    FourCharacterCode("dvhe"),
  ]

  private mutating func begin(at first: borrowing MediaOutput.AccessUnit) throws(Failure) {
    guard var format else { throw Failure("\(target.name): neither H.264 nor H.265") }
    if format.allowsInBandParameterSets {
      format.describe(by: first.bytes)
      edit?.describe(&format)
    }
    times.begin(at: beginning?.earliest ?? first.presentation, hasEditList: hasEditList)
    let timeBase = times.timeBase ?? format.frameDuration ?? TimeBase(1, 90_000) ?? .nanoseconds
    output = try open(format, timeBase)
    companions?.choose(kept.filter { !$0.isCover })
    if container == .flv { times.beginAtZero(first.decoding, try companions?.firstTime()) }
  }

  /// Opens the target with as many of the other streams as its muxer takes: it may refuse one only with the header.
  private mutating func open(_ video: MediaOutput.VideoFormat, _ timeBase: TimeBase) throws(Failure) -> MediaOutput {
    var refused: [StreamDescription.Kind] = []
    while true {
      let output = try MediaOutput(target, container, keepsTimeCode: (cut?.start ?? 0) == 0)
      kept = (companions?.chosen ?? []).filter { other in
        (keepsAudio || other.kind != .audio) && !refused.contains(other.kind)
          && companions.map { output.canHold(other, of: $0.context) } == true
      }
      // FLV has room for one.
      if container == .flv, let first = kept.first { kept = [first] }
      left = (companions?.others ?? []).filter { other in !kept.contains { $0.index == other.index } }
      do throws(Failure) {
        let chapters = companions?.context.chapters ?? []
        try output.begin(video, timeBase, companions, keeping: kept, span?.clipped(chapters) ?? chapters)
        return output
      } catch {
        let doubtful = [StreamDescription.Kind.attachment, .video, .subtitle, .audio].first { kind in
          kept.contains { $0.kind == kind }
        }
        guard let doubtful else { throw error }
        refused.append(doubtful)
      }
    }
  }

  private mutating func write(_ bytes: [UInt8]) throws(Failure) {
    if byteStream == nil { byteStream = try OutputBytes(target) }
    let stream = byteStream
    let failure = unsafe bytes.withUnsafeBytes { bytes -> AVError? in
      do throws(AVError) { try unsafe stream?.write(bytes) } catch { return error }
      return nil
    }
    if let failure { throw Failure("\(target.name): \(failure)") }
    written += 1
  }

  private mutating func write(_ unit: MediaOutput.AccessUnit) throws(Failure) {
    guard container != .annexb else { return try write(unit.bytes) }
    try writeCompanions(before: unit.decoding)
    try output?.write(unit)
    written += 1
  }

  private func writeCompanions(before time: Int64) throws(Failure) {
    guard let companions, let output else { return }
    let turn =
      time == .max ? span?.readingEnd ?? .max : time.addingReportingOverflow(times.companionOffset).partialValue
    while var packet = try companions.next(before: turn) {
      if span?.clip(&packet) != false { try output.write(packet, zero: times.companionOffset) }
    }
  }

  /// How the target compares with the source; `nil` for what cannot be read again.
  private var comparison: CopyComparison? {
    if container == .annexb { return CopyComparison() }
    return target.isSeekable ? target.path.flatMap { CopyComparison($0) } : nil
  }

  /// What of the source is not in the target, for the user.
  func losses(of input: InputFile) -> [String] {
    let copy = written > 0 ? comparison : nil
    var losses = left.filter { $0.index != companions?.chapterStream && !($0.isTimeCode && copy?.hasTimeCode == true) }
      .map(\.numberedSummary)
    if input.programs.count > 1 {
      let read = companions?.programme ?? input.programs.first
      losses += input.programs.filter { $0 != read }.map { "programme \($0)" }
    }
    if times.parts.count > 1, !hasEditList {
      losses.append("\(Text.count(times.parts.count, "edit")), so that all pictures are shown once")
    }
    if cut?.end == nil, MP4Layout(of: input)?.isCutOff == true {
      losses.append("what is behind the end of the source, which is cut off")
    }
    guard let companions else { return losses }
    if let rotation = companions.rotation, !container.keepsRotation { losses.append("rotation (\(rotation))") }
    losses += companions.losses + (output?.losses ?? [])
    losses += copy?.losses(companions.context.metadata, companions.video, kept) ?? []
    let boxes = hasEditList ? extras.edited : extras.untranslated
    if !boxes.isEmpty { losses.append("\(Text.list(boxes)) in the description of the video") }
    let chapters = companions.context.chapters.count
    if chapters > 0, !container.keepsChapters { losses.append(Text.count(chapters, "chapter")) }
    return losses
  }

  /// Writes the rest: nothing more comes.
  mutating func finish() throws(Refusal) {
    if front != nil {
      try beginBehindFront(isAtEnd: true)
      if front?.hasSought == true { throw .missed }
      if let front, let duration = front.duration { throw .failure(nothing(after: duration)) }
    }
    do throws(Failure) { try complete() } catch { throw .failure(error) }
  }

  /// The message that a cut begins behind the end.
  private func nothing(after duration: Int64) -> Failure {
    let (end, start) = (
      ClockTime(nanoseconds: UInt64(max(duration, 0))), ClockTime(nanoseconds: UInt64(cut?.start ?? 0))
    )
    return Failure("\(source): no picture after --start \(Text.time(start)); the last one ends at \(Text.time(end))")
  }

  private mutating func complete() throws(Failure) {
    guard written > 0 else {
      try Interruption.check()
      throw Failure("\(target.name): no picture to write")
    }
    guard let output else { return }
    try writeCompanions(before: .max)
    try output.finish()
    guard hasEditList, let path = target.path, var file = try MovieFile(path, name: target.name) else {
      return
    }
    if !times.edits.isEmpty { file.setEdits(edits(output)) }
    file.enableSubtitles(kept.filter { $0.kind == .subtitle }.map { $0.disposition.contains(.isDefault) })
    file.complete(extras)
    try file.finish()
  }

  /// What the video's description has beside what libavformat writes.
  private var extras: SampleEntryExtras {
    SampleEntryExtras(
      companions?.sampleEntry, companions?.video, edits,
      allowsInBandParameterSets: format?.allowsInBandParameterSets ?? false)
  }

  /// What the copy shows, where timestamps alone do not.
  private func edits(_ output: MediaOutput) -> [MP4Edit] {
    var edits: [MP4Edit] = []
    var time: Int64 = 0
    for part in times.edits {
      if part.time > time { edits.append(MP4Edit(duration: part.time - time, mediaTime: -1)) }
      let duration = (part.end ?? part.start) - part.start
      edits.append(MP4Edit(duration: duration, mediaTime: output.mediaTime(of: part.start)))
      time = part.time + duration
    }
    return edits
  }
}

extension TargetContainer {
  /// Whether it is of the ISO base media file format.
  var isMovie: Bool { self == .mp4 || self == .mov }

  /// Whether what is decoded need not be shown. Into a pipe, movies are written in fragments, behind their edit list.
  func hasEditList(in target: OutputFile) -> Bool { isMovie && target.isSeekable }

  fileprivate var keepsChapters: Bool { isMovie || self == .mkv }

  /// Matroska can hold it; libavformat writes it from 7.1 on.
  fileprivate var keepsRotation: Bool {
    guard self == .mkv else { return isMovie }
    return FormatLibrary.version.map { ($0.major, $0.minor) >= (61, 7) } ?? false
  }
}

extension ClockTime {
  /// A time in nanoseconds; 0 for one below.
  init(positive nanoseconds: Int64) { self.init(nanoseconds: UInt64(max(0, nanoseconds))) }
}
