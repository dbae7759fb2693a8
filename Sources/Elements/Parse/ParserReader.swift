// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// The parser in front of its output: finds access units in the data, and gives each its caps, times and flags.
///
/// A copy of it can read elsewhere than at the output's place: ahead of it (``SeekScout``), or somewhere in the file.
///
/// input format → finder (scanner, SEI) → caps → timestamps → random access
struct ParserReader<Codec: ParserCodec>: Sendable {
  private(set) var input = ParserInputFormat<Codec>()
  private(set) var finder = AccessUnitFinder<Codec>()
  private(set) var caps = SourceCaps<Codec>()
  private(set) var timestamps = ParserTimestamps<Codec>()
  private var randomAccess = RandomAccess<Codec>()
  private var recovery = GradualRecovery<Codec>()
  private var counters = ParserStatistics()
  /// The bitrates of a raw file's pictures, of which the base class may get several as one frame.
  private(set) var bitrates = BitrateRange()
  /// The duration of a raw file.
  private(set) var pace = StreamPace()

  /// The packaging that downstream requires; the reading depends on it.
  private(set) var packaging: OutputPackaging<Codec>?
  /// The base class's information about the current data.
  private(set) var snapshot = InputSnapshot()
  /// The next access unit gets DISCONT.
  private var isDiscontinuous = false
  /// Upstream has sent EOS.
  private var isAtEnd = false

  // MARK: Caps and packaging

  /// Takes upstream's caps. Returns whether `codec_data` can be read.
  mutating func take(_ sinkCaps: CompressedCaps<Codec>, _ log: ElementLog) throws(SinkCapsRefusal) -> Bool {
    guard try input.take(sinkCaps) else { return false }
    if let record = sinkCaps.record { finder.store(record, log) }
    caps.invalidate()
    return true
  }

  /// Forgets the format from upstream's caps and from the stream.
  mutating func forgetFormat() {
    finder.forgetFormat()
    input = ParserInputFormat<Codec>()
    packaging = nil
    caps.restart(parameterSetChanges: finder.scanner.parameterSetChanges)
    randomAccess = RandomAccess<Codec>()
  }

  /// Sets the output's packaging.
  ///
  /// - Parameter isNewInput: whether upstream's caps are new, rather than downstream's.
  /// - Returns: whether the output needs parameter sets in front of the next picture.
  mutating func agree(on packaging: OutputPackaging<Codec>, isNewInput: Bool, _ log: ElementLog) -> Bool {
    if input.streamFormat == nil { input.assumeByteStream() }
    if packaging != self.packaging { caps.invalidate() }
    let lacksSets =
      isNewInput ? input.hasSets(lackedBy: packaging) : packaging.looksForSets(after: self.packaging)
    self.packaging = packaging
    finder.configure(input, for: packaging)
    let (format, alignment) = (packaging.format.rawValue, packaging.alignment.rawValue)
    log(.debug, "\(input.packaging), \(input.alignment?.rawValue ?? "unaligned") in, \(format)/\(alignment) out")
    return lacksSets
  }

  /// Buffers are passed through unchanged.
  mutating func passThrough(_ packaging: OutputPackaging<Codec>) {
    self.packaging = packaging
    caps.sent(true)
  }

  /// The caps for an access unit, based on upstream's; nil when none can be made.
  mutating func proposeCaps(
    for accessUnit: ParsedAccessUnit<Codec>, upstream: borrowing Caps, _ log: ElementLog
  ) -> CapsProposal? {
    guard let packaging else { return nil }
    return caps.propose(
      sequenceParameterSetID(of: accessUnit), of: finder.scanner, as: packaging, input: input,
      sequence: finder.sei.sequence, describedSEI: finder.describedSEI, upstream: upstream,
      settings: snapshot.settings, log)
  }

  /// Has the caps made again with the next access unit.
  mutating func invalidateCaps() { caps.invalidate() }

  /// Decides whether proposed caps are sent.
  mutating func judgeCaps(
    _ proposed: borrowing Caps, codecData: [UInt8], current: borrowing Caps?
  ) -> CapsChange {
    caps.judge(proposed, codecData: codecData, current: current)
  }

  /// Caps were sent, or could not be.
  mutating func sentCaps(_ areSet: Bool) { caps.sent(areSet) }

  /// The SPS id of an access unit's picture or, in front of its first slice, of the next picture.
  @inline(__always)
  func sequenceParameterSetID(of accessUnit: ParsedAccessUnit<Codec>) -> SequenceParameterSetID? {
    finder.sequenceParameterSetID(of: accessUnit, described: caps.describedID)
  }

