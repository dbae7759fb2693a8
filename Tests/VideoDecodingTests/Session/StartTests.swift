// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x
import Testing

@testable import VideoDecoding

/// The start of decoding in streams that do not begin with an IDR picture.
@Suite struct StartTests {
  /// An access unit without NAL units of some types.
  private func without(_ types: Set<UInt8>, _ unit: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var nalUnits = AnnexB.NALUnits(unit.span)
    while let nalUnit = nalUnits.next() {
      if !types.contains(unit[nalUnit.range.lowerBound] & 31) { result += [0, 0, 0, 1] + unit[nalUnit.range] }
    }
    return result
  }

  /// Gradual refresh without marks: no IDR picture, no recovery point, no intra picture.
  private func unmarked() throws -> (format: [[UInt8]], units: [[UInt8]]) {
    let all = try mediaAccessUnits("intra-refresh.h264")
    return (all, all.dropFirst().map { without([6], $0) })
  }

  /// I pictures that no SEI announces.
  private func intra() throws -> (format: [[UInt8]], units: [[UInt8]]) {
    let all = try mediaAccessUnits("open-gop.h264")
    return (all, all.map { without([6], $0) })
  }

  private func isIntra(_ unit: [UInt8], _ format: [[UInt8]]) throws -> Bool {
    var inspector = H264.AccessUnitInspector()
    for unit in format.prefix(1) { _ = inspector.inspect(unit.span, packaging: .annexB) }
    return inspector.inspect(unit.span, packaging: .annexB).isIntra
  }

  /// A frame lasts 40 ms.
  private func decode(
    _ units: [[UInt8]], in session: DecompressionSession, into run: inout Run
  ) throws {
    for (index, unit) in units.enumerated() {
      try session.decode(unit, tag: UInt64(index), time: .milliseconds(40 * index))
      session.takeResults(into: &run)
    }
  }

  @Test(arguments: SessionConfiguration.threadings.indices)
  func outputsHeldPicturesAfterAWhile(_ threading: Int) throws {
    let (format, units) = try unmarked()
    var configuration = SessionConfiguration.threadings[threading]
    configuration.startPatience = .seconds(1)
    let session = try makeSession(format, configuration)
    var run = Run()
    try decode(Array(units[..<25]), in: session, into: &run)
    #expect(run.results.isEmpty && session.isAwaitingRandomAccessPoint && session.nextNotice() == nil)
    // The one at 1.0 s.
    try session.decode(units[25], tag: 25, time: .seconds(1))
    #expect(!session.isAwaitingRandomAccessPoint)
    #expect(session.nextNotice() == .beganWithoutRandomAccessPoint && session.nextNotice() == nil)
    for index in 26..<units.count { try session.decode(units[index], tag: UInt64(index)) }
    session.drain()
    session.takeResults(into: &run)
    #expect(run.accounts(for: units.count) && run.frames.count == units.count)
    #expect(run.frames.allSatisfy { $0.isCorrupt })
    #expect(session.nextNotice() == nil && !session.isLost)
    #expect(session.statistics.corrupted == UInt64(units.count))
  }

  @Test(arguments: SessionConfiguration.threadings.indices)
  func outputsHeldPicturesAtTheEnd(_ threading: Int) throws {
    let (format, units) = try unmarked()
    for count in [1, 2, 30] {
      let session = try makeSession(format, SessionConfiguration.threadings[threading])
      var run = Run()
      try decode(Array(units[3..<3 + count]), in: session, into: &run)
      #expect(run.results.isEmpty)
      session.drain()
      session.takeResults(into: &run)
      #expect(run.frames.map(\.tag) == (0..<UInt64(count)).map { $0 } && run.frames.allSatisfy { $0.isCorrupt })
      #expect(session.nextNotice() == .beganWithoutRandomAccessPoint && session.nextNotice() == nil)
    }
  }

  @Test func boundsHeldAccessUnits() throws {
    let (format, units) = try unmarked()
    let byCount = try makeSession(format, .with { $0.replayCountLimit = 10 })
    var run = Run()
    try decode(Array(units[..<9]), in: byCount, into: &run)
    #expect(byCount.isAwaitingRandomAccessPoint)
    try byCount.decode(units[9], tag: 9)
    #expect(!byCount.isAwaitingRandomAccessPoint)
    let limit = units[..<4].reduce(0) { $0 + $1.count }
    let byBytes = try makeSession(format, .with { $0.replayByteLimit = limit })
    try decode(Array(units[..<3]), in: byBytes, into: &run)
    #expect(byBytes.isAwaitingRandomAccessPoint)
    try byBytes.decode(units[3], tag: 3)
    #expect(!byBytes.isAwaitingRandomAccessPoint)
  }

