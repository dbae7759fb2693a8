// SPDX-License-Identifier: MPL-2.0
import AVCodec

extension DecompressionSession {
  /// Decodes an access unit. The result comes from `nextResult`, now or after more access units.
  ///
  /// - Parameters:
  ///   - accessUnit: all NAL units of one picture, or of one field, packaged as the format description says. Copied.
  ///   - tag: comes back with the result.
  ///   - doNotOutput: decode for the sake of later pictures only; the result is a drop.
  /// - Throws: `DecodeError` when the access unit was not taken: `invalidSession`, or `invalidArgument` for one without
  ///   bytes. Everything else is a result.
  public func decode(_ accessUnit: Span<UInt8>, tag: UInt64, doNotOutput: Bool = false) throws(DecodeError) {
    guard !isInvalid else { throw DecodeError(.invalidSession, tag: tag) }
    guard !accessUnit.isEmpty else { throw DecodeError(.invalidArgument, tag: tag) }
    let parameterSets = inspector.parameterSets
    let prefix = newParameterSets
    newParameterSets = []
    var summary = inspector.inspect(accessUnit)
    let isSplice = summary.beginsOtherSequence
    if isSplice {
      endSequence()
      // Gaps and fields are to be judged without the pictures of the other sequence.
      summary = inspector.inspect(accessUnit)
    }
    let index = nextIndex
    nextIndex += 1
    counters.submitted += 1
    if summary.randomAccess == .idr {
      epoch = index
      followsIDR = true
    }
    if summary.randomAccess != .none && firstRandomAccess == nil { firstRandomAccess = index }
    let record = record(for: summary, index: index, tag: tag, doNotOutput: doNotOutput)

    if awaitsRandomAccess && summary.randomAccess == .none && !summary.isIntra {
      finish(record, dropped: .sessionLost)
      return
    }
    pending.append(record)
    if summary.isSecondField && index > 0 { pending.update(index - 1) { $0.hasBothFields = true } }
    let packet: Packet
    do throws(AVError) {
      packet = try packets.packet(
        copying: accessUnit, prefix: prefix, timestamp: Int64(index), patches: summary.patches)
    } catch {
      fail(index, error)
      return
    }
    // Nothing before a splice is referred to, so that a replay from it gives what was there, right or not.
    let isStart = summary.isCleanStart || awaitsRandomAccess || isSplice
    let start = ReplayBuffer.Start(
      parameterSets: parameterSets, reorderDepth: codec?.reorderDepth ?? lastReorderDepth)
    replay.append(packet, index: index, start: isStart ? start : nil)
    process(packet, index: index, isIDR: summary.randomAccess == .idr)
    settle()
  }

  private func record(
    for summary: AccessUnitSummary, index: UInt64, tag: UInt64, doNotOutput: Bool
  ) -> AccessUnitRecord {
    if summary.randomAccess != .none { recoveryStart = index }
    if summary.followsGap {
      // Damage lies before this picture, which may be a recovery point itself.
      taint = .tainted
      lastDamage = max(1, index) - 1
    }
    var record = AccessUnitRecord(
      index: index, tag: tag, doNotOutput: doNotOutput, nalUnitType: summary.nalUnitType, isField: summary.isField,
      isRandomAccessPoint: summary.randomAccess != .none, isReference: summary.isReference,
      standsAlone: followsIDR || summary.completesRecovery || summary.isIntra, epoch: epoch,
      recoveryStart: summary.completesRecovery ? recoveryStart : nil)
    taint = record.remaining(taint, since: lastDamage)
    record.taint = taint
    if summary.isIncomplete {
      // libavcodec conceals it, but says so only where no slice threads run.
      record.taint = .tainted
      if summary.isReference { (taint, lastDamage) = (.tainted, index) }
    }
    return record
  }

  private func process(_ packet: Packet, index: UInt64, isIDR: Bool) {
    guard codec != nil else { return resume(at: index) }
    do throws(AVError) {
      let mustReplay = needsReplay && !isIDR && replay.isUsable
      needsReplay = false
      // The last entry of a replay is this very packet.
      if mustReplay { try replayEntries() } else { try feed(packet, index: index) }
    } catch {
      recover(from: error, at: index)
    }
  }

