// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// `swifth264parse`: cuts H.264 into access units or NAL units, says in caps what is inside, and changes the packaging
/// to what downstream wants.
///
/// Timestamps, flags and metas of the input are kept. Where the packaging stays, so does the memory: an output buffer
/// is a part of the input.
final class H264Parse: BaseParse {
  struct Settings: Sendable {
    var configInterval: Int32 = 0
    var updatesTimeCode = false
    var frameRate = GStreamer.Fraction(0, 1)
  }

  override class var metadata: ElementMetadata {
    ElementMetadata(
      name: "H.264 parser in Swift", classification: "Codec/Parser/Converter/Video",
      description: "Parses and repackages H.264 streams", author: "gst-swift-h26x")
  }

  override class var padTemplates: [PadTemplate] {
    [
      .sink("video/x-h264"),
      .source(
        """
        video/x-h264, parsed=(boolean)true, stream-format=(string){ avc, avc3, byte-stream }, \
        alignment=(string){ au, nal }
        """),
    ]
  }

  override class var properties: [Property] {
    Property.settings(
      { (element: H264Parse) in element.settings }, defaults: Settings(),
      [
        .int(
          "config-interval", \.configInterval, in: -1...3600,
          "Seconds between insertions of SPS and PPS before IDR pictures (0 = never, -1 = before every IDR picture)"),
        .boolean(
          "update-timecode", \.updatesTimeCode,
          "Rewrite the time codes of picture timing SEI messages from the GstVideoTimeCodeMeta of input buffers"),
        .fraction(
          "framerate", \.frameRate,
          "Frames a second for streams that do not say and have no timestamps (0/1 = unknown)"),
      ]) + [
        .structure("stats", "What was parsed so far") { (element: H264Parse) in element.published.snapshot.structure }
      ]
  }

  static let log = Log("swifth264parse", "H.264 parser in Swift")

  let settings = Locked(Settings())
  /// `statistics` as of the last unit that went out, for other threads.
  let published = Locked(ParseStatistics())
  var statistics = ParseStatistics()
  /// Of the units of a raw file, which the base class may get together.
  var bitrates = BitrateRange()

  // MARK: The stream

  var scanner = H264.AccessUnitScanner()
  /// Pictures that went out since start or the last error about their absence.
  var pictureCount: UInt64 = 0
  /// Bytes taken in, for messages.
  var bytesSeen: UInt64 = 0

  // MARK: Formats

  var inputFormat: StreamFormat?
  var inputAlignment: StreamAlignment?
  /// Of packets that come in; of those that go out as well, unless the input is a byte stream.
  var lengthSize = NALLengthSize.four
  var format: StreamFormat?
  var alignment = StreamAlignment.accessUnit

  // MARK: Scanning

  /// What the scanner found last.
  var unit = ParsedUnit()
  /// The size of `unit` while it waits for what must be known of it.
  var heldUnitSize: Int?
  /// What `unit` was when it was handed to the base class, until it is pushed.
  var outgoing = ParsedUnit()
  /// Units went out since the position in the stream was last forgotten.
  var continuesOutput = false
  /// Where the input goes on, when it goes on without a seek.
  var expectedOffset: UInt64?
  /// The size that the next frame will probably have.
  var sizeHint = 0
  var hasReportedMissingPictures = false
  /// The lack of pictures is to be reported at the end, if it lasts.
  var awaitsEndOfStream = false
  /// Counts pictures for the log, while someone reads it.
  var orderLog = PictureOrderLog()
  var repackager = Repackager(codec: .h264)

  // MARK: Caps

  var capsState = CapsState()

  var sequenceInformation = SequenceInformation()

  // MARK: Output

  var insertion = ParameterSetInsertion()
  let pendingKeyUnit = Locked<PendingKeyUnit?>(nil)
  /// A discontinuity that the next unit has to tell.
  var isDiscontinuous = false
  var discardsBidirectional = false
  var timestamps = TimestampState()
  /// A buffering period began: decoding times can be counted from there.
  var hasBufferingPeriod = false
  /// The timestamps that the NAL units of one access unit share.
  var accessUnitTimes: (pts: ClockTime?, dts: ClockTime?) = (nil, nil)

