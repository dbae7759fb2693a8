// SPDX-License-Identifier: MPL-2.0
import CodecLink
import H26x
import Testing

@testable import VideoDecoding

/// Sessions whose codec is in a process of its own, beside what `TEST_ISOLATION=process` has other suites try.
@Suite struct RemoteSessionTests {
  static let isolated = SessionConfiguration.Isolation.process(ProcessLimits())

  @Test(
    arguments: ["clip.h264", "clip.h265", "interlaced.h264", "interlaced.h265", "ten-bit.h265", "open-gop.h265"],
    [SessionConfiguration.OutputLayout.native, .semiPlanar])
  func outputsThePicturesOfASessionInTheProcess(
    _ name: String, _ layout: SessionConfiguration.OutputLayout
  ) throws {
    let stream = try CodedStream(name)
    for threading in SessionConfiguration.threadings {
      var configuration = threading
      configuration.outputLayout = layout
      configuration.isolation = .none
      let expected = try stream.decode(configuration)
      configuration.isolation = Self.isolated
      let session = try DecompressionSession(format: stream.format, configuration: configuration)
      #expect(session.statistics.codecProcess != nil)
      var run = Run()
      try session.run(stream.units, into: &run)
      #expect(run.checksums == expected.checksums)
      #expect(run.drops == expected.drops)
      #expect(session.statistics.processesLost == 0)
    }
  }

  @Test(arguments: [SessionConfiguration.OutputLayout.native, .semiPlanar])
  func copiesPicturesIntoTheAllocatorsMemory(_ layout: SessionConfiguration.OutputLayout) throws {
    let stream = try CodedStream("clip.h264")
    var configuration = SessionConfiguration()
    configuration.outputLayout = layout
    let expected = try stream.decode(configuration)
    configuration.isolation = Self.isolated
    let session = try DecompressionSession(
      format: stream.format, configuration: configuration, allocator: TestAllocator())
    var run = Run()
    try session.run(stream.units, into: &run)
    #expect(run.checksums == expected.checksums)
    #expect(run.frames.allSatisfy { $0.token != nil })
    #expect(session.statistics.allocatorMisses == 0)
  }

  @Test func picturesOutliveTheirSession() throws {
    let stream = try CodedStream("clip.h264")
    let expected = try stream.decode()
    var run = Run()
    do {
      let session = try DecompressionSession(
        format: stream.format, configuration: .with { $0.isolation = Self.isolated })
      try session.run(stream.units, into: &run)
    }
    #expect(run.checksums == expected.checksums)
  }

  @Test(arguments: [SessionConfiguration.OutputLayout.native, .semiPlanar])
  func verifiesPictureHashes(_ layout: SessionConfiguration.OutputLayout) throws {
    let stream = try H265Stream(media: "open-gop.h265")
    var configuration = SessionConfiguration()
    configuration.outputLayout = layout
    configuration.isolation = Self.isolated
    configuration.verifiesPictureHash = true
    func mismatches(_ units: [[UInt8]]) throws -> UInt64 {
      let session = try DecompressionSession(format: stream.format, configuration: configuration)
      var run = Run()
      try session.run(units, into: &run)
      return session.statistics.hashMismatches
    }
    #expect(try mismatches(stream.units) == 0)
    var units = stream.units
    let place = try #require(units.indices.first { $0 > 3 && stream.types[$0] == .trailingR })
    units[place][units[place].count / 2] ^= 0x10
    #expect(try mismatches(units) > 0)
  }

  @Test(arguments: [SessionConfiguration.ThreadType.slice, .automatic])
  func flushesAndDrainsLikeASessionInTheProcess(_ threadType: SessionConfiguration.ThreadType) throws {
    let stream = try CodedStream("clip.h264")
    func run(_ isolation: SessionConfiguration.Isolation) throws -> Run {
      var configuration = SessionConfiguration()
      configuration.isolation = isolation
      configuration.threadType = threadType
      let session = try DecompressionSession(format: stream.format, configuration: configuration)
      var run = Run()
      for (index, unit) in stream.units.enumerated() {
        if index % 13 == 12 { session.flush() }
        if index % 17 == 16 { session.drain() }
        session.skipFrames = index % 29 > 20 ? .nonReference : .none
        try session.decode(unit, tag: UInt64(index))
        session.takeResults(into: &run)
      }
      session.drain()
      session.takeResults(into: &run)
      return run
    }
    let (expected, isolated) = (try run(.none), try run(Self.isolated))
    #expect(isolated.accounts(for: stream.units.count))
    guard threadType == .slice else {
      // More is inside when a flush discards it.
      #expect(Set(isolated.checksums).isSubset(of: expected.checksums))
      return
    }
    #expect(isolated.checksums.sorted() == expected.checksums.sorted())
    #expect(isolated.drops.count == expected.drops.count)
  }

  @Test func runsManySessionsAtOnce() throws {
    let stream = try CodedStream("clip.h264")
    let configuration = SessionConfiguration.with {
      $0.isolation = Self.isolated
      $0.threadCount = 1
    }
    let expected = try stream.decode(configuration)
    let sessions = try (0..<64).map { _ in
      try DecompressionSession(format: stream.format, configuration: configuration)
    }
    #expect(Set(sessions.compactMap(\.statistics.codecProcess)).count == sessions.count)
    var runs = sessions.map { _ in Run() }
    for (index, unit) in stream.units.enumerated() {
      for number in sessions.indices {
        try sessions[number].decode(unit, tag: UInt64(index))
        sessions[number].takeResults(into: &runs[number])
      }
    }
    for number in sessions.indices {
      sessions[number].drain()
      sessions[number].takeResults(into: &runs[number])
    }
    #expect(runs.allSatisfy { $0.checksums == expected.checksums })
  }
}
