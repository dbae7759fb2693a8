// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x

/// The state of a session, and its decisions. An access unit passes the stages in turn: it is inspected, admitted,
/// checked for damage, decoded, and output. The ledger has its only entry, from the gate until no replay needs it.
///
/// A value that calls nothing else. It returns orders for the codec, and gets reports of the codec's actions. The
/// codec requests picture memory and releases it; the owner of that memory may call the session meanwhile.
struct SessionCore: ~Copyable {
  private(set) var isInvalid = false

  private let packets = PacketPool()
  private(set) var input: SessionInput
  private(set) var gate: StartGate
  private(set) var ledger: AccessUnitLedger
  private var codec: CodecControl
  private var output = SessionOutput()
  /// The access units whose slices are to be verified while the codec decodes them.
  private var sliceTasks = RingQueue<SliceTask>()
  /// The number of access units that the codec has got since it was last reset.
  private var sentCount = 0

  private enum Step {
    /// Decode the next access unit that is queued in the ledger.
    case decode
    case drain, endSequence
  }
  private var steps = RingQueue<Step>()

  /// - Throws: `invalidFormatDescription`.
  init(
    _ format: FormatDescription, _ configuration: SessionConfiguration, started: StartedPictures,
    missingDevices: MissingDevices
  ) throws(DecodeError) {
    if configuration.verifiesSlices { output.countDamagedSlices() }
    let setup = try StreamSetup(format)
    input = SessionInput(
      format.codec, setup, verifiesPictureHash: configuration.verifiesPictureHash || configuration.hardware != .off)
    gate = StartGate(configuration)
    ledger = AccessUnitLedger(started)
    codec = CodecControl(setup, configuration, missingDevices)
  }

  // MARK: State for the caller

  /// The stream's format, as given last.
  var format: FormatDescription { codec.format }
  var statistics: SessionStatistics { output.statistics }
  var latency: SessionLatency { codec.latency }
  var isAwaitingRandomAccessPoint: Bool { !isInvalid && gate.isHolding }
  var isLost: Bool { gate.isLost && gate.unreportedLoss == nil }
  /// The configuration in force.
  var configuration: SessionConfiguration {
    get { codec.configuration }
    set { codec.configuration = newValue }
  }
  /// The frames that the codec skips.
  var codecSkip: CodecSettings.Skip { codec.skip }
  /// The settings to open a codec with now.
  var codecSettings: CodecSettings { codec.settings }

  mutating func nextResult() -> SessionResult? { output.nextResult() }
  mutating func nextNotice() -> SessionNotice? { output.nextNotice() }

  func canAccept(_ format: FormatDescription) -> Bool {
    guard !isInvalid, let other = try? StreamSetup(format) else { return false }
    return codec.canContinue(with: other)
  }

  mutating func accept(_ format: FormatDescription) throws(DecodeError) {
    guard !isInvalid else { throw DecodeError(.invalidSession) }
    guard canAccept(format) else { throw DecodeError(.formatChangeNotSupported) }
    guard format != self.format else { return }
    let setup = try StreamSetup(format)
    codec.accept(setup)
    input.accept(setup.parameterSets)
  }

  // MARK: An access unit comes in

  /// An access unit with lengths in place of start codes; nil when it has none of these.
  mutating func repaired(_ accessUnit: Span<UInt8>) -> [UInt8]? { input.repaired(accessUnit) }

  /// Whether an access unit begins another coded video sequence without being an IDR picture, as after a splice.
  func isSplice(_ accessUnit: Span<UInt8>, _ description: AccessUnitDescription) -> Bool {
    !isInvalid && input.lookAhead(accessUnit, description).beginsOtherSequence
  }

  /// Reads an access unit for which the caller has not done so.
  mutating func read(_ accessUnit: Span<UInt8>) -> AccessUnitDescription { input.read(accessUnit) }

  /// The next access unit's summary, and the parameter sets before it.
  typealias Inspection = (summary: DecodingSummary, earlierParameterSets: [UInt8])

