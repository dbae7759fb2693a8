// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// The behavior of every parser, whatever its codec: the bodies of its vfuncs.
///
/// Each body accesses the core briefly, with calls to other code in between. While downstream is called, it may send
/// requests, queries and reconfigure events back into the element on the same thread.
protocol ParserElement: BaseParse {
  /// The codec that it parses.
  associatedtype Codec: ParserCodec
  /// The debug category.
  static var log: Log { get }
  var settings: Locked<ParserSettings> { get }
  /// The core's counts when the last access unit was output, for other threads.
  var statistics: Locked<ParserStatistics> { get }
  /// The duration of the file, for other threads.
  var pace: Locked<StreamPace> { get }
  /// The target of the last seek if it is an accurate one forwards, until its data has come.
  var target: Locked<ClockTime?> { get }
  /// A force-key-unit request that waits for its answer, from any thread.
  var keyUnitRequest: Locked<KeyUnitRequest?> { get }
  /// Used with the sink pad's stream lock held, and before the pads are active.
  var core: ParserCore<Codec> { get set }
}

extension ParserElement {
  var elementLog: ElementLog { ElementLog(Self.log, self) }

  // MARK: Life

  /// Resets everything, the base class's settings too: it resets them to its own defaults when it stops.
  func prepareCore() {
    releaseSegment()
    core = ParserCore<Codec>()
    keyUnitRequest.withLock { $0 = nil }
    target.withLock { $0 = nil }
    statistics.withLock { $0 = ParserStatistics() }
    pace.withLock { $0 = StreamPace() }
    setInterpolatesPTS(false)
    setInfersTimestamps(false)
    setPassthrough(false)
    acceptErrors()
    if let size = core.takeMinimumFrameSize() { setMinimumFrameSize(size) }
  }

  private func publishStatistics() {
    let (current, currentPace) = (core.reader.statistics, core.reader.pace)
    statistics.withLock { $0 = current }
    pace.withLock { $0 = currentPace }
  }

  // MARK: Data

  /// Looks for an access unit at the start of the data.
  func parse(_ frame: borrowing BaseParseFrame) throws(FlowError) -> ParseStep {
    let log = elementLog
    switch core.begin(snapshot(of: frame)) {
    case .none: break
    case .first: agreeOnPackaging(isNewInput: false)
    case .again: if sourcePad.needsReconfigure, sourcePad.checkReconfigure() { agreeOnPackaging(isNewInput: false) }
    }
    if let step = try skipToTarget(frame) { return step }
    while true {
      switch try parseInCore(frame, log) {
      case .announce: announceCaps()
      case .fail(let error): throw reported(.error, as: error)
      case .answer(let answer): return try follow(answer, frame)
      }
    }
  }

  private func parseInCore(
    _ frame: borrowing BaseParseFrame, _ log: ElementLog
  ) throws(FlowError) -> ParserAction {
    do throws(FlowError) { return try core.parse(frame, log) } catch { throw reported(error, as: .unreadableInput) }
  }

  private func nextOutput(of frame: borrowing BaseParseFrame, _ log: ElementLog) throws(FlowError) -> OutputAction {
    do throws(FlowError) { return try core.nextOutput(of: frame, log) } catch {
      throw reported(error, as: .unwritableOutput)
    }
  }

  /// Posts a failure of the core, which posts nothing itself.
  func reported(_ flow: FlowError, as message: ElementError) -> FlowError {
    if flow == .error { postLast(message) }
    return flow
  }

  private func snapshot(of frame: borrowing BaseParseFrame) -> InputSnapshot {
    var snapshot = InputSnapshot()
    let segment = segment
    if let target = target.snapshot, target.nanoseconds == segment.start { snapshot.target = target }
    snapshot.settings = settings.snapshot
    snapshot.isPulling = sinkPad.isPulling
    snapshot.isDraining = isDraining
    snapshot.isNew = frame.isNew
    snapshot.offset = frame.offset == .max ? nil : frame.offset
    snapshot.attributes = frame.withBuffer { $0.attributes }
    snapshot.playback = Playback(segment)
    return snapshot
  }

  private func follow(_ answer: ParserAnswer, _ frame: borrowing BaseParseFrame) throws(FlowError) -> ParseStep {
    if let warning = answer.warning { postWarning(warning) }
    if let size = answer.minimumFrameSize { setMinimumFrameSize(size) }
    if answer.wantsSamples { sampleFile() }
    if let leadIn = answer.leadIn { setFrameRate(leadIn.rate, leadIn: leadIn.frames) }
    if answer.changesTags { sendTags() }
    if answer.publishes { publishStatistics() }
    if answer.isDropped { frame.markAsDropped() }
    if answer.holdsSegment { holdSegment() }
    switch answer.end {
    case .no: break
    case .now: reportMissingPictures()
    case .afterOutput: sourcePad.before(.endOfStream) { [weak self] in self?.reportMissingPictures() }
    }
    return answer.mayBatch ? .frame(size: try pushBatch(frame)) : answer.step
  }

