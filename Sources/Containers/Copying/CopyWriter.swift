// SPDX-License-Identifier: MPL-2.0
import AVFormat
import GStreamer
import H26x
import StreamReport

/// Writes repackaged video and the other streams of its file into a container, in the order of decoding.
///
/// Its stages, in order:
///
/// - join: ids of parameter sets, if there are several inputs
/// - parameter sets, in front of keyframes
/// - gaps: the permission of gaps in `frame_num`, if a seam needs it
/// - format: edits, and the contents of one description
/// - roles: access units with which decoding can begin
/// - fields: those of each frame
/// - window: the choice of access units and of pictures
/// - seam: the encoding of pictures that cannot be copied, and the check that the copy shows the right ones
/// - sink: when they are shown, and the file
struct CopyWriter: ~Copyable {
  // MARK: Stages

  /// `nil` for one input, and for a target with start codes, in which each file has its own sets.
  private var joined: (any JoinedStreaming)?
  /// `nil` for a target that has a description of the video.
  private var sets: KeyframeParameterSets?
  /// `nil` if the SPS stay as they are.
  private var gaps: FrameNumberGaps?
  private var format: CopyFormat
  /// `nil` if nothing depends on them.
  private var roles: (any AccessUnitRoleReading)?
  private var fields = FieldPairs()
  /// Of the range that is written now.
  private(set) var window: Window
  /// The numbers of ranges of a join, behind others, that begin with a recovery point of H.264 which cannot become an IDR
  /// picture. Decoders expect the frame numbers of the pictures that were cut off in front of it.
  private(set) var recoveryPoints: [Int] = []
  /// Of the ranges that are written; `nil` for ranges without a picture.
  private(set) var finishedWindows: [Window?] = []
  /// Why ranges have no picture that begin behind the last one, by their numbers.
  private(set) var missed: [Int: String] = [:]
  /// `nil` before the first format, and for a copy without seams.
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
  /// The times at which an exact range shows its first copied picture, and its first encoded picture behind copied
  /// pictures.
  private var (copiedStart, copiedEnd): (Int64?, Int64?)
  /// Whether an access unit of the range was written.
  private var hasBegun = false
  /// The first access unit of a range, and its leading pictures, which may be shown before it.
  private var front: [MediaOutput.AccessUnit] = []
  /// The last one that was written, of a frame the first field, if the copy brings pictures together that are apart in
  /// the source.
  private var last: MediaOutput.AccessUnit?

  /// The configuration of Dolby Vision that is not the source's; `nil` if the target has that, or the container has no
  /// place for it.
  private var newDolbyVision: DolbyVision.Configuration?
  /// That configuration, if the target has it.
  var madeDolbyVision: DolbyVision.Configuration? { sink.describesDolbyVision ? newDolbyVision : nil }
  /// The content of the box `amve` by the stream; `nil` without one.
  private var sentAmbientViewing: [UInt8]?
  /// HDR10's metadata that the stream has.
  private var sentMetadata: Set<SideData.Kind> = []
  /// Pictures before the first keyframe.
  private(set) var early = 0
  /// Whether a signal came before the target had everything.
  private(set) var isCutShort = false
  /// Access units without their bytes, if the plan surveys them; `nil` if it writes them.
  private(set) var surveyed: [MediaOutput.AccessUnit]?

  /// Why pictures cannot be encoded, by the first entry that is surveyed; `nil` before.
  private var surveyedEntry: SeamObstacle??

  /// Why pictures of the surveyed video cannot be encoded; `nil` if they can.
  var obstacle: SeamObstacle? { surveyedEntry ?? .damage }