  /// Inspects the next access unit. If it begins another sequence, ``endSequence()`` has to come before it is decoded.
  mutating func inspect(_ accessUnit: Span<UInt8>, _ description: AccessUnitDescription) -> Inspection {
    let parameterSets = input.parameterSets
    return (input.inspect(accessUnit, description), parameterSets)
  }

  /// Decodes the access unit that was inspected.
  mutating func decode(
    _ accessUnit: Span<UInt8>, _ description: AccessUnitDescription, _ incoming: Inspection, _ request: DecodeRequest
  ) {
    var request = request
    request.display = description.display
    let isSplice = incoming.summary.beginsOtherSequence
    // Gaps and fields are judged without the pictures before it, which are forgotten.
    var summary = isSplice ? input.inspect(accessUnit, description) : incoming.summary
    // Without a slice, libavcodec's error is all there is.
    let soundCount = summary.nalUnitType == nil ? accessUnit.count : input.soundByteCount(of: accessUnit)
    let isDamaged = request.isDamaged && summary.nalUnitType != nil
    if isDamaged || input.mayBeNALUnit(accessUnit.extracting(soundCount...)) { summary.isIncomplete = true }
    let index = input.number()
    output.count(.submitted)
    let dropReason = input.reasonToDrop(
      accessUnit, &summary, after: ledger.youngest, skipping: codec.configuration.skipFrames,
      isLeftOut: request.isLeftOut)
    let admission = gate.admit(summary, index: index, isDropped: dropReason != nil)
    if admission == .isLost {
      if let failure = gate.takeUnreportedLoss() { output.notify(.codecLost(failure)) }
      return output.drop(request.tag, .sessionLost)
    }
    if let reason = dropReason, admission != .waits || reason == .skipped {
      // References are missing from here on.
      if reason == .skipped && !summary.isDiscardable {
        ledger.taint(before: index + 1)
        input.pictureIsMissing(index)
      }
      input.carryOver(summary)
      ledger.countOneWithoutPicture()
      return output.drop(request.tag, request.isLeftOut ? .doNotOutput : reason)
    }
    if summary.nalUnitType == nil, let fault = input.packagingFault(of: accessUnit) {
      ledger.countOneWithoutPicture()
      let error = DecodeError(.badData, tag: request.tag, accessUnitNumber: index, detail: fault)
      output.note(error)
      return output.fail(error, tag: request.tag)
    }
    // The codec does not have the parameter sets of held access units.
    let prefix = input.takePrefix(
      for: summary, sets: admission == .begins && gate.isHolding ? incoming.earlierParameterSets : [])
    if admission == .begins {
      dropHeld(.beforeRandomAccessPoint)
      if gate.start != .marked { ledger.taint(before: index) }
    }
    do throws(AVError) {
      let packet = try packets.packet(
        copying: accessUnit.extracting(first: soundCount), prefix: prefix, timestamp: Int64(index),
        patches: summary.patches)
      let isStart = summary.isCleanStart || admission == .begins || isSplice || !codec.isOpen
      var entry = LedgerEntry(
        index: index, request: request, summary: summary, state: admission == .waits ? .waiting : .queued,
        packet: packet, parameterSets: incoming.earlierParameterSets, parameterSetsInForce: input.parameterSets,
        isStart: isStart)
      if codec.configuration.verifiesSlices { entry.reading = description.reading }
      ledger.entries.append(entry)
      guard admission == .waits else { return steps.append(.decode) }
      gate.hold(entry)
      if gate.isOverdue { beginWithoutRandomAccessPoint() }
    } catch {
      let error = DecodeError(
        error == .outOfMemory ? .allocationFailed : .badData, code: error, tag: request.tag, accessUnitNumber: index,
        nalUnitType: summary.nalUnitType)
      output.note(error)
      output.fail(error, tag: request.tag)
    }
  }

  /// Decodes the access units that were held for lack of a random access point, without waiting any longer.
  private mutating func beginWithoutRandomAccessPoint() {
    let begins = gate.force()
    let count = ledger.entries.queueWaiting(isStart: begins)
    if begins, let first = ledger.entries.queued {
      output.notify(.beganWithoutRandomAccessPoint)
      ledger.taint(before: first.index)
    }
    for _ in 0..<count { steps.append(.decode) }
  }