  /// The base class is about to push the frame, or the rest of it.
  func send(_ frame: borrowing BaseParseFrame) throws(FlowError) {
    let start = core.beginOutput(of: frame)
    if case .noCaps = start { throw sourcePad.isFlushing ? .flushing : .notNegotiated }
    // In passthrough the base class forwards empty buffers too; payloaders refuse them.
    if frame.size == 0 { throw .dropped }
    // In reverse the base class would read to the end of the file, and hold all of it until then.
    if case .afterSegment = start, segment.rate < 0, segment.isDone { throw .endOfStream }
    try pushOutput(of: frame)
  }

  /// Sends the access unit, except for the part that is left to the base class.
  private func pushOutput(of frame: borrowing BaseParseFrame) throws(FlowError) {
    let log = elementLog
    while true {
      switch try nextOutput(of: frame, log) {
      case .leave: return
      case .pushLast(let buffer): return try sourcePad.push(buffer)
      case .push(let buffer): try sourcePad.push(buffer)
      case .advance(let time): advancePosition(to: time)
      case .tags: sendTags()
      case .segment(let shift): sendShiftedSegment(shift)
      case .keyUnit(let pts, let outgoing): answerKeyUnitRequest(pts: pts, outgoing: outgoing)
      }
    }
  }

  /// Pushes access units as long as another one can follow in the same frame. Returns the end of the last one, which
  /// is left to the base class.
  private func pushBatch(_ frame: borrowing BaseParseFrame) throws(FlowError) -> Int {
    let log = elementLog
    do {
      let map: ReadMap
      do throws(FlowError) { map = try frame.map() } catch { throw reported(error, as: .unreadableInput) }
      let bytes = map.bytes
      while !sourcePad.needsReconfigure, core.continueBatch(bytes, log) {
        do throws(FlowError) {
          try pushOutput(of: frame)
        } catch {
          core.interruptBatch()
          throw error
        }
        if let position = core.pushedOfBatch() { advancePosition(to: position) }
      }
    }
    let batch = core.endBatch()
    if let duration = batch.duration { frame.modifyBuffer { $0.duration = duration } }
    if batch.changesTags { sendTags() }
    publishStatistics()
    return batch.size
  }

  /// Sends codec and bitrates as tags.
  private func sendTags() {
    guard let caps = sourcePad.currentCaps else { return }
    var tags = TagList()
    tags.set("video-codec", codecDescription(Codec.name, profile: caps.first.string("profile")))
    if let range = core.reader.bitrates.reported {
      tags.set("minimum-bitrate", range.lowerBound)
      tags.set("maximum-bitrate", range.upperBound)
    }
    if let average = core.reader.bitrates.reportedAverage { tags.set("bitrate", average) }
    mergeTags(tags)
  }

  // MARK: A shifted segment

  private func holdSegment() {
    let probe = sourcePad.discard(.segment)
    core.hold(probe)
  }

  /// Lets upstream's segments pass again.
  private func releaseSegment() {
    guard let probe = core.takeSegmentHold() else { return }
    sourcePad.remove(probe)
  }

  private func sendShiftedSegment(_ shift: SegmentShift.Announcement) {
    releaseSegment()
    var event = Event.segment(segment.shifted(by: shift.amount))
    event.sequenceNumber = shift.sequenceNumber
    sourcePad.push(event)
  }

  // MARK: Events

  /// Handles an event from upstream; `chain` hands it to the base class.
  func handleSinkEvent(_ event: consuming Event, chain: (consuming Event) -> Bool) -> Bool {
    switch event.kind {
    case .customDownstream:
      guard !core.passesThrough, let request = ForceKeyUnit(event) else { return chain(event) }
      keep(KeyUnitRequest(request: request, sequenceNumber: event.sequenceNumber))
      return true
    case .streamStart:
      let result = chain(event)
      core.beginStream()
      return result
    case .flushStop:
      let result = chain(event)
      releaseSegment()
      acceptErrors()
      core.flush()
      return result
    case .segment:
      let (segment, sequenceNumber) = (event.segment, event.sequenceNumber)
      // The base class first pushes what belongs to the old segment.
      let result = chain(event)
      releaseSegment()
      core.begin(segment, sequenceNumber: sequenceNumber)
      return result
    case .gap:
      core.noticeGap()
      // Without caps the base class would make some, of upstream's codec_data and another stream format.
      guard sourcePad.hasCaps || announceCapsBeforeData() else { return true }
      guard core.reader.timestamps.shift.isShifted, let gap = event.gap else { return chain(event) }
      drain()
      var shifted = Event.gap(
        at: core.reader.timestamps.shift.shifted(Int64(clamping: gap.start.nanoseconds)), duration: gap.duration)
      shifted.sequenceNumber = event.sequenceNumber
      return sourcePad.push(shifted)
    case .endOfStream: return handleEnd(event, chain: chain)
    default: return chain(event)
    }
  }