  /// Access units of the video that were written.
  var written: Int { sink.written }
  /// Properties of the target that not every player expects, for the user.
  var targetRemarks: [String] { sink.remarks }
  /// Pictures that were encoded.
  var encoded: Int { seam?.encodedCount ?? 0 }
  /// The lowest PSNR of their luma in dB; `nil` for none.
  var lowestPSNR: Double? { seam?.lowestPSNR }
  /// Marking operations that were removed from copied pictures.
  var removedOperations: Int { seam?.removedOperationCount ?? 0 }
  /// Why encoded pictures cannot be in front of a recovery point; `nil` if they can.
  var openObstacle: SeamObstacle? { seam?.openObstacle }
  /// Nothing more of the source is needed.
  var isFinished: Bool { window.isFinished || surveyed.map { $0.count >= plan.surveyCount } ?? false }
  /// The formats of the video, in the order in which they came.
  var formats: [MediaOutput.VideoFormat] { format.formats }
  /// The metadata that edits have changed, for the user.
  var editedMetadata: [String] { format.editedMetadata }
  /// The inputs that ended before one of their ranges did.
  var unendedInputs: [InputFile] {
    let ranges = zip(plan.ranges, finishedWindows).filter { $1?.isUnended == true }
    let numbers = Set(ranges.map(\.0.inputNumber))
    return plan.inputs.enumerated().filter { numbers.contains($0.offset) }.map(\.element)
  }
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
    sets = Self.sets(plan, source)
    joined = Self.joined(plan, plan.ranges[0])
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
    sets = Self.sets(plan, source)
    joined = Self.joined(plan, plan.ranges[number])
    (roles, fields, spacing, hasBegun) = (nil, FieldPairs(), PictureSpacing(), false)
    (copiedStart, copiedEnd) = (nil, nil)
    sink.beginRange(opened)
  }

  private static func sets(_ plan: CopyPlan, _ source: CopySource?) -> KeyframeParameterSets? {
    let hasStartCodes = plan.container.hasStartCodes
    guard hasStartCodes || plan.joined != nil && plan.packaging == .inBand else { return nil }
    return source.flatMap { KeyframeParameterSets($0.video.track, hasStartCodes: hasStartCodes) }
  }

  private static func joined(_ plan: CopyPlan, _ range: CopyPlan.Range) -> (any JoinedStreaming)? {
    plan.container.hasStartCodes ? nil : plan.joined?.stream(range.inputNumber)
  }

  /// Begins another format, before the first access unit that has it.
  mutating func begin(_ next: MediaOutput.VideoFormat) throws(CopyRefusal) {
    var next = next
    try chooseRest()
    try joined?.begin(&next)
    if seam == nil, plan.hasSeams {
      seam = next.codec.seam(quality: plan.quality, hasStartCodes: plan.container.hasStartCodes)
    }
    gaps?.allow(in: &next)
    if plan.mayEncode { seam?.describe(&next) }
    next.statedDolbyVision = source?.otherStreams?.dolbyVision
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
    try joined?.rewrite(&accessUnit.bytes)
    gaps?.allow(in: &accessUnit)
    do throws(Failure) { try format.edit(&accessUnit) } catch { throw .failure(error) }
    if let role = roles?.role(of: accessUnit.bytes) { accessUnit.role = role }
    readBeginning(&accessUnit)
    spacing.add(accessUnit.presentation)
    if accessUnit.duration <= 0 {
      let video = plan.joined == nil ? format.video : format.formats.last
      accessUnit.duration = video?.frameDuration?.nanoseconds(1) ?? spacing.duration
    }
    for accessUnit in fields.take(accessUnit) { try choose(accessUnit) }
  }

  /// Takes all access units that wait for the other field of their frame.
  private mutating func chooseRest() throws(CopyRefusal) {
    for accessUnit in fields.finish() { try choose(accessUnit) }
  }

  private mutating func choose(_ next: consuming MediaOutput.AccessUnit) throws(CopyRefusal) {
    guard !isFinished else { return }
    var accessUnit = next
    if surveyed != nil {
      if accessUnit.isSync, surveyedEntry == nil, let video = format.formats.last {
        surveyedEntry = .some(seam?.obstacle(video, under: accessUnit.role.parameterSets) ?? nil)
      }
      accessUnit.bytes = []
      accessUnit.role.parameterSets = []
      surveyed?.append(accessUnit)
      return
    }
    if beginsAnew, format.formats.indices.contains(accessUnit.format) {
      seam?.read(accessUnit, format.formats[accessUnit.format])
    }
    for accessUnit in try window.take(accessUnit) { try pass(accessUnit) }
  }

  /// Reads whether the range can begin with an access unit behind others, if that matters.
  private func readBeginning(_ accessUnit: inout MediaOutput.AccessUnit) {
    let bounds = plan.ranges[number].bounds
    let isWanted = surveyed != nil || window.isSearching && bounds?.mode != .exact && bounds?.beginning != .asItIs
    guard isWanted, accessUnit.isSync || accessUnit.role.mayBeEntry, format.formats.indices.contains(accessUnit.format)
    else { return }
    accessUnit.role.canBeginAnew = seam?.canBeginAnew(with: accessUnit, format.formats[accessUnit.format]) ?? true
  }

  /// Writes the rest of a range: nothing more of it comes. After a signal, a range without a picture is left out.
  mutating func finishRange() throws(CopyRefusal) {
    guard surveyed == nil else { return try chooseRest() }
    do throws(CopyRefusal) { try finishPictures() } catch {
      // No other pass follows a signal.
      guard Interruption.signal != nil, written > 0, !error.isFailure else { throw error }
    }
    if hasBegun { try CopyRefusal.failing { () throws(Failure) in try sink.finishRange(window) } }
    if hasBegun || Interruption.signal == nil { finishedWindows.append(hasBegun ? window : nil) }
  }

  private mutating func finishPictures() throws(CopyRefusal) {
    try chooseRest()
    for accessUnit in try window.finish() { try pass(accessUnit) }
    if window.hasOnlyGradualRefresh, !plan.encodesAll, window.tally.count[.encoded] ?? 0 > 0 {
      throw .seam(.gradualRefresh)
    }
    let rest: [MediaOutput.AccessUnit]
    do throws(CopyRefusal) { rest = try seam?.finishRange() ?? [] } catch { throw refusal(error) }
    for accessUnit in rest { try write(accessUnit) }
    try writeFront()
    // After a signal, the beginning may be in a part that was not read.
    guard Interruption.signal == nil, let (start, duration) = window.searched else { return }
    missed[number] =
      "no picture after \(Text.time(ClockTime(positive: start))); the last one ends at "
      + Text.time(ClockTime(positive: duration))
    // Other ranges of the input may have pictures.
    guard plan.joined != nil || plan.ranges.count == 1 else { return }
    do throws(Failure) { try checkForPictures() } catch { throw .failure(error) }
  }

  /// - Throws: a `Failure` if nothing was written because a range begins behind the last picture.
  private func checkForPictures() throws(Failure) {
    guard Interruption.signal == nil, let missed = missed.min(by: { $0.key < $1.key }) else { return }
    throw Failure("\(plan.input(of: plan.ranges[missed.key]).name): \(missed.value)", isEmptyRange: true)
  }

  /// Completes the target.
  mutating func finish() throws(Failure) {
    guard surveyed == nil else { return }
    isCutShort = Interruption.signal != nil
    if written == 0 { try checkForPictures() }
    try format.finish()
    try sink.finish(window, extras)
  }

  // MARK: Behind the window

  /// Whether a recovery point at the beginning of the range becomes an IDR picture.
  private var beginsAnew: Bool {
    let bounds = window.opening?.bounds ?? plan.ranges[number].bounds
    return bounds.map { $0.mode == .exact || [.anew, .anewIfPossible].contains($0.beginning) } ?? false
  }

  private mutating func pass(_ accessUnit: MediaOutput.AccessUnit) throws(CopyRefusal) {
    guard format.formats.indices.contains(accessUnit.format) else { return try write(accessUnit) }
    let beginsAnew = beginsAnew
    switch accessUnit.disposition {
    case .copied: copiedStart = copiedStart ?? accessUnit.presentation
    case .encoded where copiedStart != nil: copiedEnd = min(copiedEnd ?? .max, accessUnit.presentation)
    default: break
    }
    let leaving: [MediaOutput.AccessUnit]
    do throws(CopyRefusal) {
      leaving = try seam?.take(accessUnit, format.formats[accessUnit.format], beginsAnew: beginsAnew) ?? [accessUnit]
    } catch { throw refusal(error) }
    for accessUnit in leaving { try write(accessUnit) }
  }

  /// An error of the seam. The reason may be that copying begins with an intra picture that promises nothing.
  private func refusal(_ error: CopyRefusal) -> CopyRefusal {
    guard case .seam(let obstacle) = error else { return error }
    switch obstacle {
    case .verification, .recoveryPoint, .frameNumberGaps, .damage:
      if let time = window.unprovenEntry { return .entry(time, obstacle) }
    default: return error
    }
    return obstacle == .damage ? boundsWithoutSeam.map { .damage(start: $0.start, end: $0.end) } ?? error : error
  }

  /// The bounds of an exact range without the pictures of its latest seam, which are not copied; `nil` if that leaves
  /// nothing, or changes nothing.
  private var boundsWithoutSeam: Window.Bounds? {
    guard plan.joined == nil, var bounds = plan.ranges[number].bounds, bounds.mode == .exact,
      let opening = window.opening, let copiedStart
    else { return nil }
    let shift = opening.bounds.offset &- opening.origin
    if seam?.isAtEnd == true {
      guard let end = copiedEnd.map({ $0 &+ shift }), end < bounds.end ?? .max, end > bounds.start else { return nil }
      bounds.end = end
    } else {
      let start = copiedStart &+ shift
      guard start > bounds.start &+ Window.tolerance, start < bounds.end ?? .max else { return nil }
      bounds.start = start
    }
    return bounds
  }

  private mutating func write(_ accessUnit: consuming MediaOutput.AccessUnit) throws(CopyRefusal) {
    guard !hasBegun, plan.container != .annexb else { return try put(accessUnit) }
    let isLeading = accessUnit.role.isLeading
    front.append(accessUnit)
    if front.count > 1, !isLeading || front.count > Window.reorderLimit { try writeFront() }
  }

  private mutating func writeFront() throws(CopyRefusal) {
    var accessUnits = front
    front = []
    guard let first = accessUnits.first?.presentation, var next = accessUnits.last?.decoding else { return }
    // Containers without decoding times may have none for the first access units.
    for index in accessUnits.indices.dropLast().reversed() {
      if accessUnits[index].decoding >= next { accessUnits[index].decoding = next &- accessUnits[index].duration }
      next = accessUnits[index].decoding
    }
    let leading = accessUnits.lazy.filter { $0.role.isDecodableLeading }.map(\.presentation).min()
    let earliest = window.opening?.earliest ?? min(first, leading ?? first)
    for accessUnit in accessUnits { try put(accessUnit, earliest: earliest) }
  }

  /// - Parameter earliest: the earliest presentation time of an access unit, if this may be the first one.
  private mutating func put(
    _ accessUnit: consuming MediaOutput.AccessUnit, earliest: Int64? = nil
  ) throws(CopyRefusal) {
    if !hasBegun {
      try begin(at: &accessUnit, earliest ?? accessUnit.presentation)
    } else if last?.isRenumbered == true {
      follow(&accessUnit)
    }
    if let duration = window.lastDuration(at: accessUnit.presentation) { accessUnit.duration = duration }
    // One behind the end need not be shown.
    guard format.holds(accessUnit) || window.isBehind(accessUnit) else { throw .formatChange }
    if plan.container != .annexb {
      hasKeyframe = hasKeyframe || accessUnit.isKeyframe
      if !hasKeyframe { early += 1 }
    }
    if plan.hasSeams, !accessUnit.role.isSecondField { last = copy accessUnit }
    do throws(Failure) { try sink.write(accessUnit) } catch { throw .failure(error) }
  }

  private mutating func begin(
    at first: inout MediaOutput.AccessUnit, _ earliest: Int64
  ) throws(CopyRefusal) {
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
    if sink.isOpen, first.role.start == .open, !first.role.isIRAP {
      guard !beginsAnew else { throw .seam(.recoveryPoint) }
      recoveryPoints.append(number)
    }
    follow(&first, isFirst: true)
    guard plan.container != .annexb else { return }
    // Nothing is in front of the first picture that others could refer to.
    if first.role.isIntra { first.role.start = .closed }
    do throws(Failure) { try open(at: first, earliest) } catch { throw .failure(error) }
  }

  /// Lets an IDR picture follow the one in front of it.
  ///
  /// - Parameter isFirst: whether it begins a range.
  private func follow(_ accessUnit: inout MediaOutput.AccessUnit, isFirst: Bool = false) {
    guard let last, isFirst || accessUnit.role.start == .closed, format.formats.indices.contains(accessUnit.format),
      format.formats.indices.contains(last.format)
    else { return }
    format.formats[accessUnit.format]
      .follow(&accessUnit, last, format.formats[last.format], isFirst: isFirst, hasStartCodes: format.hasStartCodes)
  }

  private static let inBandEntries: Set = [
    FourCharacterCode("avc3"), FourCharacterCode("avc4"), FourCharacterCode("hev1"), FourCharacterCode("dvav"),
    FourCharacterCode("dvhe"),
  ]

  private mutating func open(at first: borrowing MediaOutput.AccessUnit, _ earliest: Int64) throws(Failure) {
    guard !sink.isOpen else { return sink.continue(window, earliest: earliest, decoding: first.decoding) }
    guard var video = format.description(first) else { throw Failure("\(plan.target.name): neither H.264 nor H.265") }
    let timeBase =
      plan.joined?.timeBase ?? source?.timeBase ?? video.frameDuration ?? TimeBase(1, 90_000) ?? .nanoseconds
    video.statedFrameRate = source?.frameRate
    if plan.joined?.hasOneRate == false { (video.statedFrameRate, video.frameDuration) = (nil, nil) }
    (sentMetadata, sentAmbientViewing) = (Set(video.sentMetadata.map(\.kind)), video.sentAmbientViewing)
    if plan.container.hasDolbyVisionRecord { newDolbyVision = video.newDolbyVision }
    guard video.dolbyVision != .renewed || newDolbyVision != nil else {
      throw Failure("\(plan.input(of: plan.ranges[number]).name): \(DolbyVisionRecord.lacksRPU)")
    }
    video.staleSideData = extras.staleSideData(copiesBoxes: plan.completesDescription)
    try sink.open(
      video, timeBase, window, earliest: earliest, first: (first.presentation, first.decoding))
  }

  // MARK: Losses

  /// The parts of the video's description that libavformat does not write.
  private var extras: SampleEntryExtras {
    SampleEntryExtras(sink.described, sent: newDolbyVision, ambientViewing: sentAmbientViewing, format.video)
  }

  /// The parts of the source that are not in the target, for the user.
  var losses: [String] {
    let removed = (format.video?.removedMetadata ?? []).reduce(into: sentMetadata) { $0.formUnion($1.sideData) }
    var losses = sink.losses(except: removed)
    if let services = sink.lostCaptionServices, format.video?.removedMetadata.contains(.captions) != true {
      losses.append(services.summary)
    }
    if let refusal = source?.refusal { losses.append("everything but the video (\(refusal.message))") }
    if window.parts.count > 1, !plan.hasEditList {
      losses.append("\(Text.count(window.parts.count, "edit")), so all pictures are shown once")
    }
    for input in unendedInputs where input.isCutOff {
      let source = plan.joined == nil ? "the source" : input.name
      losses.append("everything beyond the end of \(source), which is cut off")
    }
    let boxes = plan.completesDescription ? extras.edited : extras.untranslated
    if !boxes.isEmpty { losses.append("\(Text.list(boxes)) in the description of the video") }
    if newDolbyVision != nil, !sink.describesDolbyVision { losses.append(DolbyVisionRecord.loss) }
    if sink.losesReservedBits, format.video?.copiedDolbyVision?.reserved.contains(where: { $0 != 0 }) == true {
      losses.append("reserved bits of the configuration of Dolby Vision")
    }
    return losses
  }
}

