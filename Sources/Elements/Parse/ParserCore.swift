// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// How much is held at most.
enum ParserLimits {
  /// The largest access unit: more is taken for an error rather than kept in memory. The largest pictures of the highest
  /// levels (8192 × 4320) have 53 million samples before compression. When the element pulls, that much is held at most;
  /// when it is pushed to, the base class holds it a second time, in one piece.
  static let accessUnitSize = 64 << 20
  /// Data to ask for at once, in bytes: many small access units.
  static let batchSize = 64 << 10
  /// Start code and header byte: with less there is nothing to look at.
  static let minimumInput = 4
}

/// The parser without its element: stages that each own their state, and the way of a buffer through them.
///
/// Used on the sink pad's streaming thread alone. It never calls out: what has to be done with other elements is an
/// answer, and the element reports how it went.
///
/// input format → scanner → SEI → caps → timestamps → random access → packaging → output
struct ParserCore<Codec: ParserCodec>: Sendable {
  // MARK: Stages

  var input = ParserInputFormat<Codec>()
  var position = InputPosition()
  var scanner = Codec.Scanner()
  var sei = SEIReader<Codec>()
  var caps = SourceCaps<Codec>()
  var timestamps = ParserTimestamps<Codec>()
  var randomAccess = RandomAccess<Codec>()
  var packaging: OutputPackaging<Codec>?
  var repackager = OutputRepackager<Codec>()
  var output = ParserOutput<Codec>()
  var minimumFrame = MinimumFrameSize()
  var diagnosis = InputDiagnosis<Codec>()
  var counters = ParserStatistics()
  /// Counts pictures for the log, while someone reads it.
  var orderLog = PictureOrderLog<Codec>()
  /// Of the pictures of a raw file, which the base class may get together.
  var bitrates = BitrateRange()

  // MARK: Between the stages

  /// What the base class said of the data in hand.
  var situation = ParserSituation()
  /// What the scanner found last.
  var accessUnit = ParsedAccessUnit<Codec>()
  /// Its size, from when it was found until it goes to the output.
  var heldSize: Int?
  /// A discontinuity that the next access unit has to tell.
  var isDiscontinuous = false
  /// B-frames are not wanted in this segment.
  var dropsBFrames = false
  /// Something went out since the position in the stream was last forgotten.
  var continuesOutput = false
  /// Buffers go out as they come: `codec_data` cannot be read, and nobody needs it to be.
  var passesThrough = false
  /// What goes out begins behind the segment, and so does all that follows it.
  var isBehindSegment = false
  /// What the application should know of the data, not posted yet.
  var warning: ElementError?
  var batch = Batch()
  /// Keeps the segment that upstream sent from going out: its shifted form goes out in its place.
  var segmentHold: Pad.Probe?

  // MARK: Caps and packaging

  /// Takes upstream's caps.
  ///
  /// - Parameter areOthers: whether they differ from those before.
  /// - Returns: whether `codec_data` can be read.
  mutating func take(
    _ sinkCaps: CompressedCaps<Codec>, areOthers: Bool, _ log: ElementLog
  ) throws(SinkCapsRefusal) -> Bool {
    if areOthers { forgetFormat() }
    output.insertion.cancel()
    passesThrough = false
    let isReadable = try input.take(sinkCaps)
    guard isReadable else { return false }
    if let record = sinkCaps.record {
      // hvcC may hold SEI too.
      for nalUnit in record.nalUnits {
        guard let first = nalUnit.first, Codec.NALUnitType(headerByte: first).isParameterSet else { continue }
        scanner.store(nalUnit.span)
      }
      follow(scanner.takeNotices(), log)
    }
    caps.invalidate()
    return true
  }

  /// The packaging of the output, as downstream wants it.
  ///
  /// - Parameter isNewInput: whether upstream's caps are new, rather than downstream's wishes.
  mutating func agree(on packaging: OutputPackaging<Codec>, isNewInput: Bool, _ log: ElementLog) {
    if input.streamFormat == nil { input.assumeByteStream() }
    let before = self.packaging
    if before != packaging { caps.invalidate() }
    self.packaging = packaging
    configureScanner()
    minimumFrame.configure(isLengthPrefixed: input.isLengthPrefixed)
    if isNewInput {
      // What was in codec_data goes in-band, where the first access unit does not have it anyway: the output's own
      // codec_data has no parameter sets if they may stand in-band. They may not in every file of avc and hvc1, whose
      // packets stay as they are.
      if input.isLengthPrefixed,
        input.streamFormat != .outOfBand || packaging.format != .outOfBand || packaging.alignment != .accessUnit
      {
        output.insertion.force()
      }
    } else if before?.format == .outOfBand, packaging.format != .outOfBand {
      // Who begins to look for parameter sets in the stream has seen none there.
      output.insertion.force()
    }
    log(
      .debug,
      "\(input.packaging), \(input.alignment?.rawValue ?? "unaligned") in, \(packaging.format.rawValue)/\(packaging.alignment.rawValue) out"
    )
  }

