// SPDX-License-Identifier: MPL-2.0
import AVCodec

extension DecompressionSession {
  /// Decodes an access unit. `nextResult` gives its result, now or after more access units.
  ///
  /// - Parameters:
  ///   - accessUnit: all NAL units of one picture, or of one field, packaged as the format description says. Copied.
  ///     Start codes that a careless muxer has left where lengths should be are replaced.
  ///   - tag: comes back with the result.
  ///   - time: presentation time, from any origin, if known. Used only for ``SessionConfiguration/startPatience``.
  ///   - doNotOutput: decode only because later pictures refer to it; the result is a drop.
  /// - Throws: `DecodeError` when the access unit is not taken: `invalidSession`, or `invalidArgument` for an empty
  ///   one. Everything else is a result.
  public func decode(
    _ accessUnit: Span<UInt8>, tag: UInt64, time: Duration? = nil, doNotOutput: Bool = false
  ) throws(DecodeError) {
    guard !isInvalid else { throw DecodeError(.invalidSession, tag: tag) }
    guard !accessUnit.isEmpty else { throw DecodeError(.invalidArgument, tag: tag) }
    guard let repaired = input.repaired(accessUnit) else {
      return decode(sound: accessUnit, tag: tag, time: time, doNotOutput: doNotOutput)
    }
    decode(sound: repaired.span, tag: tag, time: time, doNotOutput: doNotOutput)
  }

  /// Decodes an access unit whose packaging is in order.
  private func decode(sound accessUnit: Span<UInt8>, tag: UInt64, time: Duration?, doNotOutput: Bool) {
    let parameterSets = input.parameterSets
    var summary = input.inspect(accessUnit)
    let isSplice = summary.beginsOtherSequence
    if isSplice {
      endSequence()
      // Gaps and fields are judged without the pictures of the other sequence.
      summary = input.inspect(accessUnit)
    }
    let index = input.number()
    output.count(.submitted)

    let dropReason = reasonToDrop(accessUnit, summary)
    let admission = gate.admit(summary, index: index, isDropped: dropReason != nil)
    if admission == .isLost {
      if let failure = gate.takeUnreportedLoss() { output.notify(.codecLost(failure)) }
      return output.drop(tag, .sessionLost)
    }
    if admission != .waits, let reason = dropReason {
      input.carryOver(summary)
      countWithoutPicture &+= 1
      return output.drop(tag, reason)
    }
    // The codec has not got the parameter sets of held access units.
    let prefix = input.takePrefix(for: summary, sets: admission == .begins && gate.isHolding ? parameterSets : [])
    if admission == .begins { begin(at: index) }
    let packet: Packet
    do throws(AVError) {
      packet = try packets.packet(
        copying: accessUnit, prefix: prefix, timestamp: Int64(index), patches: summary.patches)
    } catch {
      let error = DecodeError(
        error == .outOfMemory ? .allocationFailed : .badData, code: error, tag: tag, accessUnitNumber: index,
        nalUnitType: summary.nalUnitType)
      output.note(error)
      return output.fail(error, tag: tag)
    }
    let unit = Submission(
      index: index, tag: tag, doNotOutput: doNotOutput, summary: summary, packet: packet,
      parameterSets: parameterSets, isStart: summary.isCleanStart || admission == .begins || isSplice || running == nil)
    guard admission == .waits else { return submit(unit) }
    gate.hold(unit, time: time)
    if gate.isOverdue { beginWithoutRandomAccessPoint() }
  }

  /// Decodes what was held for want of a random access point, without waiting any longer.
  ///
  /// The session calls it when `SessionConfiguration.startPatience` is over, and when it is drained. Pictures are
  /// flagged as corrupt, up to an IDR picture or a completed recovery. Without held access units it does nothing.
  func beginWithoutRandomAccessPoint() {
    guard gate.isHoldingPictures else {
      // Nothing but parameter sets or the like: decoding does not begin.
      for unit in gate.takeHeld() { submit(unit) }
      return
    }
    let units = gate.force()
    guard let first = units.first else { return }
    output.notify(.beganWithoutRandomAccessPoint)
    damage.taint(before: first.index)
    for unit in units { submit(unit) }
  }

  /// Why the codec does not get an access unit; nil when it does.
  private func reasonToDrop(_ accessUnit: Span<UInt8>, _ summary: AccessUnitSummary) -> DropReason? {
    if let youngest = replay.youngest, input.isRepeated(accessUnit, after: youngest.bytes) { return .noPicture }
    if summary.isSkipped { return .noReference }
    return skipFrames == .nonReference && summary.isDiscardable ? .skipped : nil
  }

  /// Decoding begins with the next access unit.
  private func begin(at index: UInt64) {
    dropHeld(.beforeRandomAccessPoint)
    if gate.start != .marked { damage.taint(before: index) }
  }