/// Puts the parameter sets of a configuration record in front of each keyframe of a copy that has them in-band, so
/// decoding can begin there. The parser puts them in front of the first IDR picture alone.
struct KeyframeParameterSets {
  private var reader: any AccessUnitRoleReading
  private var isAtStart = true

  /// - Returns: `nil` for a track without a configuration record.
  init?(_ track: VideoTrack, hasStartCodes: Bool) {
    guard case .lengthPrefixed(var configuration, _) = track.packaging else {
      return nil
    }
    let size =
      switch track.codec {
      case .h264: H264.ConfigurationRecord.lengthSizeOffset
      case .h265: H265.ConfigurationRecord.lengthSizeOffset
      }
    // The repackager's lengths have four bytes.
    if configuration.indices.contains(size) { configuration[size] |= 3 }
    reader = track.codec.roleReader(configuration, hasStartCodes: hasStartCodes)
  }

  /// Completes the next access unit, a keyframe or the first one, whatever that is.
  mutating func complete(_ accessUnit: inout MediaOutput.AccessUnit) {
    let sets = reader.parameterSets(upTo: accessUnit.bytes)
    if accessUnit.isKeyframe || isAtStart { accessUnit.bytes = reader.completed(accessUnit.bytes, with: sets) }
    isAtStart = false
  }
}
