// SPDX-License-Identifier: MPL-2.0
import Foundation
import H26x
import StreamReport
import Testing

@Suite("Slice data that are read to their last bit") struct SliceDataTests {
  static let clips = [
    "clip.h264", "interlaced.h264", "intra-refresh.h264", "open-gop.h264", "small-slices.h264", "wide.h264",
    "clip.mp4", "clip.h265", "interlaced.h265", "open-gop.h265", "ten-bit.h265", "wide.h265", "clip-h265.mp4",
  ]

  /// A report with slice data.
  struct Deep {
    var findings: [Finding] = []
    var units: [NALUnitRecord] = []
    var totals: SliceDataTotals?

    init(_ bytes: [UInt8], counting accessUnits: ClosedRange<UInt64>? = nil) throws {
      var options = ReportOptions()
      options.readsSliceData = true
      options.countedAccessUnits = accessUnits
      for item in try report(bytes, options) {
        switch item {
        case .finding(let finding): findings.append(finding)
        case .accessUnit(let unit): units += unit.nalUnits
        case .summary(let summary): totals = summary.sliceData
        default: break
        }
      }
    }

    /// The findings in slice data.
    var damage: [Finding] { findings.filter { $0.slicePlace != nil } }
    /// The slices.
    var slices: [NALUnitRecord] { units.filter { $0.slice != nil } }
  }

  static func bytes(_ name: String) throws -> [UInt8] { try BytesSource(file: media.appending(path: name)).bytes }

  @Test("Undamaged clips have no finding, and every slice is read", arguments: clips)
  func undamagedClipsHaveNoFinding(name: String) throws {
    let deep = try Deep(Self.bytes(name))
    #expect(deep.damage.isEmpty)
    let totals = try #require(deep.totals)
    #expect(totals.slices == deep.slices.count && totals.damaged == 0 && totals.skipped == 0)
    #expect(totals.blocks > 0 && totals.bits > 0)
  }

  @Test("Statistics of all access units, or of some, change no finding and no total", arguments: clips)
  func statisticsChangeNoFinding(name: String) throws {
    var bytes = try Self.bytes(name)
    for part in 1..<4 { bytes[bytes.count / 4 * part] ^= 4 }
    let alone = try Deep(bytes)
    #expect(!alone.findings.isEmpty)
    for range in [0...UInt64.max, 3...9] {
      let counted = try Deep(bytes, counting: range)
      #expect(counted.findings.map { "\($0)" } == alone.findings.map { "\($0)" })
      #expect(counted.totals.map { "\($0)" } == alone.totals.map { "\($0)" })
    }
  }

