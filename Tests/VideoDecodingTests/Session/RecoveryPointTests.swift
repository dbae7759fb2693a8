// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x
import TestSupport
import Testing

@testable import VideoDecoding

/// Random access points other than IDR pictures: open GOPs with leading pictures, and gradual refresh.
@Suite struct RecoveryPointTests {
  private func recoveryPoints(_ units: [[UInt8]]) -> [Int] {
    var follower = H264StreamFollower(lengthSize: nil)
    return units.indices.filter { index in
      let unit = units[index]
      if case .recoveryPoint = follower.inspect(unit.span, index: 0).randomAccess { return true }
      return false
    }
  }

  @Test func mediaHasEnoughRecoveryPoints() throws {
    #expect(recoveryPoints(try mediaAccessUnits("open-gop.h264")).count >= 6)
    #expect(recoveryPoints(try mediaAccessUnits("intra-refresh.h264")).count >= 5)
  }

  /// Started at any access unit, a session outputs only pictures that equal those of the whole stream, and in front of
  /// them those of a gradual refresh, flagged.
  @Test(arguments: ["open-gop.h264", "intra-refresh.h264"], SessionConfiguration.threadings.indices)
  func outputsCorrectPicturesFromAStartInTheMiddle(_ name: String, _ threading: Int) throws {
    let units = try mediaAccessUnits(name)
    let whole = try decodeAll(units).checksums
    let points = recoveryPoints(units)
    for start in [points[1] - 2, points[1], points[2] - 1, points[3]] {
      let session = try makeSession(units, SessionConfiguration.threadings[threading])
      var run = Run()
      for index in start..<units.count {
        try session.decode(units[index], tag: UInt64(index))
        session.takeResults(into: &run)
      }
      session.drain()
      session.takeResults(into: &run)
      #expect(run.results.count == units.count - start && run.failures.isEmpty)
      let correct = run.frames.drop { $0.isCorrupt }.count
      #expect(run.frames.suffix(correct).allSatisfy { !$0.isCorrupt })
      #expect(run.checksums.suffix(correct) == whole.suffix(correct), "from \(start)")
      #expect(correct > units.count - start - 25 && (name == "intra-refresh.h264" || correct == run.frames.count))
      #expect(Set(run.drops).isSubset(of: [.beforeRandomAccessPoint, .noReference]))
      if name == "open-gop.h264" {
        let first = try #require(points.first { $0 >= start })
        #expect(run.frames.first?.tag == UInt64(first))
      }
    }
  }

