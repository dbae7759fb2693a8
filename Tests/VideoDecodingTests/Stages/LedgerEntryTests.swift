// SPDX-License-Identifier: MPL-2.0
import AVCodec
import Testing

@testable import VideoDecoding

/// The record of an access unit, and the conclusions from it.
@Suite struct LedgerEntryTests: StageBuilders {
  @Test(arguments: [
    (DecodingSummary.RandomAccess.none, false, false), (.idr, true, true), (.cra, true, true),
    (.recoveryPoint(frameCount: 0), true, true), (.recoveryPoint(frameCount: 1), true, false), (.intra, false, false),
  ])
  func distinguishesStarts(_ randomAccess: DecodingSummary.RandomAccess, _ isMarked: Bool, _ isClean: Bool) {
    #expect(randomAccess.isMarked == isMarked)
    #expect(summary { $0.randomAccess = randomAccess }.isCleanStart == isClean)
  }

  @Test func newEntriesKnowNothingOfTheirAccessUnit() {
    let summary = DecodingSummary()
    #expect(summary.randomAccess == .none && summary.nalUnitType == nil && summary.recoveredSince == nil)
    #expect(!summary.isField && !summary.isSecondField && !summary.isIntra && !summary.isReference)
    #expect(!summary.completesRecovery && !summary.awaitsRecovery && !summary.isIncomplete && !summary.followsGap)
    #expect(!summary.isSkipped && !summary.isLeading && !summary.isDiscardable && summary.isShown)
    #expect(!summary.changesParameterSets && !summary.endsSequence && !summary.beginsOtherSequence)
    #expect(summary.standIns.isEmpty && summary.patches.isEmpty && summary.references == nil && summary.hash == nil)
    let record = record(3)
    #expect(record.taint == .none && !record.hasBothFields && !record.isConcealed && record.error == nil)
    #expect(record.countWithoutPictureBefore == 0 && record.referencesSince == nil)
  }

  /// The taint so far, where the recovery began that the picture completes, the last IDR picture, and what remains of
  /// damage that ends before access unit 5.
  @Test(
    arguments: [
      (.none, nil, 0, .none), (.none, 6, 0, .none), (.tainted, nil, 0, .tainted), (.tainted, 4, 0, .tainted),
      (.tainted, 4, 4, .tainted), (.tainted, 5, 0, .until(index: 8)), (.tainted, 6, 6, .none),
      (.tainted, 6, 5, .until(index: 8)), (.until(index: 7), 6, 0, .until(index: 7)), (.until(index: 7), 5, 5, .none),
      (.until(index: 7), nil, 0, .until(index: 7)),
    ] as [(LedgerEntry.Taint, UInt64?, UInt64, LedgerEntry.Taint)])
  func decidesHowMuchDamageRemains(
    _ taint: LedgerEntry.Taint, _ recoveryStart: UInt64?, _ sequenceStart: UInt64,
    _ remaining: LedgerEntry.Taint
  ) {
    let record = record(8, recoveryStart: recoveryStart, sequenceStart: sequenceStart)
    #expect(record.remaining(taint, damageEnd: 5) == remaining)
  }

  @Test(arguments: [(nil, false), (4, false), (5, true), (6, true)] as [(UInt64?, Bool)])
  func picturesThatFollowNoDamageAreFreeOfIt(_ since: UInt64?, _ isFree: Bool) {
    #expect(record(8, referencesSince: since).isFree(ofDamageBefore: 5) == isFree)
  }

  /// libavcodec counts the slices of a second field wrongly.
  @Test(
    arguments: [
      ([], false, false), (.slices, true, false), (.concealment, true, true), (.invalidBitstream, true, true),
      (.missingReference, true, true), ([.slices, .concealment], true, true),
    ] as [(FrameErrors, Bool, Bool)])
  func decidesWhichErrorsMeanDamage(_ errors: FrameErrors, _ inFrame: Bool, _ inField: Bool) {
    for isField in [false, true] {
      let record = record(0) { $0.isField = isField }
      #expect(record.isDamage(errors) == (isField ? inField : inFrame))
    }
  }
}