  /// Whether the caps that were sent describe an access unit.
  @inline(__always) mutating func describes(_ accessUnit: ParsedAccessUnit<Codec>) -> Bool {
    caps.describe(sequenceParameterSetID(of: accessUnit))
  }

  // MARK: Events

  /// Forgets the position in the stream: the next data need not continue the last.
  mutating func forgetPosition() {
    isAtEnd = false
    finder.forgetPosition()
    randomAccess.forgetPosition()
    recovery.forgetPosition()
  }

  /// FLUSH_STOP has passed.
  mutating func flush() {
    timestamps.flush()
    isDiscontinuous = true
  }

  /// A segment begins.
  mutating func begin(_ segment: Segment?, sequenceNumber: UInt32) {
    timestamps.beginSegment(segment, sequenceNumber: sequenceNumber)
  }

  /// Upstream has sent EOS.
  mutating func noticeEnd() { isAtEnd = true }

  /// A new stream begins.
  mutating func beginStream() { timestamps.beginStream() }

  /// The counts so far.
  ///
  /// Reads the scanner in place: passing it to a function copies it, for each access unit.
  @inline(__always) var statistics: ParserStatistics {
    var result = counters
    result.nalUnits = finder.scanner.nalUnitCounts
    result.parameterSetChanges = finder.scanner.parameterSetChanges
    result.errors = finder.scanner.errors
    result.seiErrors = finder.sei.errors
    return result
  }

  // MARK: Data

  /// Data is handed over.
  mutating func begin(_ snapshot: InputSnapshot) {
    self.snapshot = snapshot
    if snapshot.attributes.flags.contains(.discontinuity) { isDiscontinuous = true }
  }

  /// The base class has moved to the current data without an event.
  mutating func jump() {
    timestamps.forgetPosition(
      awaitingPosition: snapshot.offset != 0, isPositionKnown: snapshot.attributes.dts != nil)
  }

  /// Looks at data that the base class has not handed over.
  mutating func look(at offset: UInt64, isEnd: Bool) {
    (snapshot.offset, snapshot.isDraining, snapshot.attributes) = (offset, isEnd, Buffer.Attributes())
  }

  /// Whether the access unit that was found is not in `available` bytes: the file has become shorter since.
  func lacksBytes(_ available: Int) -> Bool { finder.heldSize ?? 0 > available }

  /// Sets what the scanner looks for, between two access units.
  ///
  /// - Parameter continuesOutput: whether something was output since the position in the stream was last forgotten.
  mutating func aim(continuesOutput: Bool) {
    timestamps.notice(snapshot)
    guard finder.scanner.isBetweenAccessUnits else { return }
    finder.aim(
      listing: splitsAccessUnits(continuesOutput: continuesOutput) || replacesStartCodes,
      cutting: packaging?.alignment == .nalUnit,
      areTimesMade ? .referenceMarking : .pictureIdentity)
  }

  /// Whether lengths replace start codes, so that each NAL unit must be known.
  private var replacesStartCodes: Bool {
    guard let packaging, input.isByteStream else { return false }
    return packaging.format.isLengthPrefixed && packaging.alignment == .accessUnit
  }

  /// Whether, for alignment=nal output, whole access units go to the base class and are split on the way out. This
  /// halves the base class's share of the CPU, but a NAL unit waits for the rest of its access unit. Therefore it is
  /// done only if the rest is here already and is sent unchanged.
  private mutating func splitsAccessUnits(continuesOutput: Bool) -> Bool {
    guard let packaging, packaging.format == .byteStream, packaging.alignment == .nalUnit, input.isByteStream,
      snapshot.playback.isForward, !snapshot.settings.updatesTimeCode
    else { return false }
    if snapshot.isPulling || input.alignment == .accessUnit { return true }
    return snapshot.isDraining && !continuesOutput
  }

  /// Finds the next access unit, unless one was found already.
  mutating func find(
    _ bytes: Span<UInt8>, isMarked: Bool, _ accessUnit: inout ParsedAccessUnit<Codec>, _ log: ElementLog
  ) -> ScannerFinding {
    if let size = finder.heldSize { return .accessUnit(size) }
    let finding = finder.find(
      in: bytes, isMarked: isMarked, isDraining: snapshot.isDraining, describedID: caps.describedID, &accessUnit, log)
    switch finding {
    case .unusable(let size): drop(size)
    case .garbage(let count): counters.skip(count)
    case .accessUnit, .needsMoreData: break
    }
    return finding
  }