  /// Held access units are dropped at a random access point, and no picture after it is lost or flagged.
  @Test func aRandomAccessPointDropsHeldAccessUnits() throws {
    let (format, units) = try unmarked()
    let session = try makeSession(format)
    var run = Run()
    try decode(Array(units[..<20]), in: session, into: &run)
    #expect(session.isAwaitingRandomAccessPoint)
    let whole = try decodeAll(format)
    for (index, unit) in format.enumerated() { try session.decode(unit, tag: UInt64(20 + index)) }
    #expect(!session.isAwaitingRandomAccessPoint && session.nextNotice() == nil)
    session.drain()
    session.takeResults(into: &run)
    #expect(run.accounts(for: 20 + format.count))
    #expect(run.drops == Array(repeating: .beforeRandomAccessPoint, count: 20))
    #expect(run.frames.map(\.fingerprint) == whole.frames.map(\.fingerprint))
    #expect(run.frames.allSatisfy { !$0.isCorrupt })
    // A flush drops held access units too.
    session.flush()
    try session.decode(units[5], tag: 1000)
    #expect(session.isAwaitingRandomAccessPoint)
    session.flush()
    guard case .dropped(1000, .flushed)? = session.nextResult() else {
      Issue.record("not flushed")
      return
    }
    #expect(!session.isAwaitingRandomAccessPoint)
  }

  /// After a start without random access point, pictures are flagged until the first IDR picture.
  @Test func anIDRPictureEndsDamage() throws {
    let (format, units) = try unmarked()
    let session = try makeSession(format, .with { $0.startPatience = .zero })
    var run = Run()
    try decode(Array(units[..<10]), in: session, into: &run)
    for (index, unit) in format.enumerated() { try session.decode(unit, tag: UInt64(10 + index)) }
    session.drain()
    session.takeResults(into: &run)
    #expect(run.frames.map(\.isCorrupt) == (0..<10 + format.count).map { $0 < 10 })
  }

  /// Decoding begins at an intra picture where no recovery point has been seen; unflagged pictures are right, and
  /// pictures that refer to nothing before it are not flagged.
  @Test(arguments: SessionConfiguration.threadings.indices)
  func beginsAtIntraPicturesWithoutRecoveryPoints(_ threading: Int) throws {
    let (format, units) = try intra()
    let configuration = SessionConfiguration.threadings[threading]
    let whole = try decodeAll(units, configuration).checksums
    let starts = try units.indices.dropFirst().filter { try isIntra(units[$0], format) }
    try #require(starts.count >= 5)
    for start in [starts[0], starts[2]] {
      let session = try makeSession(format, configuration)
      var run = Run()
      // Two that cannot be the first precede it.
      for index in (start - 2)..<units.count { try session.decode(units[index], tag: UInt64(index)) }
      session.drain()
      session.takeResults(into: &run)
      #expect(run.results.count == units.count - start + 2 && run.failures.isEmpty)
      #expect(run.drops.prefix(2) == [.beforeRandomAccessPoint, .beforeRandomAccessPoint])
      #expect(run.frames.first?.tag == UInt64(start) && run.frames.first?.isRandomAccessPoint == true)
      let unflagged = zip(run.frames, run.checksums).filter { !$0.0.isCorrupt }.map(\.1)
      #expect(Set(unflagged).isSubset(of: whole))
      // x264's GOPs are closed: all pictures but the first one's leading pictures are right.
      #expect(unflagged.count > run.frames.count / 2, "\(unflagged.count) of \(run.frames.count)")
    }
  }

  /// In a stream with recovery points, intra pictures without one are no random access points.
  @Test func doesNotBeginAtIntraPicturesBesideRecoveryPoints() throws {
    let (format, units) = try intra()
    let marked = try mediaAccessUnits("open-gop.h264")
    let start = try #require(try units.indices.dropFirst().first { try isIntra(units[$0], format) })
    let session = try makeSession(format)
    for index in 0..<start + 2 { try session.decode(marked[index], tag: UInt64(index)) }
    session.flush()
    while session.nextResult() != nil {}
    try session.decode(units[start], tag: 0)
    #expect(session.isAwaitingRandomAccessPoint)
  }
}