  private mutating func dropHeld(_ reason: DropReason) {
    gate.release()
    for held in ledger.entries.removeWaiting() {
      output.drop(held.request.tag, held.summary.nalUnitType == nil && reason != .flushed ? .noPicture : reason)
    }
  }

  // MARK: Orders for the codec

  /// The codec's next step; nil when the next call has to come first.
  mutating func nextOrder() -> CodecOrder? {
    while true {
      if let order = codec.nextOrder(ledger.entries) { return order }
      guard let step = steps.popFirst() else { return nil }
      switch step {
      case .decode: if var entry = ledger.entries.queued { send(&entry) }
      case .drain: if let last = ledger.entries.last { take(codec.drain(upTo: last.index)) }
      case .endSequence: reset(to: .sequenceEnded)
      }
    }
  }

  /// Completes an access unit, and sends it to the codec.
  private mutating func send(_ entry: inout LedgerEntry) {
    let (index, summary) = (entry.index, entry.summary)
    if summary.randomAccess == .idr { input.beginSequence(at: index) }
    // After this intra picture pictures may recover.
    if summary.randomAccess == .intra || gate.start == .intra,
      ledger.mayRecover(at: summary, followingFrom: input.followsReferencesFrom)
    {
      input.followReferences(from: index)
    }
    entry.start = gate.start ?? .marked
    input.complete(&entry)
    if let reading = entry.reading.take(), let packet = entry.packet, !isSkippedByCodec(summary) {
      sliceTasks.append(SliceTask(entry, packet, reading, thread: codec.thread(ofPacket: sentCount)))
    }
    sentCount += 1
    ledger.send(&entry)
    let oldest = ledger.first?.index ?? index
    let outcome = codec.decode(entry, oldest: oldest, isDamaged: ledger.isDamaged(index), ledger.entries)
    take(outcome)
  }

  // MARK: Slices

  /// The next access unit whose slices are to be verified, in decoding order.
  mutating func nextSliceTask() -> SliceTask? { sliceTasks.popFirst() }

  /// Whether the codec gets a picture for its header alone: nobody sees damage in it.
  private func isSkippedByCodec(_ summary: DecodingSummary) -> Bool {
    codecSkip == .nonKey && !summary.randomAccess.isMarked
  }

  /// The access unit up to which the slices must be verified before a picture is judged; nil if the picture has its
  /// result.
  func sliceEnd(ofPicture index: UInt64) -> UInt64? { ledger.lastPart(of: index) }

  /// The same for the end of decoding an access unit; nil if a picture of it may come.
  func sliceEnd(ofDecoded index: UInt64) -> UInt64? { ledger.endsUnseen(index) ? index : nil }

  /// Slices of an access unit are damaged.
  mutating func take(_ verdict: SliceVerdict) {
    output.note(verdict)
    ledger.note(verdict)
  }

  // MARK: Outcomes

  /// The codec is in a process without these layers of protection.
  mutating func reportMissingProtection(_ missing: String) { output.notify(.incompleteSandbox(missing: missing)) }

  /// An order was carried out, or failed because the codec is lost.
  ///
  /// - Parameter status: the delays of the codec in use; nil if there is none.
  mutating func finish(_ order: CodecOrder, _ failure: CodecFailure?, _ status: CodecStatus?) {
    switch order {
    case .open where codec.isFirst: break
    case .open where failure == nil: output.count(.restart)
    case _ where failure?.code.endsProcess == true: output.count(.processLoss)
    default: break
    }
    if case .decode(_, _, isRepeated: true) = order { output.count(.replay) }
    take(codec.finish(order, failure, status, ledger.entries))
    if let reason = codec.takeFallBack() { output.fallBack(reason) }
    ledger.entries.release(before: codec.firstNeeded)
  }