  @Test(arguments: ["open-gop.h264", "intra-refresh.h264"], SessionConfiguration.triedThreadings)
  func losesNoPictureIfTheCodecIsLost(_ name: String, _ threading: Int) throws {
    let units = try mediaAccessUnits(name)
    let configuration = SessionConfiguration.threadings[threading]
    let expected = try decodeAll(units, configuration).checksums
    #expect(expected.count == units.count)
    for place in TestScope.rows(Array(units.indices), usually: 12) {
      let plan = FaultPlan()
      plan.send = { $0 == 0 && $1 == place ? .external : nil }
      let session = try makeSession(units, configuration, plan: plan)
      var run = Run()
      try session.run(units, into: &run)
      #expect(run.checksums == expected, "lost at \(place)")
      #expect(run.accounts(for: units.count))
      // The replay begins at a later random access point than the start of the stream, where that suffices.
      if name == "open-gop.h264" { #expect(session.statistics.replayed < 30) }
    }
  }

  /// Pictures are flagged until the recovery is complete.
  @Test(arguments: ["open-gop.h264", "intra-refresh.h264"])
  func damageEndsAtTheRecoveryPoint(_ name: String) throws {
    let units = try mediaAccessUnits(name)
    let whole = try decodeAll(units).checksums
    let points = recoveryPoints(units)
    var damaged = units
    let lost = try #require(units.indices.first { $0 > points[2] && isReference(units[$0]) })
    damaged[lost] = [0, 0, 0, 1, 9, 0xF0]
    let run = try decodeAll(damaged)
    #expect(run.accounts(for: units.count))
    let flagged = run.frames.filter(\.isCorrupt).map { Int($0.tag) }
    let wrong = run.frames.filter { !whole.contains("\($0.tag) \($0.fingerprint)") }.map { Int($0.tag) }
    #expect(Set(wrong).isSubset(of: flagged))
    #expect(!flagged.isEmpty && flagged.allSatisfy { $0 > lost && $0 < points[2] + 40 })
    #expect(run.drops == [.noPicture])
    let strict = try decodeAll(damaged, .with { $0.outputCorrupt = false })
    #expect(strict.frames.count == run.frames.count - flagged.count)
    #expect(strict.drops.filter { $0 == .corrupt }.count == flagged.count)
  }

  // MARK: Splices

  /// After a splice exactly those pictures are decoded that would be without the first stream. The size stays, so that
  /// libavcodec finds no new sequence. The `pic_order_cnt_type` changes, so that POCs seem too late.
  @Test(arguments: SessionConfiguration.threadings.indices)
  func anotherSequenceBeginsAtARecoveryPoint(_ threading: Int) throws {
    let configuration = SessionConfiguration.threadings[threading]
    let first = try mediaAccessUnits("interlaced.h264")
    let second = try mediaAccessUnits("intra-refresh.h264")
    let points = recoveryPoints(second)
    for (cut, start) in [(first.count, points[1]), (first.count - 2, points[3]), (1, points[0])] {
      let head = Array(first.prefix(cut))
      let tail = Array(second[start...])
      let shown = try decodeAll(head, configuration).frames + decodeAll(tail, configuration).frames
      #expect(shown.count > (head + tail).count - 15)
      let run = try decodeAll(head + tail, configuration)
      #expect(run.frames.map(\.fingerprint) == shown.map(\.fingerprint))
      #expect(run.frames.map(\.isCorrupt) == shown.map(\.isCorrupt))
      #expect(run.accounts(for: head.count + tail.count))
      #expect(Set(run.drops).isSubset(of: [.beforeRandomAccessPoint, .noReference]))
    }
  }

  /// Pictures of the second stream before its parameter sets do not affect the pictures after these.
  @Test func strayPicturesBeforeAnotherSequence() throws {
    let first = try mediaAccessUnits("interlaced.h264")
    let second = try mediaAccessUnits("intra-refresh.h264")
    let points = recoveryPoints(second)
    let tail = try decodeAll(Array(second[points[1]...]), SessionConfiguration.threadings[0])
    let spliced = first + second[(points[1] - 7)...]
    let run = try decodeAll(spliced, SessionConfiguration.threadings[0])
    #expect(run.frames.suffix(tail.frames.count).map(\.fingerprint) == tail.frames.map(\.fingerprint))
    #expect(run.accounts(for: spliced.count))
  }

  /// A session that is lost after a splice replays from the splice at the earliest.
  @Test func replaysFromTheSpliceAtTheEarliest() throws {
    let first = try mediaAccessUnits("interlaced.h264")
    let second = try mediaAccessUnits("intra-refresh.h264")
    let spliced = first + second[recoveryPoints(second)[1]...]
    let expected = try decodeAll(spliced).checksums
    for place in [first.count - 1, first.count, first.count + 1, first.count + 30, spliced.count - 1] {
      let plan = FaultPlan()
      plan.send = { $0 == 0 && $1 == place ? .external : nil }
      let session = try makeSession(spliced, plan: plan)
      var run = Run()
      try session.run(spliced, into: &run)
      #expect(run.checksums == expected, "lost at \(place)")
      #expect(session.statistics.restarts == 1)
      if place > first.count { #expect(session.statistics.replayed == UInt64(place - first.count)) }
    }
  }

  /// The first stream can be drained before the splice is decoded; elsewhere the call changes nothing.
  @Test func applicationsMayFinishASequence() throws {
    let first = try mediaAccessUnits("interlaced.h264")
    let second = try mediaAccessUnits("intra-refresh.h264")
    let spliced = first + second[recoveryPoints(second)[1]...]
    let expected = try decodeAll(spliced).checksums
    let session = try makeSession(spliced)
    var reader = H264StreamFollower(lengthSize: nil)
    var run = Run()
    for (index, unit) in spliced.enumerated() {
      let read = reader.read(unit.span)
      session.finishSequence(before: unit.span, read)
      session.takeResults(into: &run)
      if index == first.count { #expect(run.results.count == index) }
      try session.decode(unit.span, read, DecodeRequest(tag: UInt64(index)))
      session.takeResults(into: &run)
    }
    session.drain()
    session.takeResults(into: &run)
    #expect(run.checksums == expected)
  }
}
