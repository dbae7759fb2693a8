// SPDX-License-Identifier: MPL-2.0
import Testing

@testable import VideoDecoding

@Suite struct DamageTrackerTests: StageBuilders {
  private func referring(
    _ index: UInt64, to pictures: [UInt64], complete: Bool = true, recoveredSince: UInt64? = nil,
    isIncomplete: Bool = false
  ) -> LedgerEntry {
    record(index) {
      $0.references = .init(pictures: pictures, areComplete: complete, kept: pictures + [index])
      $0.recoveredSince = recoveredSince
      $0.isIncomplete = isIncomplete
    }
  }

  @Test func damageFollowsReferences() {
    var damage = DamageTracker()
    func taint(_ record: LedgerEntry) -> LedgerEntry.Taint {
      var record = record
      damage.admit(&record)
      return record.taint
    }
    #expect(taint(referring(0, to: [])) == .none)
    #expect(taint(referring(2, to: [0], complete: false)) == .tainted && damage.damageEnd == 3)
    #expect(taint(referring(3, to: [2])) == .tainted)
    #expect(taint(referring(4, to: [3, 0])) == .tainted)
    // A recovery that began before the damage does not help, one behind it does.
    #expect(taint(referring(5, to: [4], recoveredSince: 2)) == .tainted)
    #expect(taint(referring(6, to: [5], recoveredSince: 3)) == .none)
    #expect(taint(referring(7, to: [6])) == .none)
    let incomplete = referring(8, to: [7], isIncomplete: true)
    #expect(taint(incomplete) == .tainted && taint(referring(9, to: [7])) == .none)
    // Damage that is noticed late spreads over those that wait, by what they refer to.
    var pending = LedgerEntries()
    for next in [referring(11, to: [10]), referring(12, to: [9]), referring(13, to: [11, 12])] { pending.append(next) }
    damage.spread(after: 10, byReferences: true, in: &pending)
    #expect(pending[11]?.taint == .tainted && pending[12]?.taint == LedgerEntry.Taint.none)
    #expect(pending[13]?.taint == .tainted && taint(referring(14, to: [13])) == .tainted)
    damage.reset()
    #expect(taint(referring(15, to: [13])) == .none)
  }

  @Test func damageLastsUntilARecoveryThatBeginsAfterIt() {
    var damage = DamageTracker()
    var pending = LedgerEntries()
    var clean = record(0)
    damage.admit(&clean)
    #expect(clean.taint == .none && !damage.isTainted)
    var behindGap = record(5) { $0.followsGap = true }
    damage.admit(&behindGap)
    #expect(behindGap.taint == .tainted && damage.damageEnd == 5)
    // A recovery that began before the damage does not help.
    #expect(damage.recovery(completedBy: summary { $0.randomAccess = .recoveryPoint(frameCount: 3) }, index: 4) == nil)
    #expect(damage.recovery(completedBy: summary { $0.completesRecovery = true }, index: 6) == 4)
    var early = record(6, recoveryStart: 4)
    damage.admit(&early)
    #expect(early.taint == .tainted)
    // One that begins with the picture behind the gap does, once its picture is output.
    var recovered = record(8, recoveryStart: 5)
    damage.admit(&recovered)
    #expect(recovered.taint == .until(index: 8))
    var idr = record(9, recoveryStart: 9, sequenceStart: 9)
    damage.admit(&idr)
    #expect(idr.taint == .none && !damage.isTainted)
    // Damage that is noticed late spreads over those that wait, up to the next recovery.
    for next in [record(10), record(11, recoveryStart: 11, sequenceStart: 11), record(12)] { pending.append(next) }
    damage.spread(after: 9, in: &pending)
    #expect(pending[10]?.taint == .tainted && pending[11]?.taint == LedgerEntry.Taint.none)
    #expect(pending[12]?.taint == LedgerEntry.Taint.none)
  }

  @Test func incompletePicturesAreDamagedThemselves() {
    var damage = DamageTracker()
    var unused = record(3, isReference: false) { $0.isIncomplete = true }
    damage.admit(&unused)
    #expect(unused.taint == .tainted && !damage.isTainted)
    var used = record(4) { $0.isIncomplete = true }
    damage.admit(&used)
    #expect(used.taint == .tainted && damage.isTainted && damage.damageEnd == 5)
    // Known to refer to nothing before the intra picture 5, or to nothing before 4.
    var free = record(6, referencesSince: 5)
    damage.admit(&free)
    #expect(free.taint == .none)
    var bound = record(7, referencesSince: 4)
    damage.admit(&bound)
    #expect(bound.taint == .tainted)
    damage.reset()
    var fresh = record(8)
    damage.admit(&fresh)
    #expect(fresh.taint == .none)
  }

  /// References that are damaged throughout stay damaged. References that were correct after some picture are not, once
  /// damage reaches that picture.
  @Test(arguments: [
    (LedgerEntry.Taint.none, LedgerEntry.Taint.tainted), (.until(index: 12), .tainted), (.tainted, .tainted),
  ])
  func combinesDamageWithEarlierDamage(_ taint: LedgerEntry.Taint, _ expected: LedgerEntry.Taint) {
    var damage = DamageTracker()
    var pending = LedgerEntries()
    var waiting = record(11)
    waiting.taint = taint
    // The recovery of 12 began behind the damage of 10.
    var recovering = record(12, recoveryStart: 11)
    recovering.taint = taint
    for next in [waiting, recovering] { pending.append(next) }
    damage.spread(after: 10, in: &pending)
    #expect(pending[11]?.taint == expected)
    #expect(pending[12]?.taint == (taint == .none ? .until(index: 12) : taint))
  }

  /// The recovery that begins behind the damage of 10, if any, and what becomes of the next access unit.
  @Test(
    arguments: [
      (nil, 0, .tainted), (10, 0, .tainted), (11, 0, .until(index: 12)), (12, 12, .none),
    ] as [(UInt64?, UInt64, LedgerEntry.Taint)])
  func lateDamageLastsUntilARecoveryThatBeginsAfterIt(
    _ recoveryStart: UInt64?, _ sequenceStart: UInt64, _ expected: LedgerEntry.Taint
  ) {
    var damage = DamageTracker()
    var pending = LedgerEntries()
    pending.append(record(11))
    pending.append(record(12, recoveryStart: recoveryStart, sequenceStart: sequenceStart))
    damage.spread(after: 10, in: &pending)
    #expect(damage.isTainted == (expected != .none) && damage.damageEnd == 11)
    var next = record(13)
    damage.admit(&next)
    #expect(next.taint == expected)
    // Earlier damage that is found later still changes nothing.
    damage.taint(before: 14)
    damage.spread(after: 10, in: &pending)
    #expect(damage.isTainted && damage.damageEnd == 14)
  }
}
