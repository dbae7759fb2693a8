// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

@Suite struct AnnexBTests {
  static let streams: [([UInt8], [AnnexB.NALUnit])] = [
    ([], []),
    ([0, 0, 1], []),
    ([1, 2, 3], []),
    ([0, 0, 1, 9], [.init(range: 3..<4, startCodeLength: 3)]),
    ([0, 0, 0, 1, 9], [.init(range: 4..<5, startCodeLength: 4)]),
    // Leading zeros and garbage, trailing zeros, mixed start codes.
    ([0, 0, 0, 0, 0, 1, 9, 0, 0, 0], [.init(range: 6..<7, startCodeLength: 4)]),
    (
      [7, 7, 0, 0, 1, 9, 8, 0, 0, 0, 0, 1, 6, 0, 0, 1, 5],
      [
        .init(range: 5..<7, startCodeLength: 3), .init(range: 12..<13, startCodeLength: 4),
        .init(range: 16..<17, startCodeLength: 3),
      ]
    ),
    // Empty NAL units are skipped: start codes that follow one another.
    ([0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 5], [.init(range: 10..<11, startCodeLength: 4)]),
    // 00 00 03 01 is no start code.
    ([0, 0, 1, 5, 0, 0, 3, 1, 2], [.init(range: 3..<9, startCodeLength: 3)]),
  ]

  @Test(arguments: streams.indices) func findsNALUnits(_ index: Int) {
    let (stream, expected) = Self.streams[index]
    var units = AnnexB.NALUnits(stream.span)
    var found: [AnnexB.NALUnit] = []
    while let unit = units.next() { found.append(unit) }
    #expect(found == expected)
  }

  /// The NAL units do not depend on the pieces of data, and none is returned before it is complete.
  @Test(arguments: streams.indices) func findsTheSameNALUnitsInPieces(_ index: Int) {
    let (stream, expected) = Self.streams[index]
    for step in 1...4 {
      var scanner = AnnexB.Scanner()
      var found: [AnnexB.NALUnit] = []
      var end = 0
      repeat {
        end = min(end + step, stream.count)
        let part = stream.span.extracting(0..<end)
        while let unit = scanner.next(in: part, isComplete: false) { found.append(unit) }
        #expect(scanner.searchedOffset <= max(0, end))
      } while end < stream.count
      while let unit = scanner.next(in: stream.span, isComplete: true) { found.append(unit) }
      #expect(found == expected)
    }
  }

  /// The scanner's offsets are adjusted when the caller discards bytes.
  @Test func discardingMovesTheOffsets() {
    var generator = SeededGenerator(state: 3)
    var stream: [UInt8] = []
    var expected: [[UInt8]] = []
    for _ in 0..<200 {
      stream += Bool.random(using: &generator) ? [0, 0, 1] : [0, 0, 0, 1]
      let unit = (0..<Int.random(in: 1...30, using: &generator)).map { _ in UInt8.random(in: 2...255, using: &generator)
      }
      stream += unit
      expected.append(unit)
    }
    var scanner = AnnexB.Scanner()
    var window: [UInt8] = []
    var found: [[UInt8]] = []
    for start in stride(from: 0, to: stream.count, by: 7) {
      window += stream[start..<min(start + 7, stream.count)]
      let isLast = start + 7 >= stream.count
      while let unit = scanner.next(in: window.span, isComplete: isLast) { found.append(Array(window[unit.range])) }
      let used = scanner.pendingStartCode ?? max(0, scanner.searchedOffset - 3)
      window.removeFirst(min(used, window.count))
      scanner.discard(used)
    }
    #expect(found == expected)
  }

  @Test func findsStartCodesAtEveryOffset() {
    for offset in 0..<40 {
      var bytes = [UInt8](repeating: 0xFF, count: 48)
      bytes.replaceSubrange(offset..<offset + 3, with: [0, 0, 1])
      for from in 0..<48 { same(AnnexB.startCode(in: bytes.span, from: from), (from <= offset ? offset : nil)) }
    }
    same(AnnexB.startCode(in: [0, 0, 1].span, from: -1), nil)
    same(AnnexB.startCode(in: [0, 0].span), nil)
  }
}

@Suite struct LengthPrefixedTests {
  private func cut(_ bytes: [UInt8], _ size: NALLengthSize) -> ([[UInt8]], position: Int, BitstreamError?) {
    var units = LengthPrefixed.NALUnits(bytes.span, lengthSize: size)
    var found: [[UInt8]] = []
    do {
      while let range = try units.next() { found.append(Array(bytes[range])) }
      return (found, units.position, nil)
    } catch {
      return (found, units.position, error)
    }
  }