  /// Buffers are to go out as they come.
  mutating func passThrough(_ packaging: OutputPackaging<Codec>) {
    passesThrough = true
    self.packaging = packaging
    caps.sent(true)
  }

  private mutating func configureScanner() {
    scanner.packaging = input.packaging
    switch input.alignment {
    case .accessUnit: scanner.inputAlignment = .accessUnit
    case .nalUnit: scanner.inputAlignment = .nalUnits
    case nil: scanner.inputAlignment = .none
    }
    // In-band sets go out as they are; only codec_data must be made of some that can be read.
    scanner.sparesUnreadablePictureParameterSets = packaging?.format != .outOfBand
  }

  /// Caps that are to be sent for the access unit in hand, under what upstream says; nil when none can be made.
  mutating func proposeCaps(upstream: borrowing Caps, _ log: ElementLog) -> CapsProposal? {
    accessUnit.isAnnounced = true
    guard let packaging else { return nil }
    return caps.propose(
      sequenceParameterSetID, of: scanner, as: packaging, input: input, sequence: sei.sequence, upstream: upstream,
      settings: situation.settings, log)
  }

  /// What becomes of proposed caps, once downstream was asked about the profile.
  mutating func judgeCaps(
    _ proposed: borrowing Caps, codecData: [UInt8], current: borrowing Caps?, _ log: ElementLog
  ) -> CapsChange {
    let change = caps.judge(proposed, codecData: codecData, current: current)
    if case .inBand = change {
      if !accessUnit.scanned.contents.contains(.parameterSets) { output.insertion.force() }
      log(.debug, "only codec_data has changed: parameter sets go in-band at the next IDR picture")
    }
    return change
  }

  /// Caps went out, or could not.
  mutating func sentCaps(_ areSet: Bool) { caps.sent(areSet) }

  /// The SPS of the picture in hand, or before there is one, of the picture to come.
  var sequenceParameterSetID: UInt8? {
    accessUnit.scanned.slice?.sequenceParameterSetID ?? caps.describedID ?? scanner.lastSequenceParameterSetID
  }

  var sequenceParameterSet: Codec.SequenceParameterSet? {
    sequenceParameterSetID.flatMap { scanner.parameterSets.sequenceParameterSet($0) }
  }

  // MARK: Events

  /// Forgets what upstream's caps and the stream said about the stream.
  private mutating func forgetFormat() {
    scanner.removeParameterSets()
    input = ParserInputFormat<Codec>()
    packaging = nil
    caps.restart(parameterSetChanges: scanner.parameterSetChanges)
    sei.removeAll()
    randomAccess = RandomAccess<Codec>()
  }

  /// Forgets the position in the stream: what comes next need not follow on what came before.
  mutating func forgetPosition() {
    scanner.resetPosition()
    randomAccess.forgetPosition()
    orderLog = PictureOrderLog<Codec>()
    accessUnit = ParsedAccessUnit<Codec>()
    heldSize = nil
    continuesOutput = false
    position = InputPosition()
    batch = Batch()
  }

  /// FLUSH_STOP has passed.
  mutating func flush() {
    forgetPosition()
    timestamps.forgetPosition(awaitingPosition: false)
    output.insertion.force()
    isDiscontinuous = true
  }

  /// A segment begins; what belongs to the one before went out.
  mutating func begin(_ segment: Segment?, sequenceNumber: UInt32) {
    forgetPosition()
    timestamps.beginSegment(segment, sequenceNumber: sequenceNumber)
    dropsBFrames = segment?.forwardPredictedOnly ?? false
    output.insertion.forgetTime()
  }

  /// A new stream begins.
  mutating func beginStream() { timestamps.beginStream() }

  /// Upstream says that nothing is there for a while.
  mutating func noticeGap() { diagnosis.noticeGap() }

  /// The stream has come to its end. Answers what is wrong with it.
  mutating func end(isEmptyFile: Bool = false) -> ElementError? {
    diagnosis.end(hasParameterSets: hasMetParameterSets, scanner.errors, isEmptyFile: isEmptyFile)
  }

  /// Parameter sets came, whether or not they can be read.
  private var hasMetParameterSets: Bool {
    let (sps, pps) = (Codec.NALUnitType.sequenceParameterSet, Codec.NALUnitType.pictureParameterSet)
    return scanner.nalUnitCounts[Int(sps.rawValue)] > 0 || scanner.nalUnitCounts[Int(pps.rawValue)] > 0
  }

  /// What was counted so far.
  @inline(__always) var statistics: ParserStatistics {
    var result = counters
    result.nalUnits = scanner.nalUnitCounts
    result.parameterSetChanges = scanner.parameterSetChanges
    result.errors = scanner.errors
    result.seiErrors = sei.errors
    return result
  }
}
