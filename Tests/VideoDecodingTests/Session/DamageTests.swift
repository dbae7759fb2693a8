// SPDX-License-Identifier: MPL-2.0
import AVCodec
import CAVCodec
import H26x
import TestSupport
import Testing

@testable import VideoDecoding

/// Damaged streams end normally, with a result for each access unit.
@Suite(.enabled(if: Vectors.isAvailable)) struct DamageTests {
  static let names = ["SVA_CL1_E.264", "HCAFR3_HHI.264", "FRExt4_Panasonic.avc", "SVA_Base_B.264"]

  @Test(arguments: Damage.allCases, TestScope.rows([0.01, 0.001, 0.1], usually: 1))
  func everyAccessUnitIsAccountedFor(_ damage: Damage, _ rate: Double) throws {
    for seed in UInt64(0)..<(TestScope.isExhaustive ? 100 : 24) {
      let name = Self.names[Int(seed) % Self.names.count]
      let original = accessUnits(Vector.named(name)?.bytes ?? [])
      let units = damage.apply(to: original, rate: rate, seed: seed)
      let threading = SessionConfiguration.threadings[Int(seed / 4) % 3]
      let session = try makeSession(original, threading)
      var run = Run()
      try session.run(units, into: &run)
      #expect(run.accounts(for: units.count), "\(name) seed \(seed)")
      let statistics = session.statistics
      #expect(statistics.submitted == statistics.output + statistics.dropped + statistics.failed)
      #expect(statistics.restarts == 0)
    }
  }

  /// A frame that is not flagged equals the undamaged one, where frame_num shows what is lost.
  @Test(
    arguments: ["MR2_MW_A.264", "MIDR_MW_D.264", "BANM_MW_D.264", "SVA_CL1_E.264", "freh3.264"],
    SessionConfiguration.triedThreadings)
  func unflaggedFramesAreCorrect(_ name: String, _ threading: Int) throws {
    let hasSlices = name == "SVA_CL1_E.264"
    // With slice threads libavcodec does not notice a lost slice.
    if hasSlices && threading == 1 { return }
    let units = accessUnits(Vector.named(name)?.bytes ?? [])
    let expected = Set(try decodeAll(units).frames.map(\.fingerprint))
    var (wrong, flagged, right) = (0, 0, 0)
    for seed in UInt64(0)..<3 {
      let damaged = Damage.drop.apply(to: units, rate: 0.02, seed: seed)
      let run = try decodeAll(damaged, .threadings[threading])
      for frame in run.frames {
        if frame.isCorrupt {
          flagged += 1
        } else if expected.contains(frame.fingerprint) {
          right += 1
        } else {
          wrong += 1
        }
      }
    }
    #expect(wrong == 0 && right > 0 && flagged > 0)
  }

  /// Half of a picture is lost: it is flagged, and so is what refers to it, even what is shown before it. Since version
  /// 61, libavcodec's frame threads report damage only with the picture itself. Pictures that were shown before cannot
  /// be flagged then. Some damage is not reported: the thread that outputs the picture copies the flag, and does not
  /// wait for the thread that decodes it.
  @Test(
    arguments: ["clip.h264", "open-gop.h264", "intra-refresh.h264"],
    SessionConfiguration.triedThreadings)
  func halvedPicturesAreFlagged(_ name: String, _ threading: Int) throws {
    // With slice threads libavcodec does not notice that one of several slices is damaged; other clips have one slice.
    if name == "clip.h264" && threading == 1 { return }
    let units = try mediaAccessUnits(name)
    let configuration = SessionConfiguration.threadings[threading]
    let expected = Set(try decodeAll(units, configuration).checksums)
    let flagsLate = configuration.threadType == .frame && LIBAVCODEC_VERSION_MAJOR >= 61
    var checkedCount = 0
    // In a few bytes, all macroblocks of which are skipped, there is nothing to notice.
    for halved in stride(from: 1, to: units.count - 1, by: 3) where units[halved].count > 100 {
      var damaged = units
      damaged[halved].removeLast(units[halved].count / 2)
      let run = try decodeAll(damaged, configuration)
      #expect(run.accounts(for: units.count) && run.frames.count == units.count, "\(halved)")
      let wrong = zip(run.frames, run.checksums).filter { !expected.contains($1) }
      #expect(wrong.contains { $0.0.tag == UInt64(halved) })
      let flagged = run.frames.filter(\.isCorrupt).map(\.tag)
      if flagsLate && !flagged.contains(UInt64(halved)) {
        #expect(flagged == [], "\(halved)")
        continue
      }
      checkedCount += 1
      let reported = flagsLate ? wrong.drop { $0.0.tag != UInt64(halved) } : wrong[...]
      let unflagged = reported.filter { !$0.0.isCorrupt }.map(\.0.tag)
      #expect(unflagged == [], "\(halved)")
      // Damage in what nobody refers to stays there.
      if !isReference(units[halved]) { #expect(flagged == [UInt64(halved)]) }
    }
    #expect(checkedCount > 0)
  }

  /// An undecodable access unit shortly before the end affects no other picture, with any number of threads.
  @Test(arguments: 1...5) func anUndecodableAccessUnitNearTheEndAffectsNoOther(_ threads: Int) throws {
    let units = try mediaAccessUnits("clip.h264")
    let configuration = SessionConfiguration.with {
      $0.threadType = .frame
      $0.threadCount = threads
    }
    // A slice that refers to a PPS that was never sent.
    var slice = BitWriter()
    slice.u(8, 0x01)
    slice.ue(0)
    slice.ue(5)
    slice.ue(77)
    slice.u(24, 0xABCDEF)
    slice.trailingBits()
    for lost in units.indices.suffix(8) where !isReference(units[lost]) {
      var damaged = units
      damaged[lost] = [0, 0, 0, 1] + slice.bytes
      let run = try decodeAll(damaged, configuration)
      #expect(run.accounts(for: units.count) && run.failures.count == 1, "\(lost)")
      #expect(run.frames.map(\.tag).sorted() == units.indices.filter { $0 != lost }.map(UInt64.init), "\(lost)")
    }
  }

  /// The headers show that the first slice is lost, whatever libavcodec reports.
  @Test(arguments: SessionConfiguration.threadings.indices) func lostFirstSliceIsFlagged(_ threading: Int) throws {
    var units = accessUnits(Vector.named("SVA_CL1_E.264")?.bytes ?? [])
    let whole = try decodeAll(units).checksums
    let unit = units[20]
    var nalUnits = AnnexB.NALUnits(unit.span)
    let next = nalUnits.next()
    let first = try #require(next)
    units[20].removeSubrange(first.startCodeOffset..<first.range.upperBound)
    let run = try decodeAll(units, .threadings[threading])
    #expect(run.frames.count == whole.count)
    #expect(run.frames.first(where: \.isCorrupt)?.tag == 20)
    #expect(Array(run.checksums.prefix(20)) == Array(whole.prefix(20)) && run.frames.last?.isCorrupt == true)
  }

  /// Pictures that wait for output when an IDR picture cannot be decoded are output all the same.
  @Test(arguments: [false, true]) func outputsPicturesBeforeABrokenIDRPicture(_ isMixed: Bool) throws {
    let units = accessUnits(Vector.named("SVA_CL1_E.264")?.bytes ?? [])
    // The rest of a stream with larger pictures, from the last slice of its IDR picture on.
    let others = accessUnits(Vector.named("jcodec_seq_explicit_test.264")?.bytes ?? [])
    var broken: [UInt8] = []
    let first = others[0]
    var nalUnits = AnnexB.NALUnits(first.span)
    while let nalUnit = nalUnits.next() { broken = Array(first[nalUnit.startCodeOffset..<nalUnit.range.upperBound]) }
    let configuration = SessionConfiguration.with {
      $0.threadType = .none
      $0.unknownReordering = .expect
    }
    // The slice comes alone, or after the first slice of a picture that lost its other slices.
    let cut = units[10]
    var slices = AnnexB.NALUnits(cut.span)
    let slice = slices.next()
    let mixed = Array(cut[..<(try #require(slice).range.upperBound)]) + broken
    let tail = isMixed ? mixed : broken
    let run = try decodeAll(Array(units[..<10]) + [tail] + others[1...], configuration)
    #expect(run.accounts(for: 10 + others.count))
    #expect(Set(run.frames.map(\.tag)).isSuperset(of: 0..<10))
  }

  /// The same when the codec refuses it and continues with pictures that are shown between those before.
  @Test func outputsPicturesBeforeARefusedIDRPicture() throws {
    let units = accessUnits(Vector.named("SVA_CL1_E.264")?.bytes ?? [])
    let plan = FaultPlan()
    plan.send = { _, index in index == 10 ? .invalidData : nil }
    let configuration = SessionConfiguration.with {
      $0.threadType = .none
      $0.unknownReordering = .expect
    }
    let run = try decodeAll(Array(units[..<10] + units[..<20]), configuration, plan: plan)
    #expect(run.accounts(for: 30))
    #expect(Set(run.frames.map(\.tag)).isSuperset(of: 0..<10))
  }

  @Test(arguments: [0, 1, 2, 3]) func randomBytesNeverTrap(_ seed: UInt64) throws {
    var generator = SeededGenerator(state: seed)
    let original = accessUnits(Vector.named("SVA_BA1_B.264")?.bytes ?? [])
    let session = try makeSession(original)
    var run = Run()
    for index in 0..<200 {
      let count = Int.random(in: 1..<2000, using: &generator)
      let noise = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
      let bytes = index % 2 == 0 ? noise : [0, 0, 1, [1, 5, 6, 7, 8][index % 5] | 0x60] + noise
      try session.decode(bytes, tag: UInt64(index))
      session.takeResults(into: &run)
    }
    session.drain()
    session.takeResults(into: &run)
    #expect(run.accounts(for: 200))
  }
}