  private mutating func take(_ outcome: CodecControl.Outcome) {
    switch outcome {
    case .none: break
    case .decoded(let index): settle(upTo: index)
    case .drained: drained()
    case .lost(let failure): output.note(failure)
    case .replaced(let start, let index, let isDraining):
      while let first = ledger.first, first.index < start { end(first, .dropped(.sessionLost)) }
      if !isDraining { settle(upTo: index) }
    case .gaveUp(let loss, let isDrained, let start): giveUp(loss, isDrained: isDrained, start: start)
    case .cancelled: reset(to: .cancelled)
    }
  }

  /// The codec that got furthest has output all that it could. Another begins at `start`, or waits for a random
  /// access point.
  private mutating func giveUp(_ loss: CodecState.Loss, isDrained: Bool, start: UInt64?) {
    let failure = loss.failure ?? codec.error(for: CodecFailure(loss.cause), at: loss.index, ledger.entries)
    let isEverythingOut = isDrained && ledger.entries.isEmpty
    // It only had to output the pictures inside: then nothing is lost.
    if loss.isDraining && isEverythingOut { return drained() }
    var (isReported, isIncomplete) = (false, false)
    while let first = ledger.first, first.index < start ?? .max {
      if first.index == loss.culprit { isReported = true } else { isIncomplete = true }
      end(first, first.index == loss.culprit ? .failed(loss.cause) : .dropped(.sessionLost))
    }
    if start == nil { reset(to: .lost(unreported: isEverythingOut ? failure : nil)) }
    output.count(.resynchronisation)
    // If decoding continues, the failure of one access unit reports the loss of those behind it.
    let isSilent = start != nil && isIncomplete && !isReported
    if isSilent || start == nil && gate.unreportedLoss == nil { output.notify(.codecLost(failure)) }
    if start == nil, loss.isDraining { drained() }
  }

  // MARK: Events of the codec

  /// Decoding of an access unit has ended; libavcodec found these errors in its picture.
  mutating func decoded(_ index: UInt64, _ error: AVError?, _ errors: FrameErrors) {
    codec.hasDecoded(index)
    ledger.note(errors, at: index)
    guard let record = ledger[index] else { return }
    if let error, record.summary.nalUnitType != nil { note(error, at: index) }
    if let ending = ledger.ending(of: record, error: error) { end(record, ending) }
  }

  /// There is no memory to output the picture of an access unit in. Pictures that refer to it are not concerned.
  mutating func unplaced(_ index: UInt64, _ error: AVError) {
    note(error, at: index)
    if let record = ledger[index] { end(record, .failed(error)) }
  }

  /// libavcodec has returned an error.
  mutating func note(_ error: AVError, at index: UInt64) {
    output.note(codec.error(for: CodecFailure(error), at: index, ledger.entries))
  }

  /// A picture has come out; libavcodec found these errors in it. Returns its status for output; nil to output
  /// nothing.
  ///
  /// - Parameter isOfDevice: a device has decoded it.
  mutating func picture(
    _ picture: PictureDescription, in memory: PictureMemory, _ errors: FrameErrors, isDraining: Bool,
    _ status: CodecStatus, isOfDevice: Bool
  ) -> PictureStatus? {
    codec.report(status)
    guard let index = picture.index, !codec.isDistrusted else { return nil }
    // A device's pictures are always compared.
    let hash = isOfDevice || codec.configuration.verifiesPictureHash ? ledger.hash(of: index) : nil
    let isMismatched = hash.map { !memory.matches($0, width: picture.width, height: picture.height) } ?? false
    if isMismatched, codec.distrust() { return nil }
    if !picture.isCorrupt { codec.outputPicture(index) }
    ledger.note(errors, at: index)
    // In a replay most access units have their result already.
    guard let record = ledger.finish(index) else { return nil }
    defer { gate.outputPicture(index) }
    if codec.isDeepened, output.isOutOfOrder(record) {
      output.drop(record.request.tag, .outOfOrder)
      return nil
    }
    while let first = ledger.outrun(by: record) { end(first, output.unseenEnding(of: first)) }
    let isUnrecovered = gate.isUnrecovered(record, isFlagged: picture.isCorrupt, isDraining: isDraining)
    let awaitsRecovery = gate.awaitsRecovery(record, isTainted: ledger.isTainted(record))
    if !isUnrecovered && !awaitsRecovery { gate.outputCorrectPicture() }
    let isConcealed = record.isConcealed || record.isDamage(picture.errors) || codec.hasFailed(in: index)
    if isConcealed { output.count(.concealed) }
    if isMismatched { output.count(.hashMismatch) }
    if isConcealed && !record.isConcealed || isMismatched { ledger.spreadDamage(from: record) }
    let isCorrupt =
      isConcealed || isMismatched || awaitsRecovery || ledger.isTainted(record) || record.error != nil
      || record.hasDamagedSlices
    let isShown = output.admit(
      record, isUnrecovered: isUnrecovered, isCorrupt: isCorrupt, outputCorrupt: codec.configuration.outputCorrupt)
    return isShown ? PictureStatus(record, isCorrupt: isCorrupt, latency: latency) : nil
  }

