// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// Follows damage from picture to picture, in decoding order. With reference picture sets (H.265), pictures that
/// refer to damaged ones are damaged. Without, all pictures after a damaged reference picture are damaged, up to a
/// recovery that begins after it.
struct DamageTracker {
  /// The effect of the damage so far on the next access unit.
  private var taint = LedgerEntry.Taint.none
  /// The index after the last lost or damaged access unit.
  private(set) var damageEnd: UInt64 = 0
  /// The last recovery point.
  private var recoveryStart: UInt64?
  /// Damaged pictures that may still be referred to, with reference picture sets.
  private var damaged: Set<UInt64> = []

  /// Whether the next access unit may reference damaged pictures.
  var isTainted: Bool { taint != .none }

  /// Nothing that follows refers to anything before.
  mutating func reset() {
    taint = .none
    damaged = []
  }

  /// Something before this access unit was lost or damaged.
  mutating func taint(before index: UInt64) {
    taint = .tainted
    damageEnd = index
  }

  /// The start of the recovery that this access unit completes; nil if it completes none.
  mutating func recovery(completedBy summary: DecodingSummary, index: UInt64) -> UInt64? {
    if summary.randomAccess.isMarked { recoveryStart = index }
    return summary.completesRecovery ? recoveryStart : nil
  }

  /// Takes the next access unit, and marks it if it is damaged.
  mutating func admit(_ record: inout LedgerEntry) {
    let summary = record.summary
    if let references = summary.references { return admit(&record, references) }
    // The picture may be a recovery point itself.
    if summary.followsGap || summary.isBrokenLink { taint(before: record.index) }
    taint = record.remaining(taint, damageEnd: damageEnd)
    // A second field may refer to missing pictures, even if the first does not.
    let needsNothing = summary.isIntra && !summary.isField || record.isFree(ofDamageBefore: damageEnd)
    record.taint = needsNothing ? .none : taint
    if summary.lacksFirstField { record.taint = .tainted }
    guard summary.isIncomplete else { return }
    // libavcodec conceals it, but reports that only without slice threads.
    record.taint = .tainted
    if summary.isReference { taint(before: record.index + 1) }
  }

  private mutating func admit(_ record: inout LedgerEntry, _ references: DecodingSummary.References) {
    let isFresh = record.summary.isIncomplete || !references.areComplete
    if isFresh && !record.summary.awaitsRecovery { damageEnd = max(damageEnd, record.index + 1) }
    if isFresh || inherits(record, from: damaged) {
      record.taint = .tainted
      damaged.insert(record.index)
    }
    if !damaged.isEmpty { damaged.formIntersection(references.kept) }
  }

  /// Whether a picture references damaged ones.
  private func inherits(_ record: LedgerEntry, from damaged: Set<UInt64>) -> Bool {
    guard let references = record.summary.references, !damaged.isDisjoint(with: references.pictures) else {
      return false
    }
    // A completed recovery needs nothing from before its start.
    return record.summary.recoveredSince.map { $0 < damageEnd } ?? true
  }

  /// Damage was found in a picture. It spreads to the pictures that follow it in decoding order, or to those that
  /// refer to it.
  ///
  /// - Parameter byReferences: whether pictures have reference picture sets.
  mutating func spread(
    after index: UInt64, byReferences: Bool = false, in entries: inout LedgerEntries
  ) {
    if byReferences { return spreadByReferences(from: index, in: &entries) }
    var spread = LedgerEntry.Taint.tainted
    entries.updateAll(after: index) { record in
      spread = record.remaining(spread, damageEnd: index + 1)
      if record.isFree(ofDamageBefore: index + 1) { return }
      if spread == .tainted || record.taint == .none { record.taint = spread }
    }
    guard spread == .tainted || taint == .none else { return }
    taint = spread
    damageEnd = max(damageEnd, index + 1)
  }

  private mutating func spreadByReferences(from index: UInt64, in entries: inout LedgerEntries) {
    damageEnd = max(damageEnd, index + 1)
    var found: Set<UInt64> = [index]
    entries.updateAll(after: index) { record in
      guard inherits(record, from: found) else { return }
      record.taint = .tainted
      found.insert(record.index)
    }
    damaged.formUnion(found)
  }
}
