// SPDX-License-Identifier: MPL-2.0
import AVCodec

extension DecompressionSession {
  /// Turns a frame into the result of its access unit.
  func handle(_ frame: consuming Frame) {
    guard let index = UInt64(exactly: frame.timestamp), let memory = frame.owner as? PictureMemory else { return }
    if !frame.isCorrupt { replay.pictureCameOut(index) }
    noteErrors(at: index)
    // In a replay most access units have their result already.
    guard let record = pending.remove(index) else { return }
    defer { gate.pictureCameOut(index) }
    // Pictures before the last IDR picture can no longer come, unless that one was not decoded: then libavcodec
    // continues with those it has.
    if bridge.hasStarted(record.sequenceStart) {
      while let first = pending.first, first.index < record.sequenceStart { finishUnseen(first) }
    }
    let isUnrecovered = isUnrecovered(record, isFlagged: frame.isCorrupt)
    let awaitsRecovery = record.start == .gradual && (isTainted(record) || !gate.hasRecovered && record.awaitsRecovery)
    if !isUnrecovered && !awaitsRecovery { gate.outputCorrectPicture() }
    let isConcealed = record.isConcealed || record.isDamage(frame.errors)
    if isConcealed {
      output.count(.concealed)
      if !record.isConcealed { spreadDamage(from: record) }
    }
    let isMismatched = !matchesHash(record, frame, memory)
    if isMismatched {
      output.count(.hashMismatch)
      spreadDamage(from: record)
    }
    let isCorrupt = isConcealed || isMismatched || awaitsRecovery || isTainted(record) || record.error != nil
    if record.doNotOutput {
      output.drop(record.tag, .doNotOutput)
    } else if isUnrecovered {
      output.drop(record.tag, .noReference)
    } else if isCorrupt && !configuration.outputCorrupt {
      output.count(.corrupted)
      output.drop(record.tag, .corrupt)
    } else {
      if isCorrupt { output.count(.corrupted) }
      memory.finish(width: frame.width, height: frame.height)
      output.show(
        DecodedPicture(
          frame, memory: memory, tag: record.tag, isCorrupt: isCorrupt,
          isSingleField: record.isField && !record.hasBothFields, isRandomAccessPoint: record.isRandomAccessPoint,
          latency: latency))
    }
  }

  /// Whether a picture has the hash that the stream sends.
  private func matchesHash(_ record: AccessUnitRecord, _ frame: borrowing Frame, _ memory: PictureMemory) -> Bool {
    guard let hash = record.hash else { return true }
    return memory.matches(hash, width: frame.width, height: frame.height)
  }

  /// Whether a picture is not for output, because it was decoded without its references.
  private func isUnrecovered(_ record: AccessUnitRecord, isFlagged: Bool) -> Bool {
    switch record.start {
    // libavcodec does not flag those that come out only because it is drained.
    case .marked:
      isFlagged || (!gate.hasRecovered && record.awaitsRecovery)
        || (running?.isDraining == true && !gate.hasRecovered && !record.standsAlone)
    // libavcodec goes by the size of reference lists, and may never take an intra picture for a start.
    case .intra: gate.isLeading(record.index)
    case .gradual, .forced: false
    }
  }

  private func isTainted(_ record: AccessUnitRecord) -> Bool {
    switch record.taint {
    case .none: false
    case .tainted: true
    case .until(let start): start != record.index && pending[start] != nil
    }
  }

  /// Asks the codec for errors in an access unit.
  private func noteErrors(at index: UInt64) {
    guard let errors = codec?.takeErrors(timestamp: Int64(clamping: index)), let record = pending[index],
      record.isDamage(errors), !record.isConcealed
    else { return }
    pending.update(index) { $0.isConcealed = true }
    spreadDamage(from: record)
  }

  /// A picture is damaged, and with it those that refer to it.
  private func spreadDamage(from record: AccessUnitRecord) {
    guard record.isReference else { return }
    damage.spread(after: record.index, byReferences: record.references != nil, in: &pending)
  }

  // MARK: Settling access units

  /// Decoding of an access unit has ended: if no picture was begun, none will come.
  func finishDecoding(_ index: UInt64, error: AVError?) {
    noteErrors(at: index)
    guard let record = pending[index] else { return }
    guard record.nalUnitType != nil else { return finish(record, dropped: .noPicture) }
    if let error {
      note(error, at: index)
      // Its header was read, so frame_num will show no gap.
      spreadDamage(from: record)
      if bridge.hasStarted(index) { pending.update(index) { $0.error = error } } else { finish(record, error: error) }
    } else if bridge.hasStarted(index) {
      // The picture comes out in its turn, if it is for output.
      if !record.isShown { finish(record, dropped: .notShown) }
    } else if record.isField {
      finish(record, dropped: .secondField)
    } else {
      finishWithoutPicture(record)
    }
  }

  /// The codec has made no picture of an access unit.
  private func finishWithoutPicture(_ record: AccessUnitRecord) {
    countWithoutPicture &+= 1
    if record.references != nil, record.isReference {
      input.pictureIsMissing(record.index)
      spreadDamage(from: record)
    }
    guard record.isIncomplete else { return finish(record, dropped: skipFrames == .none ? .noPicture : .skipped) }
    output.count(.corrupted)
    finish(record, dropped: .corrupt)
  }

  /// Ends access units that have been inside for longer than any decoder may hold them. Counts pictures: an access unit
  /// without one pushes none out.
  func settle(upTo index: UInt64) {
    replay.reorderDepth = codec?.reorderDepth ?? replay.reorderDepth
    // 16 frames of two fields, those in threads, and one being decoded.
    let window = UInt64(2 * (20 + (codec?.threadDelay ?? 0)))
    while let first = pending.first,
      first.index + window + (countWithoutPicture - first.countWithoutPictureBefore) <= index
    {
      finishUnseen(first)
    }
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

  func note(_ error: AVError, at index: UInt64) {
    output.note(pending[index].map { DecodeError(decoding: $0, code: error) } ?? DecodeError(losing: error))
  }

  func finish(_ record: AccessUnitRecord, dropped reason: DropReason) {
    _ = pending.remove(record.index)
    gate.pictureCameOut(record.index)
    output.drop(record.tag, reason)
  }

  func finish(_ record: AccessUnitRecord, error: AVError) {
    _ = pending.remove(record.index)
    gate.pictureCameOut(record.index)
    output.fail(DecodeError(decoding: record, code: error), tag: record.tag)
  }
}

extension AccessUnitRecord {
  /// Whether libavcodec's errors mean damage.
  func isDamage(_ errors: FrameErrors) -> Bool {
    // Its count of slices is wrong for the second of two fields with frame threads.
    !(isField ? errors.subtracting(.slices) : errors).isEmpty
  }
}