  /// Takes the changes since the last call; has the caps checked again if they may have changed.
  @inline(__always) mutating func takeChanges() -> AccessUnitFinder<Codec>.Changes? {
    guard let changes = finder.takeChanges() else { return nil }
    if changes.changesSequence { caps.invalidate() }
    caps.follow(parameterSetChanges: finder.scanner.parameterSetChanges)
    return changes
  }

  /// Reads the order of the access unit that was found. Returns whether enough is known; else it waits for more data.
  mutating func readOrder(
    of accessUnit: inout ParsedAccessUnit<Codec>, _ bytes: Span<UInt8>, size: Int
  ) -> Bool {
    guard accessUnit.beginsPicture, areTimesMade else { return true }
    return timestamps.readOrder(
      of: &accessUnit, bytes, size: size, finder.scanner, rate: caps.timing.pictureRate,
      isComplete: snapshot.isDraining || input.alignment != nil || bytes.count > ParserLimits.accessUnitSize / 2,
      mayWait: snapshot.isPulling)
  }

  /// The access unit that was found is passed on.
  mutating func letGo() { finder.letGo() }

  /// Counts an access unit, and sets its times and flags. Returns whether there are new tags.
  ///
  /// - Parameter upstream: what upstream has given.
  mutating func describe(
    _ accessUnit: inout ParsedAccessUnit<Codec>, size: Int, _ upstream: Buffer.Attributes
  ) -> Bool {
    timestamps.setTimes(
      of: &accessUnit, upstream, caps.timing, input: input, snapshot.playback,
      sharesTimes: packaging?.alignment == .nalUnit,
      needsDecodingTimes: Codec.timesByteStreams || input.isLengthPrefixed || packaging?.format.isLengthPrefixed == true
    )
    let isRandomAccessPoint = judgeRandomAccess(&accessUnit)
    accessUnit.describe(isRandomAccessPoint: isRandomAccessPoint, isDiscontinuous: isDiscontinuous)
    isDiscontinuous = false
    counters.count(size, accessUnit.scanned.contents, isRandomAccessPoint: isRandomAccessPoint)
    guard isRawFile else { return false }
    if recovery.isUnderWay || accessUnit.recoveryPoint != nil {
      recovery.notice(accessUnit, finder.scanner.parameterSets)
    }
    pace.notice(lasting: accessUnit.attributes.duration)
    return bitrates.add(bytes: size, duration: accessUnit.attributes.duration, average: pace.bitrate)
  }

  /// Whether decoding can begin with an access unit; decided once.
  mutating func judgeRandomAccess(_ accessUnit: inout ParsedAccessUnit<Codec>) -> Bool {
    if let known = accessUnit.isRandomAccessPoint { return known }
    let isIt = randomAccess.contains(
      accessUnit.scanned, soFar: finder.scanner.accessUnitContents, isIntraOnly: caps.timing.isIntraOnly)
    accessUnit.decide(isRandomAccessPoint: isIt)
    return isIt
  }

  /// Whether an access unit at the end of a byte stream is a delimiter, parameter sets or SEI of a picture that does
  /// not come. In a container, it would be a sample without a picture.
  func isRemnant(_ accessUnit: ParsedAccessUnit<Codec>) -> Bool {
    guard let packaging, snapshot.isDraining, isAtEnd || snapshot.isPulling, input.isByteStream else { return false }
    return packaging.format.isLengthPrefixed && packaging.alignment == .accessUnit
      && !accessUnit.scanned.contents.contains(.slice)
  }

  /// Bytes are left out of the output.
  mutating func drop(_ size: Int) {
    counters.skip(size)
    isDiscontinuous = true
  }

  /// Consumes bytes, starting `first` bytes behind the beginning of the data.
  mutating func consume(_ size: Int, behind first: Int = 0) {
    pace.consume(size, at: snapshot.offset.map { $0 &+ UInt64(first) })
  }

  /// Whether the input is a raw stream whose timestamps are made here. `mutating` only because a value that is borrowed
  /// would be copied.
  var areTimesMade: Bool { mutating get { timestamps.areMade(for: input, snapshot.playback) } }

  /// Whether the input is a file of such a stream.
  var isRawFile: Bool { mutating get { snapshot.isPulling && areTimesMade } }

  /// Whether the file should be sampled now, to determine how long it lasts.
  var wantsSamples: Bool { mutating get { isRawFile && caps.timing.frameRate != nil && pace.awaitsSamples } }

