// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// Follows damage from picture to picture, in decoding order: all that comes after a damaged reference picture is
/// damaged, up to a recovery that begins after it.
struct DamageTracker {
  /// What the damage so far means for the next access unit.
  private var taint = AccessUnitRecord.Taint.none
  /// The access unit behind the last one that is lost or damaged.
  private(set) var damageEnd: UInt64 = 0
  /// The last recovery point.
  private var recoveryStart: UInt64?

  /// Whether the next access unit may decode from damage.
  var isTainted: Bool { taint != .none }

  /// Nothing that comes refers to anything before.
  mutating func reset() { taint = .none }

  /// Something is lost or damaged, the last of it right before this access unit.
  mutating func taint(before index: UInt64) {
    taint = .tainted
    damageEnd = index
  }

  /// Where the recovery began that is complete with this access unit; nil when it completes none.
  mutating func recovery(completedBy summary: AccessUnitSummary, index: UInt64) -> UInt64? {
    if summary.randomAccess.isMarked { recoveryStart = index }
    return summary.completesRecovery ? recoveryStart : nil
  }

  /// Takes the next access unit, and marks it where it is damaged.
  mutating func admit(_ record: inout AccessUnitRecord, _ summary: AccessUnitSummary) {
    // The picture may be a recovery point itself.
    if summary.followsGap { taint(before: record.index) }
    taint = record.remaining(taint, damageEnd: damageEnd)
    record.taint = record.isFree(ofDamageBefore: damageEnd) ? .none : taint
    guard summary.isIncomplete else { return }
    // libavcodec conceals it, but says so only where no slice threads run.
    record.taint = .tainted
    if summary.isReference { taint(before: record.index + 1) }
  }

  /// A damaged picture spoils all that follow it in decoding order.
  mutating func spread(after index: UInt64, in pending: inout PendingAccessUnits) {
    var spread = AccessUnitRecord.Taint.tainted
    pending.updateAll(after: index) { record in
      spread = record.remaining(spread, damageEnd: index + 1)
      if record.isFree(ofDamageBefore: index + 1) { return }
      if spread == .tainted || record.taint == .none { record.taint = spread }
    }
    guard spread == .tainted || taint == .none else { return }
    taint = spread
    damageEnd = max(damageEnd, index + 1)
  }
}