  private func handleEnd(_ event: consuming Event, chain: (consuming Event) -> Bool) -> Bool {
    guard segment.rate > 0 else {
      // In reverse, the base class pushes its held data when it gets the event.
      let result = chain(event)
      reportMissingPictures()
      publishStatistics()
      return result
    }
    core.noticeEnd()
    drain()
    reportMissingPictures()
    publishStatistics()
    return chain(event)
  }

  /// A force-key-unit request from downstream is forwarded upstream; one for all headers concerns the parser too. The
  /// base class handles seeks, without their flags in the events that follow.
  func noticeSourceEvent(_ event: borrowing Event) {
    if let seek = event.seek {
      let start = seek.isAccurate && seek.isTime && seek.rate > 0 ? seek.start : nil
      target.withLock { $0 = start.map { ClockTime(nanoseconds: $0) } }
    }
    guard event.kind == .customUpstream, let request = ForceKeyUnit(event), request.allHeaders else { return }
    let pending = KeyUnitRequest(request: request, sequenceNumber: event.sequenceNumber)
    keyUnitRequest.withLock { $0 = pending }
  }

  /// Keeps a force-key-unit event that came with the data until the keyframe comes.
  private func keep(_ request: KeyUnitRequest) {
    let isNew = keyUnitRequest.withLock { pending in
      guard pending == nil else { return false }
      pending = request
      return true
    }
    Self.log(.info, self, isNew ? "key unit requested" : "ignored a key unit request: another one is pending")
  }

  /// Sends a force-key-unit event in front of the keyframe that answers it, with its times, and inserts parameter sets.
  private func answerKeyUnitRequest(pts: ClockTime?, outgoing: ClockTime?) {
    guard keyUnitRequest.snapshot != nil else { return }
    let segment = segment
    let running = segment.runningTime(of: pts)
    // Another thread may put a later request in place of this one.
    let taken = keyUnitRequest.withLock { request -> KeyUnitRequest? in
      if let wanted = request?.request.runningTime {
        guard let running, running >= wanted else { return nil }
      }
      return request.take()
    }
    guard let pending = taken else { return }
    var answer = pending.request
    answer.timestamp = outgoing
    answer.streamTime = segment.streamTime(of: pts)
    answer.runningTime = running
    var event = answer.downstreamEvent()
    event.sequenceNumber = pending.sequenceNumber
    Self.log(.info, self, "key unit request fulfilled")
    sourcePad.push(event)
    core.answeredKeyUnit()
  }

  // MARK: A stream without pictures

  /// Posts an error if the input has ended without a picture. GstBaseParse would post a vaguer one of its own.
  private func reportMissingPictures(isEmptyFile: Bool = false) {
    guard let error = core.end(isEmptyFile: isEmptyFile) else { return }
    letStateChangeFinish { sourcePad.isFlushing }
    postLast(error)
  }

  /// GstBaseParse never calls us when the file is empty: reported as data flow begins.
  func reportEmptyInput() {
    guard isInputEmpty else { return }
    sourcePad.before(.streamStart) { [weak self] in
      if let self, isInputEmpty { reportMissingPictures(isEmptyFile: true) }
    }
  }

  private var isInputEmpty: Bool { sinkPad.isPulling && sinkPad.peerDurationInBytes == 0 }
}

/// The tag `video-codec`, as GStreamer's own description of caps has it.
private func codecDescription(_ name: String, profile: String?) -> String {
  guard let profile else { return name }
  var text = name + " ("
  var beginsWord = true
  // By Unicode scalars: other string operations are slow at their first use.
  for scalar in profile.unicodeScalars {
    if scalar == "-" {
      text.unicodeScalars.append(" ")
    } else if beginsWord, ("a"..."z").contains(scalar), let capital = Unicode.Scalar(scalar.value - 32) {
      text.unicodeScalars.append(capital)
    } else {
      text.unicodeScalars.append(scalar)
    }
    beginsWord = scalar == "-"
  }
  return text + " Profile)"
}

/// A force-key-unit request that has not been answered yet.
struct KeyUnitRequest: Sendable {
  var request: ForceKeyUnit
  var sequenceNumber: UInt32
}