  /// Returns the distance between an accurate seek's start and its target, if that is new.
  mutating func takeLeadIn() -> LeadIn? { recovery.takeLongest(caps.timing.frameRate) }

  // MARK: Access units past the base class

  /// Whether access units may be pushed past the base class as long as the stream continues like this.
  var mayBatch: Bool {
    mutating get {
      guard snapshot.isPulling, snapshot.playback.isWhole, !snapshot.settings.updatesTimeCode,
        let packaging, packaging.format == .byteStream, caps.timing.frameRate != nil, areTimesMade
      else { return false }
      return packaging.alignment == .accessUnit || finder.scanner.listsNALUnits
    }
  }

  /// Whether an access unit is another picture of the sequence, about which the base class has nothing to decide.
  /// Random access points go into its index, and get the parameter sets so far and no later ones.
  mutating func mayJoinBatch(_ accessUnit: inout ParsedAccessUnit<Codec>) -> Bool {
    accessUnit.beginsPicture && describes(accessUnit) && !isDiscontinuous
      && (accessUnit.scanned.dropped.isEmpty || finder.scanner.listsNALUnits) && !judgeRandomAccess(&accessUnit)
  }

  // MARK: Times on the way out

  /// Gives an access unit the times with which it is output.
  ///
  /// - Parameter given: the base class's, if the access unit is at the beginning of a frame.
  /// - Returns: the shifted segment, if it has to be sent before the access unit.
  @inline(__always) mutating func release(
    _ accessUnit: inout ParsedAccessUnit<Codec>, given: Buffer.Attributes?
  ) -> SegmentShift.Announcement? {
    caps.noticeBuffer()
    return timestamps.release(&accessUnit, given: given, areMade: given != nil && areTimesMade)
  }

  /// Undoes the output since then: the base class will hand over the same data again.
  mutating func takeBack(_ before: ParserTimestamps<Codec>?) {
    pace.interrupt()
    if let before { timestamps = before }
  }

  /// The base class has put its position on the first picture after a seek, if these are its times.
  mutating func takePosition(_ times: inout Buffer.Attributes) { timestamps.takePosition(&times) }

  // MARK: Elsewhere in the file

  /// How long the pictures last whose first slices begin before `end` in bytes from the middle of the stream, and their
  /// number. For a copy of the reader.
  mutating func pictures(
    in bytes: Span<UInt8>, before end: Int, _ log: ElementLog
  ) -> (duration: ClockTime, count: Int) {
    finder.forgetPosition()
    finder.aim(listing: true, cutting: false, .pictureIdentity)
    var (place, duration, count) = (0, ClockTime.zero, 0)
    var accessUnit = ParsedAccessUnit<Codec>()
    while place < min(end, bytes.count) {
      let finding = finder.find(
        in: bytes.extracting(place...), isMarked: false, isDraining: true, describedID: caps.describedID, &accessUnit,
        log)
      guard finding.size > 0 else { break }
      let start = place
      place += finding.size
      guard case .accessUnit = finding else { continue }
      finder.letGo()
      // The first one may be the end of a picture.
      guard accessUnit.scanned.slice?.isFirstInPicture == true else { continue }
      // Counts by the beginning of the slice's three-byte start code: a picture cut in front of it counts once.
      guard let slice = accessUnit.firstSlice, start + slice.lowerBound - 3 < end else { continue }
      duration = duration + (timestamps.duration(of: accessUnit, caps.timing) ?? .zero)
      count += 1
    }
    return (duration, count)
  }

  /// Takes samples of the whole file; none if it cannot be sampled.
  mutating func learn(_ samples: [FileSample]) {
    pace.learn(samples)
    bitrates.expect(pace.bitrate)
  }

  /// Continues in front of a keyframe that a copy has found.
  ///
  /// - Parameters:
  ///   - reader: the copy when it was there.
  ///   - end: the copy where reading ahead has ended.
  /// - Returns: whether parameter sets have changed on the way.
  mutating func arrive(_ reader: ParserReader<Codec>, end: ParserReader<Codec>) -> Bool {
    let before = self
    self = reader
    recovery.forgetPosition()
    recovery.learn(from: end.recovery)
    finder.forgetPosition()
    snapshot = before.snapshot
    isDiscontinuous = true
    caps.invalidate()
    return finder.scanner.parameterSetChanges != before.finder.scanner.parameterSetChanges
  }
}
