// SPDX-License-Identifier: MPL-2.0
import Foundation
import H26x
import StreamReport
import TestSupport
import Testing

@Suite("Reports on MP4 without the payload of slices") struct PayloadTests {
  /// A report's lines, without those on missing emulation prevention bytes, which only whole slices show, and the summary, which
  /// counts them.
  private func lines(_ bytes: [UInt8], readsPayload: Bool, fields: Bool = false) -> [String] {
    var options = ReportOptions()
    (options.readsPayload, options.includesFields) = (readsPayload, fields)
    guard let items = try? report(bytes, options) else { return ["refused"] }
    var lines = JSONLines()
    for item in items {
      switch item {
      case .finding(let finding) where finding.rule == .emulationPrevention: break
      case .summary: break
      default: lines.append(item)
      }
    }
    return String(decoding: lines.bytes, as: UTF8.self).split(separator: "\n").map { String($0) }
  }

  /// Pictures with slices that are much longer than their headers.
  private static let long = MP4TestFile(
    TestStream().adding(
      .init(frameNumber: 1, order: 2, payload: 30_000), .init(frameNumber: 2, order: 4, payload: 9000),
      .init(frameNumber: 3, order: 6, payload: 200), .init(frameNumber: 4, order: 8, payload: 100_000))
  ).bytes

  private static func file(_ name: String) throws -> [UInt8] {
    name.isEmpty ? long : try BytesSource(file: media.appending(path: name)).bytes
  }

  @Test(
    "Reports are the same with and without the payload", arguments: ["", "clip.mp4", "clip-h265.mp4"], [false, true])
  func reportsAreTheSameWithoutThePayload(_ name: String, fields: Bool) throws {
    let bytes = try Self.file(name)
    let whole = lines(bytes, readsPayload: true, fields: fields)
    #expect(whole.count > 5)
    #expect(lines(bytes, readsPayload: false, fields: fields) == whole)
  }

  @Test(
    "Reports on damaged files are the same with and without the payload", arguments: ["", "clip.mp4", "clip-h265.mp4"])
  func reportsOfDamagedFilesAreTheSameWithoutThePayload(_ name: String) throws {
    let bytes = try Self.file(name)
    var random = SeededGenerator(state: 7)
    for round in 0..<100 {
      var damaged = bytes
      for _ in 0...Int.random(in: 0...8, using: &random) {
        damaged[Int.random(in: damaged.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      // Lengths and headers too.
      damaged[Int.random(in: 8..<20, using: &random)] ^= UInt8.random(in: 0...255, using: &random)
      if round % 4 == 0 { damaged.removeLast(Int.random(in: 0..<damaged.count, using: &random)) }
      #expect(lines(damaged, readsPayload: false) == lines(damaged, readsPayload: true), "round \(round)")
    }
  }

  @Test("Missing emulation prevention bytes are found only with the payload; a zero byte at the end, without it too")
  func findsMissingEmulationPreventionOnlyWithThePayload() throws {
    let bytes = Self.long
    let longest = try #require(
      report(bytes).compactMap { item -> NALUnitRecord? in
        if case .accessUnit(let unit) = item { unit.nalUnits.max { $0.size < $1.size } } else { nil }
      }.max { $0.size < $1.size })
    // More than any slice header has.
    #expect(longest.size > 5000)
    var damaged = bytes
    let end = Int(longest.offset) + longest.size
    for place in end - 9..<end { damaged[place] = 0 }
    func rules(readsPayload: Bool) throws -> Set<Rule> {
      var options = ReportOptions()
      options.readsPayload = readsPayload
      return Set(
        try report(damaged, options).compactMap { if case .finding(let found) = $0 { found.rule } else { nil } })
    }
    #expect(try rules(readsPayload: true).isSuperset(of: [.emulationPrevention, .containerTrailingZero]))
    #expect(try rules(readsPayload: false).contains(.containerTrailingZero))
    #expect(try !rules(readsPayload: false).contains(.emulationPrevention))
  }

  @Test("Little of a file with long slices is read")
  func readsLittleOfFilesWithLongSlices() throws {
    final class Counter { var bytes = 0 }
    struct Counted: ByteSource {
      let source: BytesSource
      let counter: Counter
      var size: UInt64 { source.size }
      func read(at offset: UInt64, count: Int) -> [UInt8] {
        var source = source
        let bytes = source.read(at: offset, count: count)
        counter.bytes += bytes.count
        return bytes
      }
    }
    let long = TestStream().adding(.init(frameNumber: 1, order: 2, payload: 3 << 20))
    var options = ReportOptions()
    options.readsPayload = false
    let counter = Counter()
    var reporter = try StreamReporter(
      Counted(source: BytesSource(MP4TestFile(long).bytes), counter: counter), options: options)
    while reporter.next() != nil {}
    // The format is recognised by the first 1 MiB.
    #expect(counter.bytes < 1_200_000)
  }
}
