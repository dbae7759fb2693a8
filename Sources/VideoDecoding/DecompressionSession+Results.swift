// SPDX-License-Identifier: MPL-2.0
import AVCodec

extension DecompressionSession {
  /// Drops everything inside, and all results not yet fetched: every access unit concerned gets a `flushed` drop.
  ///
  /// For a seek: the next access unit should be a random access point.
  public func flush() {
    var waiting = results
    results = RingQueue()
    while let result = waiting.popFirst() {
      if case .frame(let picture) = result {
        counters.output -= 1
        counters.dropped += 1
        results.append(.dropped(tag: picture.tag, reason: .flushed))
      } else {
        results.append(result)
      }
    }
    dropPending(.flushed)
    forgetEverything()
  }

  /// Puts out what is inside if `accessUnit`, the next one to decode, begins another coded video sequence without being
  /// an IDR picture, as behind a splice: a random access point with another SPS.
  ///
  /// `decode` does so by itself. For those who want the results of one sequence before they prepare for the next.
  public func finishSequence(before accessUnit: Span<UInt8>) {
    guard !isInvalid else { return }
    var lookahead = inspector
    if lookahead.inspect(accessUnit).beginsOtherSequence { endSequence() }
  }

  /// The access unit to come is of another coded video sequence, and libavcodec would not know: without an IDR picture
  /// or another size, it counts picture order on from what it has. With another `pic_order_cnt_type` all that follows
  /// may then seem to come too late to be shown.
  func endSequence() {
    drain()
    forgetEverything()
  }

  /// Nothing decoded or kept so far has to do with what follows.
  private func forgetEverything() {
    forgetReferences()
    replay.removeAll()
    needsReplay = false
    taint = .none
    startFromNothing()
  }

  /// Nothing that was decoded can be referred to any more.
  func startFromNothing() {
    firstRandomAccess = nil
    followsIDR = false
    hasRecovered = false
  }

  /// Puts everything out that is inside: afterwards each access unit submitted has its result.
  ///
  /// Decoding may go on with any access unit. Unless it is an IDR picture, the session first decodes again what it
  /// refers to, since libavcodec cannot be drained without forgetting it.
  public func drain() {
    guard !isInvalid, !pending.isEmpty else { return }
    isDraining = true
    defer { isDraining = false }
    for _ in 0...max(0, configuration.retries) {
      guard let codec, !pending.isEmpty else { break }
      do throws(AVError) {
        do throws(AVError) {
          try codec.sendEndOfStream()
        } catch {
          if error.meansLostSession { throw error }
          // libavcodec begins to drain with this call: the error is of an access unit that a thread has just ended.
          if error != .endOfFile, let decoded = inFlight.popFirst() { finishDecoding(decoded, error: error) }
        }
        while try !receiveFrames() {}
        break
      } catch {
        guard error.meansLostSession, let last = pending.last else { break }
        recover(from: error, at: last.index)
      }
    }
    while let decoded = inFlight.popFirst() { finishDecoding(decoded, error: nil) }
    while let first = pending.first { finishUnseen(first) }
    forgetReferences()
    needsReplay = true
    if !replay.isUsable { startFromNothing() }
  }

  private func forgetReferences() {
    codec?.flush()
    inFlight.removeAll()
    inspector.reset()
    bridge.unlockStrides()
  }

  // MARK: Settling access units

  /// Decoding of an access unit has ended: without a picture begun, none will come.
  func finishDecoding(_ index: UInt64, error: AVError?) {
    if let codec, codec.takeErrorFlags(timestamp: Int64(clamping: index)) != 0 { noteDamage(at: index) }
    guard let record = pending[index] else { return }
    let isEarly = firstRandomAccess.map { index < $0 } ?? true
    if let error, !isEarly, record.nalUnitType != nil { note(error, at: index) }
    if bridge.hasStarted(index) && !(isEarly && error != nil) {
      if let error {
        pending.update(index) { $0.error = error }
        if record.isReference { spreadTaint(after: index) }
      }
    } else if isEarly && error != nil && record.nalUnitType != nil {
      finish(record, dropped: .beforeRandomAccessPoint)
    } else if let error, record.nalUnitType != nil {
      // Its header was read, so that frame_num will not tell that it is missing.
      if record.isReference { spreadTaint(after: index) }
      finish(record, error: error)
    } else if record.nalUnitType == nil {
      finish(record, dropped: .noPicture)
    } else if record.isField {
      finish(record, dropped: .secondField)
    } else {
      finish(record, dropped: skipFrames == .none ? .noPicture : .skipped)
    }
  }

  /// Ends access units that have been inside for longer than any decoder may hold them.
  func settle() {
    lastReorderDepth = codec?.reorderDepth ?? lastReorderDepth
    // 16 frames of two fields, those the threads hold, and one being decoded.
    let window = UInt64(2 * (20 + (codec?.threadDelay ?? 0)))
    while let first = pending.first, nextIndex - first.index > window { finishUnseen(first) }
  }

  /// Ends an access unit whose picture was begun and will not come out.
  func finishUnseen(_ record: AccessUnitRecord) {
    if let error = record.error {
      finish(record, error: error)
    } else {
      finish(record, dropped: .notShown)
    }
  }

  func dropPending(_ reason: DropReason) {
    while let first = pending.first { finish(first, dropped: reason) }
  }

  func fail(_ index: UInt64, _ error: AVError) {
    note(error, at: index)
    if let record = pending[index] { finish(record, error: error) }
  }

  func note(_ error: AVError, at index: UInt64) {
    guard let record = pending[index] else {
      counters.lastError = DecodeError(error.meansLostSession ? .malfunction : .badData, code: error)
      return
    }
    counters.lastError = DecodeError(decoding: record, code: error)
  }

  func finish(_ record: AccessUnitRecord, dropped reason: DropReason) {
    _ = pending.remove(record.index)
    deliver(record, dropped: reason)
  }

  func finish(_ record: AccessUnitRecord, error: AVError) {
    _ = pending.remove(record.index)
    counters.failed += 1
    results.append(.failed(tag: record.tag, error: DecodeError(decoding: record, code: error)))
  }

  /// The result of an access unit no longer pending.
  func deliver(_ record: AccessUnitRecord, dropped reason: DropReason) {
    counters.dropped += 1
    results.append(.dropped(tag: record.tag, reason: reason))
  }
}
