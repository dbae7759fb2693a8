// SPDX-License-Identifier: MPL-2.0
import AVCodec
import TestSupport
import Testing

@testable import VideoDecoding

@Suite(.enabled(if: Vectors.isAvailable)) struct SessionTests {
  private func units(_ name: String) -> [[UInt8]] { accessUnits(Vector.named(name)?.bytes ?? []) }

  @Test(arguments: ["HCAFR1_HHI.264", "freh11.264", "FRExt4_Panasonic.avc"], SessionConfiguration.threadings.indices)
  func eachAccessUnitHasOneResult(_ name: String, _ threading: Int) throws {
    let units = units(name)
    let vector = try #require(Vector.named(name))
    let session = try makeSession(units, SessionConfiguration.threadings[threading])
    var run = Run()
    try session.run(units, into: &run)
    #expect(run.accounts(for: units.count))
    #expect(run.md5 == vector.md5)
    #expect(run.drops.allSatisfy { $0 == .secondField } && run.drops.count == units.count - vector.frames)
    let statistics = session.statistics
    #expect(statistics.submitted == UInt64(units.count) && statistics.output == UInt64(vector.frames))
    #expect(statistics.dropped == UInt64(run.drops.count) && statistics.failed == 0 && statistics.restarts == 0)
    // A second field is no lost picture.
    #expect(statistics.lost == 0)
  }

  @Test func flushDropsEverything() throws {
    let units = units("MIDR_MW_D.264")
    let session = try makeSession(units)
    for index in 0..<20 { try session.decode(units[index], tag: UInt64(index)) }
    session.flush()
    var run = Run()
    session.takeResults(into: &run)
    #expect(run.frames.isEmpty && run.accounts(for: 20))
    #expect(run.drops.allSatisfy { $0 == .flushed })
    // As after a seek to the start: the same pictures.
    var again = Run()
    try session.run(units, into: &again)
    #expect(again.md5 == Vector.named("MIDR_MW_D.264")?.md5)
  }

  /// Draining inside a GOP loses no references.
  @Test(arguments: ["HCAFR1_HHI.264", "freh11.264", "MR1_BT_A.h264"])
  func drainingInsideAGroupKeepsReferences(_ name: String) throws {
    let units = units(name)
    let expected = try decodeAll(units)
    for cut in [1, 3, 4, 7] {
      let session = try makeSession(units)
      var run = Run()
      for index in 0..<cut { try session.decode(units[index], tag: UInt64(index)) }
      session.drain()
      session.takeResults(into: &run)
      #expect(run.accounts(for: cut))
      for index in cut..<units.count { try session.decode(units[index], tag: UInt64(index)) }
      session.drain()
      session.takeResults(into: &run)
      #expect(run.accounts(for: units.count))
      if name != "freh11.264" || cut % 2 == 0 { #expect(run.checksums.sorted() == expected.checksums.sorted()) }
    }
  }

  @Test func doNotOutputDecodesWithoutOutput() throws {
    let units = units("HCAFR1_HHI.264")
    let expected = try decodeAll(units).checksums
    let session = try makeSession(units)
    var run = Run()
    for (index, unit) in units.enumerated() {
      try session.decode(unit.span, tag: UInt64(index), doNotOutput: index % 2 == 0)
    }
    session.drain()
    session.takeResults(into: &run)
    #expect(run.accounts(for: units.count))
    #expect(run.checksums == expected.filter { Int($0.prefix { $0 != " " })! % 2 == 1 })
    #expect(run.drops.count == 5 && run.drops.allSatisfy { $0 == .doNotOutput })
  }

  @Test func waitsForARandomAccessPoint() throws {
    let all = units("MIDR_MW_D.264")
    let units = Array(all[20...])
    let run = try decodeAll([all[0].prefix(0) + parameterSets(all)] + units)
    let frames = run.frames.map(\.tag)
    #expect(run.accounts(for: units.count + 1))
    #expect(run.failures.isEmpty)
    #expect(run.drops.filter { $0 == .beforeRandomAccessPoint }.count > 0)
    #expect(frames == frames.sorted() && !frames.isEmpty)
    let whole = try decodeAll(all).frames.suffix(frames.count)
    // Decoding begins with an intra picture; pictures after it that may be wrong are flagged.
    for (picture, expected) in zip(run.frames, whole) where !picture.isCorrupt {
      #expect(picture.fingerprint == expected.fingerprint)
    }
    #expect(run.frames.filter { !$0.isCorrupt }.count > frames.count / 2)
  }

  @Test func skipsNonReferencePictures() throws {
    let units = units("NRF_MW_E.264")
    let run = try decodeAll(units, .with { $0.skipFrames = .nonReference })
    #expect(run.accounts(for: units.count))
    #expect(run.drops.contains(.skipped) && run.failures.isEmpty)
    let all = try decodeAll(units).checksums
    #expect(run.checksums.count < all.count && Set(run.checksums).isSubset(of: all))
  }

  /// Parameter sets alone begin no stream: draining after them gives no notice, and the session still waits for
  /// pictures.
  @Test func parameterSetsAloneBeginNoStream() throws {
    let units = units("NRF_MW_E.264")
    let session = try makeSession(units)
    var run = Run()
    try session.decode(parameterSets(units).span, tag: 0)
    session.drain()
    session.takeResults(into: &run)
    #expect(run.drops == [.noPicture] && session.nextNotice() == nil)
    for (index, unit) in units.enumerated() { try session.decode(unit.span, tag: UInt64(index + 1)) }
    session.drain()
    session.takeResults(into: &run)
    #expect(run.accounts(for: units.count + 1))
    #expect(run.frames.count == units.count && run.frames.allSatisfy { !$0.isCorrupt })
  }

  /// Without reordering a picture is output before the next access unit is decoded.
  @Test(arguments: ["BANM_MW_D.264", "SVA_BA2_D.264", "CI1_FT_B.264", "BA1_Sony_D.jsv"])
  func lowDelayOutputsEachPictureAtOnce(_ name: String) throws {
    let units = units(name)
    let session = try makeSession(units, .with { $0.lowDelay = true })
    for (index, unit) in units.enumerated() {
      try session.decode(unit.span, tag: UInt64(index))
      guard case .frame(let picture)? = session.nextResult() else {
        Issue.record("no picture for access unit \(index)")
        return
      }
      #expect(picture.tag == UInt64(index))
      #expect(picture.latency.frames == 0)
    }
  }

  @Test func latencyEqualsTheMeasuredOne() throws {
    for threading in SessionConfiguration.threadings {
      let units = units("HPCV_BRCM_A.264")
      let session = try makeSession(units, threading)
      var (submitted, shown, behind) = (0, 0, 0)
      var last: DecodedPicture?
      for (index, unit) in units.prefix(60).enumerated() {
        try session.decode(unit.span, tag: UInt64(index))
        submitted += 1
        while let result = session.nextResult() {
          guard case .frame(let picture) = result else { continue }
          shown += 1
          behind = max(behind, submitted - shown)
          last = picture
        }
      }
      #expect(last?.latency.frames == behind)
      #expect(session.latency.frames == behind)
    }
  }

  /// One thread per processor, so that the delay is one frame less than processors.
  @Test func usesOneThreadPerProcessor() throws {
    let status = String(decoding: try #require(readFile("/proc/self/status")), as: UTF8.self)
    let allowed = try #require(status.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed:") })
    let count = allowed.dropFirst("Cpus_allowed:".count).compactMap(\.hexDigitValue).reduce(0) {
      $0 + $1.nonzeroBitCount
    }
    let session = try makeSession(units("HCAFR1_HHI.264"), .with { $0.threadType = .frame })
    // A process of its own has two batches of four of these small pictures.
    #expect(session.latency.threadDelay == min(count, 16) - 1 + (TestIsolation.isTested ? 7 : 0))
  }

  @Test func anInvalidatedSessionRefusesAccessUnits() throws {
    let units = units("HCAFR1_HHI.264")
    let session = try makeSession(units)
    for index in 0..<3 { try session.decode(units[index], tag: UInt64(index)) }
    session.invalidate()
    var run = Run()
    session.takeResults(into: &run)
    #expect(run.accounts(for: 3))
    let error = #expect(throws: DecodeError.self) { try session.decode(units[3], tag: 3) }
    #expect(error?.status == -12903)
    session.drain()
    session.flush()
    #expect(session.nextResult() == nil)
  }

  private func parameterSets(_ units: [[UInt8]]) -> [UInt8] {
    let first = units[0]
    let slice = first.indices.dropLast(3).first {
      first[$0] == 0 && first[$0 + 1] == 0 && first[$0 + 2] == 1 && (1...5).contains(first[$0 + 3] & 31)
    }
    return Array(first[..<(slice ?? 0)])
  }
}