  @Test func cutsEveryLengthSize() {
    #expect(cut([2, 9, 8, 0, 1, 7], .one) == ([[9, 8], [7]], 6, nil))
    #expect(cut([0, 2, 9, 8, 0, 0, 0, 1, 7], .two) == ([[9, 8], [7]], 9, nil))
    #expect(cut([0, 0, 0, 2, 9, 8], .four) == ([[9, 8]], 6, nil))
    #expect(NALLengthSize(rawValue: 3) == nil)
  }

  @Test func keepsTheGoodPrefix() {
    let cut1 = cut([0, 1, 9, 0, 5, 1], .two)
    #expect(cut1 == ([[9]], 3, BitstreamError(.lengthOutOfBounds, "NALUnitLength", bitOffset: 24)))
    let cut2 = cut([0, 1, 9, 0], .two)
    #expect(cut2 == ([[9]], 3, BitstreamError(.truncated, "NALUnitLength", bitOffset: 24)))
    #expect(cut([0xFF, 0xFF, 0xFF, 0xFF, 1], .four).2?.reason == .lengthOutOfBounds)
  }
}

@Suite struct RepackagerTests {
  static func stream(_ seed: UInt64, longCodes: Bool) -> (annexB: [UInt8], units: [[UInt8]]) {
    var generator = SeededGenerator(state: seed)
    var stream: [UInt8] = []
    var units: [[UInt8]] = []
    for type: UInt8 in [9, 7, 8, 6, 5, 5, 12] {
      let body = (0..<Int.random(in: 1...200, using: &generator)).map { _ in
        UInt8.random(in: 1...255, using: &generator)
      }
      stream += longCodes || Bool.random(using: &generator) ? [0, 0, 0, 1] : [0, 0, 1]
      units.append([type] + body)
      stream += [type] + body
    }
    return (stream, units)
  }

  private func write(
    _ repackager: Repackager, _ bytes: [UInt8], _ packaging: NALPackaging, _ insertions: [[UInt8]] = []
  ) throws -> [UInt8] {
    var output = [UInt8](repeating: 0xAA, count: try repackager.outputSize(packaging, inserting: insertions))
    var span = output.mutableSpan
    let written = try repackager.write(bytes.span, as: packaging, inserting: insertions, to: &span)
    #expect(written == output.count)
    return output
  }

  @Test(arguments: NALLengthSize.allCases, [true, false])
  func convertingThereAndBackIsTheIdentity(_ size: NALLengthSize, _ longCodes: Bool) throws {
    for seed in 0..<20 as Range<UInt64> {
      let (stream, units) = Self.stream(seed, longCodes: longCodes)
      var repackager = Repackager(codec: .h264)
      repackager.scanAnnexB(stream.span)
      #expect(repackager.canWriteInPlace(as: .lengthPrefixed(.four)) == longCodes)
      let packed = try write(repackager, stream, .lengthPrefixed(size))
      try repackager.scanLengthPrefixed(packed.span, lengthSize: size)
      #expect(repackager.entries.map { Array(packed[$0.range]) } == units)
      #expect(try write(repackager, packed, .annexB) == units.flatMap { [0, 0, 0, 1] + $0 })
    }
  }

  @Test func worksInPlace() throws {
    let (stream, units) = Self.stream(7, longCodes: true)
    var bytes = stream
    var repackager = Repackager(codec: .h264)
    repackager.scanAnnexB(bytes.span)
    var span = bytes.mutableSpan
    try repackager.writeInPlace(&span, as: .lengthPrefixed(.four))
    try repackager.scanLengthPrefixed(bytes.span, lengthSize: .four)
    #expect(repackager.entries.map { Array(bytes[$0.range]) } == units)
    var back = bytes.mutableSpan
    try repackager.writeInPlace(&back, as: .annexB)
    #expect(bytes == stream)
  }

  @Test func dropsAndInserts() throws {
    let (stream, units) = Self.stream(8, longCodes: false)
    var repackager = Repackager(codec: .h264)
    repackager.drop = NALUnitTypeSet([H264.NALUnitType.sei, .fillerData])
    repackager.scanAnnexB(stream.span)
    #expect(repackager.droppedCount == 2)
    let output = try write(repackager, stream, .annexB, [[0x67, 1], [0x68, 2]])
    // The delimiter stays in front.
    #expect(nalUnits(output) == [units[0], [0x67, 1], [0x68, 2], units[1], units[2], units[4], units[5]])
  }

  @Test func refusesNALUnitsTooLongForTheLengthSize() throws {
    let stream: [UInt8] = [0, 0, 0, 1] + [UInt8](repeating: 5, count: 300)
    var repackager = Repackager(codec: .h264)
    repackager.scanAnnexB(stream.span)
    same(
      failure {
        () throws(BitstreamError) in _ = try repackager.outputSize(.lengthPrefixed(.one))
      }, BitstreamError(.lengthNotRepresentable, "NALUnitLength", bitOffset: 32))
    #expect(try repackager.outputSize(.lengthPrefixed(.two)) == 302)
    var small = [UInt8](repeating: 0, count: 301)
    var span = small.mutableSpan
    do {
      try repackager.write(stream.span, as: .lengthPrefixed(.two), to: &span)
      Issue.record("301 bytes cannot hold it")
    } catch {
      #expect(error.reason == .outputTooSmall)
    }
  }