  /// Sends one packet and takes all frames that are ready.
  ///
  /// - Throws: only errors that mean the codec is lost; bad data is noted.
  func feed(_ packet: Packet, index: UInt64) throws(AVError) {
    guard let codec else { throw .external }
    var answer: AVError?
    // A codec takes a packet once its frames are taken; more rounds than this means it is out of order.
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
    inFlight.append(index)
    while inFlight.count > codec.threadDelay, let decoded = inFlight.popFirst() {
      // One decoding ends for each that begins; an error is the ending one's.
      finishDecoding(decoded, error: answer)
      answer = nil
    }
    if let answer { note(answer, at: index) }
    try receiveFrames()
  }

  /// Takes all frames that are ready.
  ///
  /// - Returns: true when the codec was drained to the end.
  @discardableResult
  func receiveFrames() throws(AVError) -> Bool {
    guard let codec else { throw .external }
    // Bad data on the way out is an access unit's; a bound keeps a codec that fails for ever from holding us.
    var failures = 0
    while true {
      var frame: Frame
      if let spare = spareFrame.take() { frame = spare } else { frame = try Frame() }
      do throws(AVError) {
        switch try codec.receive(frame) {
        case .frame:
          // A decoding ends for each frame that a drained codec gives.
          if isDraining, let decoded = inFlight.popFirst() { finishDecoding(decoded, error: nil) }
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
        if let decoded = inFlight.popFirst() { finishDecoding(decoded, error: error) }
      }
    }
  }

  /// Turns a frame into the result of its access unit.
  private func handle(_ frame: consuming Frame) {
    guard let index = UInt64(exactly: frame.timestamp), let memory = frame.owner as? PictureMemory else { return }
    if !frame.isCorrupt { replay.pictureCameOut(index) }
    // During a replay most have their result already.
    if let codec, codec.takeErrorFlags(timestamp: frame.timestamp) != 0 { noteDamage(at: index) }
    guard let record = pending.remove(index) else { return }
    // What the IDR picture before it left behind can no longer come, unless that picture did not decode: then
    // libavcodec goes on with what it has.
    if bridge.hasStarted(record.epoch) {
      while let first = pending.first, first.index < record.epoch { finishUnseen(first) }
    }
    // libavcodec does not flag those that it only puts out because nothing follows.
    let isUnrecovered = frame.isCorrupt || (isDraining && !hasRecovered && !record.standsAlone)
    if !isUnrecovered { hasRecovered = true }
    // libavcodec also starts where the stream does not say that one may.
    if !isUnrecovered && firstRandomAccess == nil { firstRandomAccess = index }
    let isConcealed = record.isConcealed || frame.decodeErrorFlags != 0
    let isTainted: Bool =
      switch record.taint {
      case .none: false
      case .tainted: true
      case .until(let start): start != index && pending[start] != nil
      }
    if isConcealed {
      counters.concealed += 1
      if !record.isConcealed && record.isReference { spreadTaint(after: index) }
    }
    if record.doNotOutput {
      deliver(record, dropped: .doNotOutput)
    } else if isUnrecovered {
      let isEarly = firstRandomAccess.map { index < $0 } ?? true
      deliver(record, dropped: isEarly ? .beforeRandomAccessPoint : .noReference)
    } else if (isConcealed || isTainted || record.error != nil) && !configuration.outputCorrupt {
      counters.corrupted += 1
      deliver(record, dropped: .corrupt)
    } else {
      let isCorrupt = isConcealed || isTainted || record.error != nil
      if isCorrupt { counters.corrupted += 1 }
      memory.finish(width: frame.width, height: frame.height)
      counters.output += 1
      results.append(
        .frame(
          DecodedPicture(
            frame, memory: memory, tag: record.tag, isCorrupt: isCorrupt,
            isSingleField: record.isField && !record.hasBothFields, isRandomAccessPoint: record.isRandomAccessPoint,
            latency: latency)))
    }
  }

  /// An access unit is damaged whose frame has not come out.
  func noteDamage(at index: UInt64) {
    guard let record = pending[index], !record.isConcealed else { return }
    pending.update(index) { $0.isConcealed = true }
    if record.isReference { spreadTaint(after: index) }
  }

  /// A damaged picture spoils all that follow it in decoding order, up to a recovery that begins after it.
  func spreadTaint(after index: UInt64) {
    var spread = AccessUnitRecord.Taint.tainted
    pending.updateAll(after: index) { record in
      spread = record.remaining(spread, since: index)
      if spread == .tainted || record.taint == .none { record.taint = spread }
    }
    if spread == .tainted || taint == .none {
      taint = spread
      lastDamage = max(lastDamage, index)
    }
  }
}