  /// A picture for output is complete.
  mutating func show(_ picture: DecodedPicture) { output.show(picture) }

  private mutating func end(_ record: LedgerEntry, _ ending: AccessUnitLedger.Ending) {
    _ = ledger.finish(record.index)
    gate.outputPicture(record.index)
    if case .withoutPicture = ending {
      ledger.countOneWithoutPicture()
      if record.summary.references != nil, record.summary.isReference {
        input.pictureIsMissing(record.index)
        ledger.spreadDamage(from: record)
      }
    }
    output.end(record, ending, isSkipping: codec.configuration.skipFrames != .none)
  }

  /// Ends access units that have been inside for longer than any decoder may hold them.
  private mutating func settle(upTo index: UInt64) {
    while let first = ledger.overdue(at: index, threadDelay: codec.threadDelay) {
      end(first, output.unseenEnding(of: first))
    }
  }

  // MARK: Endings

  /// Outputs everything inside. Access units that wait for a random access point are decoded without one.
  mutating func drain() {
    beginWithoutRandomAccessPoint()
    steps.append(.drain)
  }

  /// Ends a coded video sequence at a splice, which libavcodec does not notice: without an IDR picture or another size,
  /// it continues to count POC. With another `pic_order_cnt_type` all following pictures might then seem to come too
  /// late for output.
  mutating func endSequence() {
    dropHeld(.beforeRandomAccessPoint)
    steps.append(.drain)
    steps.append(.endSequence)
  }

  /// Discards everything inside, and results that have not been fetched. Returns the pictures among these, for the
  /// caller to release.
  mutating func flush() -> [DecodedPicture] {
    let pictures = output.flush()
    reset(to: .flushed)
    return pictures
  }

  mutating func invalidate() {
    if !isInvalid { reset(to: .invalidated) }
    isInvalid = true
  }

  private mutating func drained() {
    while let first = ledger.first { end(first, output.unseenEnding(of: first)) }
    reset(to: .drained)
  }

  /// The codec forgets its references, and the stages their records of them.
  private mutating func reset(to ending: SessionEnding) {
    if ending.discardsAccessUnits {
      dropHeld(.flushed)
      while let first = ledger.first { end(first, .dropped(.flushed)) }
    }
    var isReplayed = false
    switch ending {
    case .flushed, .sequenceEnded: isReplayed = codec.flush(keepsReferences: false)
    case .drained: isReplayed = codec.flush(keepsReferences: true)
    case .lost, .cancelled, .invalidated: codec.close()
    }
    sentCount = 0
    input.reset(keepsReferences: isReplayed)
    guard !isReplayed else { return }
    input.forgetDecoded()
    gate.forgetDecoded()
    ledger.forgetDecoded()
    switch ending {
    case .flushed, .sequenceEnded, .cancelled, .invalidated: gate.reset()
    case .drained: gate.close()
    case .lost(let failure): gate.lose(unreported: failure)
    }
    if gate.start == .forced { ledger.taint(before: input.nextIndex) }
  }
}