  @Test func partsCountOffsetsFromTheirOrigin() throws {
    let (stream, units) = Self.stream(11, longCodes: false)
    var whole = Repackager(codec: .h264)
    whole.scanAnnexB(stream.span)
    for first in 0...units.count {
      for end in first...units.count {
        let origin = first < units.count ? whole.entries[first].range.lowerBound - whole.entries[first].prefixLength : 0
        let part = whole.part(first..<end, origin: origin)
        let bytes = [UInt8](stream[origin...])
        #expect(part.entries.map { Array(bytes[$0.range]) } == Array(units[first..<end]))
        #expect(part.entries.map(\.type) == whole.entries[first..<end].map(\.type))
        #expect(try write(part, bytes, .annexB) == units[first..<end].flatMap { [0, 0, 0, 1] + $0 })
        #expect(!part.canWriteInPlace(as: .lengthPrefixed(.four)))
      }
    }
    #expect(whole.part(0..<99, origin: 0).entries.count == units.count)
    #expect(whole.part(0..<units.count, origin: stream.count).entries.isEmpty)
  }

  @Test func repairsStartCodesInsidePackets() throws {
    // One length around three NAL units.
    let inner: [UInt8] = [0x65, 1, 2, 0, 0, 0, 1, 0x41, 3, 0, 0, 1, 0x41, 4]
    let packet: [UInt8] = [0, 0, 0, UInt8(inner.count)] + inner
    var repackager = Repackager(codec: .h264)
    try repackager.scanLengthPrefixed(packet.span, lengthSize: .four)
    same(repackager.repairStartCodes(in: packet.span), 2)
    #expect(!repackager.canWriteInPlace(as: .annexB))
    #expect(nalUnits(try write(repackager, packet, .annexB)) == [[0x65, 1, 2], [0x41, 3], [0x41, 4]])
    let good: [UInt8] = [0, 0, 0, 2, 0x65, 1]
    try repackager.scanLengthPrefixed(good.span, lengthSize: .four)
    same(repackager.repairStartCodes(in: good.span), 0)
    #expect(repackager.canWriteInPlace(as: .annexB))
  }

  @Test func distinguishesByteStreamsFromPackets() {
    same(LengthPrefixed.isAnnexB([0, 0, 0, 1, 0x67, 1, 2, 0, 0, 1, 0x68].span, lengthSize: .four), true)
    same(LengthPrefixed.isAnnexB([0, 0, 0, 1, 0x67].span, lengthSize: .four), false)
    same(LengthPrefixed.isAnnexB([0, 0, 0, 3, 0x67, 1, 2].span, lengthSize: .four), false)
    // A packet with a bad length that holds a start code later on is a damaged packet.
    same(LengthPrefixed.isAnnexB([0, 0, 0, 9, 0x67, 0, 0, 1, 0x68].span, lengthSize: .four), false)
    same(LengthPrefixed.isAnnexB([0, 0, 1, 0x67, 1, 2, 0, 0, 1, 0x68].span, lengthSize: .four), true)
    same(LengthPrefixed.isAnnexB([3, 0, 0, 1, 0x67, 1, 2].span, lengthSize: .one), false)
    // By chance the lengths add up.
    same(LengthPrefixed.isAnnexB([0, 0, 1, 0x67, 2, 1, 2].span, lengthSize: .one), true)
    same(LengthPrefixed.isAnnexB([0, 0, 0, 1, 0x67, 0, 2, 1, 2].span, lengthSize: .two), true)
    // A NAL unit of 256 bytes.
    same(LengthPrefixed.isAnnexB(([0, 0, 1, 0] + [UInt8](repeating: 0x41, count: 256)).span, lengthSize: .four), false)
  }

  @Test func keepsNALUnitsInFrontOfABadLength() {
    var generator = SeededGenerator(state: 9)
    for _ in 0..<2000 {
      let bytes = (0..<Int.random(in: 0...30, using: &generator)).map { _ in UInt8.random(in: 0...8, using: &generator)
      }
      for size in NALLengthSize.allCases {
        var repackager = Repackager(codec: .h264)
        try? repackager.scanLengthPrefixed(bytes.span, lengthSize: size)
        repackager.repairStartCodes(in: bytes.span)
        #expect(repackager.entries.allSatisfy { !$0.range.isEmpty && $0.range.upperBound <= bytes.count })
      }
    }
  }
}