  @unsafe required init(raw: UnsafeMutableRawPointer) {
    unsafe super.init(raw: raw)
    sinkPad.setAcceptsIntersection()
    setInterpolatesPTS(false)
    setInfersTimestamps(false)
  }

  // MARK: Life

  override func start() throws(ElementError) {
    resetStream()
    setMinimumFrameSize(H264.AccessUnitScanner.minimumInput)
    reportEmptyInput()
  }

  override func stop() { resetStream() }

  /// Everything as new.
  private func resetStream() {
    scanner = H264.AccessUnitScanner()
    resetFormats()
    resetScan()
    statistics = ParseStatistics()
    bitrates = BitrateRange()
    publishStatistics()
    pictureCount = 0
    bytesSeen = 0
    hasReportedMissingPictures = false
    sizeHint = 0
    pendingKeyUnit.withLock { $0 = nil }
    discardsBidirectional = false
    insertion.lastTime = nil
    timestamps = TimestampState()
    hasBufferingPeriod = false
  }

  /// Forgets what upstream's caps and the stream said about the stream.
  func resetFormats() {
    scanner.removeParameterSets()
    inputFormat = nil
    inputAlignment = nil
    lengthSize = .four
    format = nil
    alignment = .accessUnit
    capsState = CapsState()
    capsState.parameterSetChanges = scanner.parameterSetChanges
    sequenceInformation = SequenceInformation()
    insertion.isForced = false
  }

  /// Forgets the position in the stream: what comes next need not follow on what came before.
  func resetScan() {
    scanner.resetPosition()
    orderLog = PictureOrderLog()
    unit = ParsedUnit()
    heldUnitSize = nil
    continuesOutput = false
    expectedOffset = nil
    accessUnitTimes = (nil, nil)
    let isInTime = timestamps.isUpstreamInTime
    timestamps = TimestampState()
    timestamps.isUpstreamInTime = isInTime
  }

  func publishStatistics() {
    statistics.nalUnits = scanner.nalUnitCounts
    statistics.parameterSetChanges = scanner.parameterSetChanges
    statistics.errors = scanner.errors
    let current = statistics
    published.withLock { $0 = current }
  }

  // MARK: Data

  override func setSinkCaps(_ caps: borrowing Caps) -> Bool { acceptSinkCaps(caps) }

  override func sinkCaps(filter: borrowing Caps?) -> Caps { acceptableSinkCaps(filter: filter) }

  override func handleFrame(_ frame: borrowing BaseParseFrame) throws(FlowError) -> ParseStep { try scan(frame) }

  override func prePushFrame(_ frame: borrowing BaseParseFrame) throws(FlowError) { try finishOutput(frame) }

  // MARK: Events

  override func sinkQuery(_ query: borrowing Query) -> Bool {
    if let caps = query.capsToAccept, isSuperfluous(for: caps) {
      query.setAcceptCapsResult(false)
      return true
    }
    return super.sinkQuery(query)
  }

  override func sinkEvent(_ event: consuming Event) -> Bool {
    switch event.kind {
    case .customDownstream:
      if let request = ForceKeyUnit(event) {
        takeDownstreamKeyUnit(request, sequenceNumber: event.sequenceNumber)
        return true
      }
    case .flushStop:
      let result = super.sinkEvent(event)
      resetScan()
      insertion.isForced = true
      isDiscontinuous = true
      return result
    case .segment:
      let discards = event.segment?.forwardPredictedOnly ?? false
      let isInTime = event.segment?.isTime ?? false
      let start = event.segment?.start ?? 0
      // The base class sends out what belongs to the old segment first.
      let result = super.sinkEvent(event)
      resetScan()
      discardsBidirectional = discards
      timestamps.isUpstreamInTime = isInTime
      timestamps.awaitsPosition = !isInTime && start > 0
      insertion.lastTime = nil
      return result
    case .endOfStream:
      if segment.rate > 0 { drain() }
      reportMissingPictures()
      publishStatistics()
    default: break
    }
    return super.sinkEvent(event)
  }

  override func sourceEvent(_ event: consuming Event) -> Bool {
    if event.kind == .customUpstream, let request = ForceKeyUnit(event), request.allHeaders {
      let pending = PendingKeyUnit(request: request, sequenceNumber: event.sequenceNumber)
      pendingKeyUnit.withLock { $0 = pending }
    }
    return super.sourceEvent(event)
  }
}