  @Test("Without the option, slice data are not read")
  func readsNoSliceDataByDefault() throws {
    let items = try report(TestStream().bytes)
    for case .summary(let summary) in items { #expect(summary.sliceData == nil) }
    #expect(try findings(TestStream().bytes).isEmpty)
  }

  @Test("The first impossible macroblock is named with its bit and clause, and the next slice is read")
  func namesTheFirstImpossibleBlock() throws {
    let bad = TestStream.readable { writer in
      TestStream.intra(1)(&writer)
      writer.ue(26)
    }
    let bytes = bad.adding(
      .init(isIDR: true, type: 2, first: 2, data: TestStream.intra(2)),
      .init(frameNumber: 1, order: 2, data: TestStream.skipped(4))
    ).bytes
    let deep = try Deep(bytes)
    let finding = try #require(deep.findings.first)
    #expect(deep.findings.count == 1)
    #expect(finding.rule == .sliceData && finding.accessUnit == 0 && finding.offset == deep.slices[0].offset)
    let place = try #require(finding.slicePlace)
    #expect(place.slice == 0 && place.block == 1)
    #expect(try #require(place.bit) <= deep.slices[0].size * 8)
    #expect(finding.clause.description.hasPrefix("7."))
    let totals = try #require(deep.totals)
    #expect(totals.slices == 2 && totals.damaged == 1 && totals.blocks == 6)
  }

  @Test("Blocks that no slice covers are found in front of a slice and at the end of the picture")
  func findsMissingBlocks() throws {
    let halves = TestStream.readable(TestStream.intra(2)).adding(
      .init(isIDR: true, type: 2, first: 2, data: TestStream.intra(2)))
    #expect(try Deep(halves.bytes).findings.isEmpty)
    for (first, missing) in [(0, 2), (2, 0)] {
      let stream = halves.adding(
        .init(frameNumber: 1, order: 2, first: UInt32(first), data: TestStream.skipped(2)),
        .init(frameNumber: 2, order: 4, data: TestStream.skipped(4)))
      let damage = try Deep(stream.bytes).damage
      #expect(damage.map(\.rule) == [.missingBlocks])
      #expect(damage.first?.slicePlace?.block == missing && damage.first?.accessUnit == 1)
    }
    let hole = halves.adding(
      .init(frameNumber: 1, order: 2, data: TestStream.skipped(1)),
      .init(frameNumber: 1, order: 2, first: 3, data: TestStream.skipped(1)))
    let damage = try Deep(hole.bytes).damage
    #expect(damage.map { $0.slicePlace?.block } == [1] && damage.map { $0.slicePlace?.slice } == [1])
  }

  @Test("A block in two slices, a skip run past the end, and a slice beyond the picture are found")
  func findsImpossibleSlices() throws {
    let slices: [(TestStream.Slice, Rule)] = [
      (.init(frameNumber: 1, order: 2, data: TestStream.skipped(5)), .sliceData),
      (.init(frameNumber: 1, order: 2, data: TestStream.skipped(1_000_000)), .sliceData),
      // The header alone shows it.
      (.init(frameNumber: 1, order: 2, first: 4, data: TestStream.skipped(1)), .unreadableSlice),
    ]
    for (slice, rule) in slices {
      #expect(try Deep(TestStream.readable().adding(slice).bytes).findings.map(\.rule) == [rule])
    }
    let twice = TestStream.readable().adding(
      .init(frameNumber: 1, order: 2, data: TestStream.skipped(3)),
      .init(frameNumber: 1, order: 2, first: 2, data: TestStream.skipped(2)))
    let damage = try Deep(twice.bytes).damage
    #expect(damage.map(\.rule) == [.sliceData] && damage.first?.slicePlace?.block == 2)
  }

  @Test("Bins of all slices of a picture are compared with their bytes, which cabac_zero_words add to")
  func comparesBinsWithBytes() throws {
    let dense = TestStream.dense(2)
    let bytes = dense.nalUnits[2...].reduce(0) { $0 + $1.count }
    for range in [nil, 0...UInt64.max] as [ClosedRange<UInt64>?] {
      let deep = try Deep(dense.bytes, counting: range)
      let finding = try #require(deep.findings.first)
      #expect(deep.findings.count == 1 && finding.rule == .binCount && finding.offset == deep.slices[1].offset)
      let place = try #require(finding.slicePlace)
      #expect(place.slice == 1 && place.block == nil && place.bit == nil && finding.clause.description == "7.4.2.10")
      #expect(finding.found.bytes == Array("2346 bins in \(bytes) bytes of slices".utf8))
      // 3072 bits for the samples of a macroblock.
      #expect(finding.expected.bytes == Array("\(bytes * 32 / 3 + 2 * 96) bins at most".utf8))
    }
    // 32 bins a word.
    let wordCount = (2346 - (bytes * 32 / 3 + 2 * 96) + 31) / 32
    for missing in [0, 1] {
      var padded = dense
      for _ in 0..<wordCount - missing { padded.nalUnits[3] += [0, 0, 3] }
      let deep = try Deep(padded.bytes)
      #expect(deep.findings.map(\.rule) == (missing == 0 ? [] : [.binCount]) && deep.totals?.withZeroWords == 1)
    }
  }

  @Test("Bins of a picture are not judged unless all its slices can be read")
  func doesNotJudgeBinsOfPartsOfAPicture() throws {
    var (lost, cut) = (TestStream.dense(2), TestStream.dense(2))
    lost.nalUnits.remove(at: 3)
    cut.nalUnits[3].removeLast(20)
    #expect(try Deep(lost.bytes).findings.map(\.rule) == [.missingBlocks])
    #expect(try Deep(cut.bytes).damage.map(\.rule) == [.sliceData])
  }

  @Test("A cut slice is one finding at its place", arguments: ["clip.h264", "clip.h265", "small-slices.h264"])
  func aCutSliceIsOneFinding(name: String) throws {
    let whole = try Self.bytes(name)
    let slices = try Deep(whole).slices
    for number in [0, 7, 20] {
      let slice = slices[number]
      let end = Int(slice.offset) + slice.size
      var bytes = whole
      bytes.removeSubrange(Int(slice.offset) + slice.size / 2 + 8..<end)
      let damage = try Deep(bytes).damage
      #expect(damage.count == 1 && damage.first?.offset == slice.offset, "\(name), slice \(number): \(damage)")
    }
  }

  @Test("A lost slice is found by the blocks that are missing")
  func aLostSliceIsFound() throws {
    let whole = try Self.bytes("small-slices.h264")
    let slices = try Deep(whole).slices
    let number = try #require(slices.indices.dropFirst(5).first { (slices[$0].slice?.first ?? 0) > 0 })
    let slice = slices[number]
    let start = Int(slice.offset) - slice.prefix
    var bytes = whole
    bytes.removeSubrange(start..<Int(slice.offset) + slice.size)
    let damage = try Deep(bytes).damage
    #expect(damage.map(\.rule) == [.missingBlocks])
    #expect(damage.first?.slicePlace?.block == slice.slice.map { Int($0.first) })
  }

  @Test(
    "Most changed bits of arithmetic coding are found, in the slice and not in front of the bit",
    arguments: ["clip.h264", "clip.h265"])
  func changedBitsAreFound(name: String) throws {
    let whole = try Self.bytes(name)
    let slices = try Deep(whole).slices.filter { $0.size > 100 }
    var (count, found) = (0, 0)
    for (number, slice) in slices.prefix(24).enumerated() {
      let byte = 40 + number * 37 % (slice.size - 80)
      var bytes = whole
      bytes[Int(slice.offset) + byte] ^= 1 << UInt8(number % 8)
      count += 1
      guard let finding = try Deep(bytes).damage.first else { continue }
      found += 1
      #expect(finding.offset == slice.offset)
      // Emulation prevention bytes do not count.
      if let bit = finding.slicePlace?.bit { #expect(bit > (byte - 16) * 8 && bit <= slice.size * 8) }
    }
    #expect(found * 10 >= count * 9, "\(found) of \(count)")
  }
}
