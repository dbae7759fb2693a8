// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x

/// Stage: the only store of access units, from the gate to the end of their use in a replay, and the consequences of
/// damage for pending ones.
struct AccessUnitLedger {
  var entries = LedgerEntries()
  /// The packet that the codec got last.
  private(set) var youngest: Packet?
  private(set) var damage = DamageTracker()
  /// Access units so far that have no picture, because they were dropped or skipped.
  private var countWithoutPicture: UInt64 = 0
  /// Access units that have started a picture.
  private let started: StartedPictures

  init(_ started: StartedPictures) { self.started = started }

  /// The oldest pending access unit.
  var first: LedgerEntry? { entries.first }
  /// A pending access unit.
  subscript(index: UInt64) -> LedgerEntry? { entries[index] }
  /// The hash that the picture of an access unit must have; nil for none.
  func hash(of index: UInt64) -> H265.DecodedPictureHash? { entries.hash(of: index) }

  // MARK: Access units come in

  /// Whether to follow references, starting at an intra picture. Every slice after it is then read to find out which
  /// pictures are correct; elsewhere no slice is.
  func mayRecover(at summary: DecodingSummary, followingFrom followed: UInt64?) -> Bool {
    summary.isIntra && !summary.randomAccess.isMarked && damage.isTainted
      && followed.map { $0 < damage.damageEnd } ?? true
  }

  /// The codec gets an access unit.
  mutating func send(_ record: inout LedgerEntry) {
    record.recoveryStart = damage.recovery(completedBy: record.summary, index: record.index)
    record.state = .pending
    record.countWithoutPictureBefore = countWithoutPicture
    damage.admit(&record)
    entries.send(record)
    youngest = record.packet
    guard record.summary.isSecondField, record.index > 0 else { return }
    entries.update(record.index - 1) { first in
      first.hasBothFields = true
      if record.taint == .tainted { first.taint = .tainted }
      if let duration = record.request.duration {
        first.request.duration = first.request.duration.map { $0 + duration }
      }
    }
  }

  /// An access unit has no picture: it pushes none out.
  mutating func countOneWithoutPicture() { countWithoutPicture &+= 1 }

  /// Something before this access unit was lost or damaged.
  mutating func taint(before index: UInt64) { damage.taint(before: index) }

  /// Nothing that follows refers to anything before.
  mutating func forgetDecoded() { damage.reset() }

  // MARK: Damage

  /// libavcodec has found errors in an access unit.
  mutating func note(_ errors: FrameErrors, at index: UInt64) {
    guard !errors.isEmpty, let record = entries[index], record.isDamage(errors), !record.isConcealed else { return }
    entries.update(index) { $0.isConcealed = true }
    spreadDamage(from: record)
  }

  /// Slices of an access unit are damaged. Its entry may have got its result.
  mutating func note(_ verdict: SliceVerdict) {
    let task = verdict.task
    entries.update(task.index) { $0.hasDamagedSlices = true }
    if task.isSecondField, task.index > 0 { entries.update(task.index - 1) { $0.hasDamagedSlices = true } }
    guard task.isReference else { return }
    damage.spread(after: task.index, byReferences: task.hasReferenceSets, in: &entries)
  }

  /// The last access unit whose slices decide whether a picture is damaged: its own, or its second field's. Nil if the
  /// picture has its result.
  func lastPart(of index: UInt64) -> UInt64? { entries[index].map { $0.hasBothFields ? index + 1 : index } }

  /// Whether an access unit gets its result when its decoding ends, without a picture, although later damage is judged
  /// by it: the damage of its slices must be known before.
  func endsUnseen(_ index: UInt64) -> Bool {
    guard let record = entries[index], record.summary.nalUnitType != nil else { return false }
    guard record.recoveryStart != nil || record.summary.references != nil else { return false }
    return !started.contains(index) || !record.summary.isShown
  }

  /// A picture is damaged, and so are the pictures that refer to it.
  mutating func spreadDamage(from record: LedgerEntry) {
    guard record.summary.isReference else { return }
    damage.spread(after: record.index, byReferences: record.summary.references != nil, in: &entries)
  }

  /// Whether a picture references damaged ones.
  func isTainted(_ record: LedgerEntry) -> Bool {
    switch record.taint {
    case .none: false
    case .tainted: true
    case .until(let start): start != record.index && entries[start] != nil
    }
  }

  /// Whether a part of an access unit, or of its references, is known to be missing or damaged.
  func isDamaged(_ index: UInt64) -> Bool { entries[index].map { $0.summary.isIncomplete || isTainted($0) } ?? false }

  // MARK: Access units get their results

  /// The result of an access unit without a picture.
  enum Ending {
    case dropped(DropReason)
    case failed(AVError)
    /// The codec has made no picture of it.
    case withoutPicture
  }

  /// A pending access unit gets its result.
  mutating func finish(_ index: UInt64) -> LedgerEntry? { entries.finish(index) }

  /// Decoding of an access unit has ended: if no picture was started, none will come. Nil while one may.
  mutating func ending(of record: LedgerEntry, error: AVError?) -> Ending? {
    guard record.summary.nalUnitType != nil else { return .dropped(.noPicture) }
    let hasStarted = started.contains(record.index)
    if let error {
      // Its header was read, so frame_num will show no gap.
      spreadDamage(from: record)
      guard hasStarted else { return .failed(error) }
      entries.update(record.index) { $0.error = error }
      return nil
    }
    // The picture comes out in its turn, if it is for output.
    if hasStarted { return record.summary.isShown ? nil : .dropped(.notShown) }
    return record.summary.isField ? .dropped(.secondField) : .withoutPicture
  }

  /// The oldest access unit, if it has been inside for longer than any decoder may hold it. Counts pictures: an access
  /// unit without one pushes none out.
  func overdue(at index: UInt64, threadDelay: Int) -> LedgerEntry? {
    // 16 frames of two fields, the frames in threads, and one being decoded.
    let window = UInt64(2 * (20 + threadDelay))
    guard let first = entries.first,
      first.index + window + (countWithoutPicture - first.countWithoutPictureBefore) <= index
    else { return nil }
    return first
  }

  /// The oldest access unit, if it precedes the sequence of one whose picture comes out. Its own picture can no
  /// longer come, unless the sequence's first picture was not decoded; libavcodec then continues with its existing
  /// pictures.
  func outrun(by record: LedgerEntry) -> LedgerEntry? {
    guard let first = entries.first, first.index < record.sequenceStart, started.contains(record.sequenceStart) else {
      return nil
    }
    return first
  }
}

extension LedgerEntry {
  /// Whether libavcodec's errors mean damage.
  func isDamage(_ errors: FrameErrors) -> Bool {
    // Its count of slices is wrong for the second of two fields with frame threads.
    !(summary.isField ? errors.subtracting(.slices) : errors).isEmpty
  }
}