  /// Sends an access unit to the codec.
  private func submit(_ unit: Submission) {
    let isIDR = unit.summary.randomAccess == .idr
    if isIDR { input.beginSequence(at: unit.index) }
    pending.append(record(for: unit))
    if unit.summary.isSecondField && unit.index > 0 { pending.update(unit.index - 1) { $0.hasBothFields = true } }
    let start = ReplayBuffer.Start(
      parameterSets: unit.parameterSets, reorderDepth: codec?.reorderDepth ?? replay.reorderDepth,
      losesLeading: unit.summary.randomAccess == .cra)
    replay.append(
      unit.packet, index: unit.index, start: unit.isStart ? start : nil,
      isLeading: unit.summary.isLeading || unit.summary.nalUnitType == nil)
    process(unit.packet, index: unit.index, isIDR: isIDR)
    settle(upTo: unit.index)
  }

  private func record(for unit: Submission) -> AccessUnitRecord {
    let summary = unit.summary
    // After an intra picture every slice is read to know which pictures are correct; elsewhere none.
    let isNewStart = input.followsReferencesFrom.map { $0 < damage.damageEnd } ?? true
    if summary.isIntra, !summary.randomAccess.isMarked, damage.isTainted, isNewStart,
      summary.randomAccess == .intra || gate.start == .intra
    {
      input.followReferences(from: unit.index)
    }
    var record = AccessUnitRecord(
      index: unit.index, tag: unit.tag, doNotOutput: unit.doNotOutput, nalUnitType: summary.nalUnitType,
      isField: summary.isField, isRandomAccessPoint: summary.randomAccess != .none, isReference: summary.isReference,
      standsAlone: input.followsSequenceStart || summary.completesRecovery || summary.isIntra,
      sequenceStart: input.sequenceStart,
      recoveryStart: damage.recovery(completedBy: summary, index: unit.index), start: gate.start ?? .marked)
    record.referencesSince = input.referencesStart(of: unit)
    record.references = summary.references
    record.recoveredSince = summary.recoveredSince
    record.awaitsRecovery = summary.awaitsRecovery
    record.isIncomplete = summary.isIncomplete
    record.isShown = summary.isShown
    record.hash = summary.hash
    record.countWithoutPictureBefore = countWithoutPicture
    damage.admit(&record, summary)
    return record
  }

  private func process(_ packet: Packet, index: UInt64, isIDR: Bool) {
    guard running != nil else { return resume(at: index) }
    do throws(AVError) {
      let mustReplay = replay.takeDue() && !isIDR
      // The last entry of a replay is this very packet.
      if mustReplay { try replayEntries() } else { try feed(packet, index: index) }
    } catch {
      recover(from: error, at: index)
    }
  }

  /// Sends one packet and receives all frames that are ready.
  ///
  /// - Throws: only errors that mean the codec is lost; bad data is recorded.
  func feed(_ packet: Packet, index: UInt64) throws(AVError) {
    guard let codec else { throw .external }
    var answer: AVError?
    // A codec takes a packet once its frames are received; after more rounds than this it is broken.
    var rounds = 0
    sending: while true {
      do throws(AVError) {
        answer = nil
        try codec.send(packet)
      } catch {
        answer = error
      }
      rounds += 1
      switch answer {
      case .tryAgain? where rounds < 4: try receiveFrames()
      case .endOfFile? where rounds < 4: codec.flush()
      case .tryAgain?, .endOfFile?: throw .bug
      default: break sending
      }
    }
    if let answer, answer.meansLostSession { throw answer }
    running?.take(index)
    while let decoded = running?.takeDecoded(behind: codec.threadDelay) {
      // One decoding ends for each that begins; an error belongs to the one that ends.
      finishDecoding(decoded, error: answer)
      answer = nil
    }
    if let answer { note(answer, at: index) }
    try receiveFrames()
  }

  /// Receives all frames that are ready.
  ///
  /// - Returns: true when the codec was drained to the end.
  @discardableResult
  func receiveFrames() throws(AVError) -> Bool {
    guard let codec else { throw .external }
    // Bad data here belongs to an access unit; the bound ends a codec that fails for ever.
    var failures = 0
    while true {
      var frame: Frame
      if let spare = spareFrame.take() { frame = spare } else { frame = try Frame() }
      do throws(AVError) {
        switch try codec.receive(frame) {
        case .frame:
          // A decoding ends for each frame that a drained codec gives.
          if running?.isDraining == true, let decoded = running?.takeDecoded() {
            finishDecoding(decoded, error: nil)
          }
          handle(frame)
        case .needsInput:
          spareFrame = consume frame
          return false
        case .endOfStream:
          spareFrame = consume frame
          return true
        }
      } catch {
        if error.meansLostSession { throw error }
        failures += 1
        if failures > 64 { throw .bug }
        if let decoded = running?.takeDecoded() { finishDecoding(decoded, error: error) }
      }
    }
  }
}
