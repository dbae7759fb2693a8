// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// Results and notices that wait to be fetched, and their counts.
struct SessionOutput {
  private var results = RingQueue<SessionResult>()
  private var notices = RingQueue<SessionNotice>()
  private(set) var statistics = SessionStatistics()
  /// The picture output so far that is the last in output order; nil if unknown.
  private var latest: OutputOrder?

  /// An event that is counted besides results.
  enum Event {
    case submitted, concealed, hashMismatch, corrupted, restart, replay, processLoss, resynchronisation, fallBack
  }

  /// Older notices are discarded.
  private static let noticeLimit = 16

  mutating func nextResult() -> SessionResult? { results.popFirst() }
  mutating func nextNotice() -> SessionNotice? { notices.popFirst() }

  mutating func count(_ event: Event) {
    switch event {
    case .submitted: statistics.submitted += 1
    case .concealed: statistics.concealed += 1
    case .hashMismatch: statistics.hashMismatches += 1
    case .corrupted: statistics.corrupted += 1
    case .restart: statistics.restarts += 1
    case .replay: statistics.replayed += 1
    case .processLoss: statistics.processesLost += 1
    case .fallBack: statistics.softwareFallbacks += 1
    case .resynchronisation: statistics.resynchronisations += 1
    }
  }

  /// A failure, whether or not the session recovers from it.
  mutating func note(_ error: DecodeError) { statistics.lastError = error }

  /// Slices of an access unit are damaged.
  mutating func note(_ verdict: SliceVerdict) {
    guard verdict.count > 0 else { return }
    statistics.damagedSlices = (statistics.damagedSlices ?? 0) + UInt64(verdict.count)
    statistics.lastDamagedSlice = DecodeError(verdict)
  }

  /// Slices are verified: they are counted.
  mutating func countDamagedSlices() { statistics.damagedSlices = 0 }

  mutating func show(_ picture: DecodedPicture) {
    statistics.output += 1
    results.append(.frame(picture))
  }

  mutating func drop(_ tag: UInt64, _ reason: DropReason) {
    statistics.dropped += 1
    if reason.isLoss { statistics.lost += 1 }
    results.append(.dropped(tag: tag, reason: reason))
  }

  mutating func fail(_ error: DecodeError, tag: UInt64) {
    statistics.failed += 1
    results.append(.failed(tag: tag, error: error))
  }

  /// Whether a picture that follows this one in output order was output.
  func isOutOfOrder(_ record: LedgerEntry) -> Bool {
    guard let latest, let order = record.summary.order, !record.request.doNotOutput, !record.summary.isHidden else {
      return false
    }
    return order < latest
  }

  /// The result of an access unit whose picture was started and will not come out.
  func unseenEnding(of record: LedgerEntry) -> AccessUnitLedger.Ending {
    if let error = record.error { return .failed(error) }
    return .dropped(isOutOfOrder(record) ? .outOfOrder : .notShown)
  }

  /// A picture has come out. Returns whether it is shown.
  mutating func admit(
    _ record: LedgerEntry, isUnrecovered: Bool, isCorrupt: Bool, outputCorrupt: Bool
  ) -> Bool {
    var isLate = false
    if let order = record.summary.order ?? record.summary.displayOrder {
      isLate = record.summary.displayOrder != nil && latest.map { order < $0 } ?? false
      latest = latest.map { max($0, order) } ?? order
    }
    if record.request.doNotOutput || record.summary.isHidden || isUnrecovered {
      drop(
        record.request.tag,
        record.request.doNotOutput ? .doNotOutput : record.summary.isHidden ? .skipped : .noReference)
      return false
    }
    if isCorrupt { count(.corrupted) }
    if isCorrupt && !outputCorrupt {
      drop(record.request.tag, .corrupt)
      return false
    }
    if isLate { statistics.outOfOrder += 1 }
    return true
  }

  /// An access unit ends without a picture.
  mutating func end(_ record: LedgerEntry, _ ending: AccessUnitLedger.Ending, isSkipping: Bool) {
    switch ending {
    case .dropped(let reason): drop(record.request.tag, reason)
    case .failed(let error): fail(DecodeError(decoding: record, code: error), tag: record.request.tag)
    case .withoutPicture:
      if record.summary.isIncomplete { count(.corrupted) }
      drop(
        record.request.tag,
        record.summary.isIncomplete
          ? .corrupt : isSkipping ? .skipped : record.summary.isLeading ? .noReference : .noPicture)
    }
  }

  /// Software takes the place of a device, which is reported once.
  mutating func fallBack(_ reason: HardwareUse.Obstacle) {
    if statistics.softwareFallbacks == 0 {
      let text =
        switch reason {
        case .failure(let failure, _): failure.reason ?? failure.code.processFailure ?? "\(failure.code)"
        case .damage: "the stream is damaged, and a device neither reports nor conceals damage"
        }
      notify(.softwareFallback(reason: text))
    }
    count(.fallBack)
  }

  mutating func notify(_ notice: SessionNotice) {
    if notices.count == Self.noticeLimit { _ = notices.popFirst() }
    notices.append(notice)
  }

  /// Drops frames that have not been fetched, and returns them. The caller releases them: the owner of a picture's
  /// memory may then call the session.
  mutating func flush() -> [DecodedPicture] {
    var pictures: [DecodedPicture] = []
    var waiting = results
    results = RingQueue()
    while let result = waiting.popFirst() {
      if case .frame(let picture) = result {
        statistics.output -= 1
        drop(picture.tag, .flushed)
        pictures.append(picture)
      } else {
        results.append(result)
      }
    }
    return pictures
  }
}
