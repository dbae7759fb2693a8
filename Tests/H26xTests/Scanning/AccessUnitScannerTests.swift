// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

@Suite struct AccessUnitScannerTests {
  private typealias Scanner = H264.AccessUnitScanner

  /// Two parameter sets and three pictures of two slices, with trailing zeros.
  private static func stream(trailingZeros: Int = 0) throws -> [UInt8] {
    let sets = try SliceBuilder.sets()
    var stream: [UInt8] = []
    func add(_ nalUnit: [UInt8]) { stream += [0, 0, 0, 1] + nalUnit + [UInt8](repeating: 0, count: trailingZeros) }
    for nalUnit in sets.sequenceParameterSetNALUnits + sets.pictureParameterSetNALUnits { add(nalUnit) }
    for picture: UInt32 in 0..<3 {
      for first: UInt32 in [0, 20] {
        let slice = SliceBuilder(
          type: picture == 0 ? 5 : 1, referenceIDC: picture == 2 ? 0 : 2, first: first, sliceType: picture,
          frameNumber: picture, lsb: 2 * picture)
        add(slice.nalUnit { writer in for _ in 0..<30 { writer.u(8, 0x55) } })
      }
      // Access unit delimiter, cut-off NAL unit, SEI.
      if picture == 0 {
        for nalUnit: [UInt8] in [[0x09, 0xF0], [0x41], [0x68], [0x06, 0x05, 0x00, 0x80]] { add(nalUnit) }
      }
    }
    return stream
  }

  /// The findings when the data grows by `step` bytes at a time.
  private func scan(
    _ stream: [UInt8], growing step: Int, _ configure: (inout Scanner) -> Void = { _ in }
  ) -> [(finding: Scanner.Finding, unit: H264.ScannedAccessUnit)] {
    var scanner = Scanner()
    configure(&scanner)
    var result: [(Scanner.Finding, H264.ScannedAccessUnit)] = []
    var (begin, end) = (0, min(step, stream.count))
    while begin < stream.count {
      let bytes = stream.span.extracting(begin..<end)
      let finding = scanner.next(in: bytes, isMarked: false, isDraining: end == stream.count)
      if case .needsMoreData = finding {
        guard end < stream.count else { break }
        end = min(end + step, stream.count)
        continue
      }
      result.append((finding, scanner.takeAccessUnit()))
      begin += finding.size
    }
    return result
  }

  /// An IDR picture, its parameter sets, another picture.
  @Test(arguments: [1, 5, 64, 10_000], [false, true])
  func parameterSetsMayComeBehindTheFirstPicture(step: Int, hasMessageInFront: Bool) throws {
    let sets = try SliceBuilder.sets()
    let message: [[UInt8]] = hasMessageInFront ? [[0x06, 0x05, 0x01, 0x55, 0x80]] : []
    let pictures = [UInt32(0), 1].map { number in
      SliceBuilder(type: number == 0 ? 5 : 1, sliceType: 2, frameNumber: number, lsb: 2 * number).nalUnit { writer in
        for _ in 0..<30 { writer.u(8, 0x55) }
      }
    }
    let nalUnits =
      message + [pictures[0]] + sets.sequenceParameterSetNALUnits + sets.pictureParameterSetNALUnits + [pictures[1]]
    let found = scan(nalUnits.flatMap { [0, 0, 0, 1] + $0 as [UInt8] }, growing: step)
    #expect(found.map(\.finding.isUnit) == [true, true])
    #expect(found.first?.unit.contents.contains(.idr) == true)
    #expect(found.first?.unit.slice?.isIDR == true && found.last?.unit.slice?.frameNumber == 1)
    #expect(found.last?.unit.contents.contains(.parameterSets) == true)
  }

  /// With another picture before: whether parameter sets are awaited must not depend on how much data is there
  /// when it is looked at.
  @Test(arguments: [1, 5, 20, 64], [[0x41], [0x04]] as [[UInt8]])
  func cutsPicturesBeforeParameterSetsTheSameInPieces(step: Int, header: [UInt8]) throws {
    let sets = try SliceBuilder.sets()
    let picture = SliceBuilder(type: 5, sliceType: 2).nalUnit { writer in for _ in 0..<30 { writer.u(8, 0x55) } }
    let nalUnits =
      [header + [UInt8](repeating: 0x9A, count: 40), picture] + sets.sequenceParameterSetNALUnits
      + sets.pictureParameterSetNALUnits + [picture]
    let stream = nalUnits.flatMap { [0, 0, 0, 1] + $0 as [UInt8] }
    let whole = scan(stream, growing: stream.count)
    let found = scan(stream, growing: step)
    #expect(found.map(\.finding) == whole.map(\.finding))
  }

  /// Parameter sets are searched for once, within a limit.
  @Test func parameterSetsThatNeverComeAreNotAwaited() throws {
    let picture = SliceBuilder(type: 5, sliceType: 2).nalUnit { writer in
      for _ in 0..<100_000 { writer.u(8, 0x55) }
    }
    let stream: [UInt8] = (0..<40).flatMap { _ in [0, 0, 0, 1] + picture as [UInt8] }
    var scanner = Scanner()
    var (begin, most, calls) = (0, 0, 0)
    for end in stride(from: 20_000, through: stream.count, by: 20_000) {
      most = max(most, end - begin)
      while case .unusable(let size) = scanner.next(
        in: stream.span.extracting(begin..<end), isMarked: false, isDraining: false)
      {
        begin += size
        calls += 1
      }
    }
    #expect(calls == 39)
    #expect(most > 1 << 20 && most < (1 << 20) + 200_000)
  }

  /// A file that is truncated between two reads: the scanner reads only bytes that are there.
  @Test func readsNothingBehindTruncatedInput() throws {
    let stream = try Self.stream()
    for seen in stream.indices {
      for left in stride(from: 1, through: seen, by: 5) {
        for cutsNALUnits in [false, true] {
          var scanner = Scanner()
          scanner.cutsNALUnits = cutsNALUnits
          guard
            case .needsMoreData = scanner.next(in: stream.span.extracting(0..<seen), isMarked: false, isDraining: false)
          else { continue }
          let finding = scanner.next(in: stream.span.extracting(0..<left), isMarked: false, isDraining: true)
          #expect(finding.size <= left)
        }
      }
    }
  }

  @Test(arguments: [1, 2, 3, 7, 64, 1000], [0, 1, 5])
  func cutsTheSameInPieces(step: Int, trailingZeros: Int) throws {
    let stream = try Self.stream(trailingZeros: trailingZeros)
    for cutsNALUnits in [false, true] {
      let whole = scan(stream, growing: stream.count) { $0.cutsNALUnits = cutsNALUnits }
      let pieces = scan(stream, growing: step) { $0.cutsNALUnits = cutsNALUnits }
      #expect(whole.map(\.finding) == pieces.map(\.finding))
      #expect(whole.map(\.unit.contents) == pieces.map(\.unit.contents))
      #expect(whole.map(\.unit.end) == pieces.map(\.unit.end))
      #expect(whole.map(\.finding.size).reduce(0, +) == stream.count)
    }
  }

  @Test func describesAccessUnits() throws {
    let units = scan(try Self.stream(), growing: 1 << 20) { $0.sliceDepth = .referenceMarking }.map(\.unit)
    try #require(units.count == 3)
    #expect(units[0].contents.isSuperset(of: [.idr, .pictureStart, .parameterSets, .accessUnitStart, .accessUnitEnd]))
    #expect(units[0].randomAccessOffset != nil && units[0].slice?.isIDR == true && units[0].nalUnitCount == 5)
    #expect(units[1].contents.isSuperset(of: [.delimiter, .sei, .reference, .bSlice]))
    #expect(units[1].seiNALUnits.count == 1 && units[1].dropped.count == 1 && units[1].randomAccessOffset == nil)
    #expect(units[2].contents.isDisjoint(with: [.reference, .idr, .sei, .delimiter]))
    #expect(units.allSatisfy { $0.nalUnits.isEmpty })
  }

  /// The listed NAL units of an access unit are those of NAL unit alignment.
  @Test func listsTheNALUnitsThatItWouldCut() throws {
    let stream = try Self.stream(trailingZeros: 2)
    var listed: [(place: Range<Int>, contents: H264.ScannedAccessUnit.Contents)] = []
    var offset = 0
    for (finding, unit) in scan(stream, growing: stream.count, { $0.listsNALUnits = true }) {
      for nalUnit in unit.nalUnits {
        guard let contents = nalUnit.contents else { continue }
        listed.append((offset + nalUnit.start..<offset + nalUnit.range.upperBound, contents))
      }
      offset += finding.size
    }
    var cut: [(place: Range<Int>, contents: H264.ScannedAccessUnit.Contents)] = []
    offset = 0
    for (finding, unit) in scan(stream, growing: stream.count, { $0.cutsNALUnits = true }) {
      if case .accessUnit = finding { cut.append((offset..<offset + unit.end, unit.contents)) }
      offset += finding.size
    }
    #expect(listed.count == 11 && listed.map(\.place) == cut.map(\.place))
    let boundaries: H264.ScannedAccessUnit.Contents = [.accessUnitStart, .accessUnitEnd]
    #expect(listed.map(\.contents) == cut.map { $0.contents.subtracting(boundaries) })
  }

  /// An access unit of more NAL units than any picture has macroblocks: the list is bounded, and its last entry covers
  /// the rest.
  @Test func boundsTheListOfNALUnits() throws {
    var stream = try Self.stream()
    for _ in 0..<H264.ScannedAccessUnit.nalUnitLimit + 1000 { stream += [0, 0, 1, 0x0C, 0x80] }
    let units = scan(stream, growing: stream.count) { $0.listsNALUnits = true }.map(\.unit)
    let last = try #require(units.last)
    #expect(last.nalUnits.count == H264.ScannedAccessUnit.nalUnitLimit)
    #expect(last.nalUnits.last?.range.upperBound == last.end && last.nalUnitCount > last.nalUnits.count)
  }

  @Test func picturesBeforeTheirParameterSetsAreUnusable() throws {
    let whole = try Self.stream()
    let units = nalUnits(whole)
    let tail = units.drop { $0[0] & 31 != 1 || $0.count == 1 }
    let stream: [UInt8] = (tail + units).flatMap { [0, 0, 0, 1] + $0 }
    let findings = scan(stream, growing: stream.count).map(\.finding)
    // Without an SPS, the IDR picture and the two after it.
    #expect(findings.map(\.isUnit) == [false, false, true, true, true])
  }

  @Test(arguments: [H264.AccessUnitScanner.InputAlignment.none, .nalUnits, .accessUnit], [false, true])
  func randomBytesNeverTrapAndAllAreAccountedFor(
    _ alignment: H264.AccessUnitScanner.InputAlignment, _ cutsNALUnits: Bool
  )
    throws
  {
    var generator = SeededGenerator(state: 5)
    let good = try Self.stream()
    for round in 0..<300 {
      var stream = good + good
      for _ in 0..<Int.random(in: 0...20, using: &generator) {
        stream[Int.random(in: stream.indices, using: &generator)] = [0, 1, 3, 0x67, 0x74, 0xFF, 0x18][round % 7]
      }
      let found = scan(stream, growing: 1 + round % 50) {
        $0.inputAlignment = alignment
        $0.cutsNALUnits = cutsNALUnits
        $0.listsNALUnits = !cutsNALUnits
        $0.packaging = round % 3 == 0 ? .lengthPrefixed(.two) : .annexB
      }
      #expect(found.map(\.finding.size).reduce(0, +) <= stream.count)
      for (finding, unit) in found { #expect(unit.end <= finding.size) }
    }
  }

  /// A stream cannot make an unbounded number of notices.
  @Test func boundsNotices() {
    var scanner = Scanner()
    var stream: [UInt8] = []
    for _ in 0..<1000 { stream += [0, 0, 1, 0x68, 0x00, 0x01] }
    _ = scanner.next(in: stream.span, isMarked: false, isDraining: true)
    #expect(scanner.errors.parameterSets > 900)
    #expect(scanner.takeNotices().count == 64)
    #expect(scanner.takeNotices().isEmpty)
  }

  /// A prefix NAL unit belongs to the next slice, also when that begins the next picture.
  @Test(arguments: [1, 20, 1000]) func keepsPrefixesWithTheirSlices(step: Int) throws {
    let prefix: [UInt8] = [0x6E, 0xC0, 0x80, 0x07, 0x80]
    let units = nalUnits(try Self.stream())
    let stream: [UInt8] = units.flatMap { nalUnit in
      let isSlice = [1, 5].contains(nalUnit[0] & 0x1F) && nalUnit.count > 1
      return (isSlice ? [0, 0, 0, 1] + prefix : []) + [0, 0, 0, 1] + nalUnit
    }
    let found = scan(stream, growing: step) { $0.listsNALUnits = true }
    #expect(found.count == 3)
    for (finding, unit) in found {
      #expect(unit.end == finding.size && unit.nalUnits.last?.range.upperBound == unit.end)
      #expect(unit.nalUnits.first?.start == 0)
    }
    #expect(found.map(\.unit.nalUnits.count) == [7, 8, 4])
  }

  /// The MARKER has ended the access unit before; the detector still has its picture.
  @Test(arguments: [0x41, 0x0F, 0x09] as [UInt8]) func aPrefixAfterAMarkerBeginsTheAccessUnit(next: UInt8) throws {
    let sets = try SliceBuilder.sets()
    var scanner = Scanner()
    scanner.inputAlignment = .nalUnits
    for nalUnit in sets.sequenceParameterSetNALUnits + sets.pictureParameterSetNALUnits { scanner.store(nalUnit.span) }
    let picture = [0, 0, 0, 1] + SliceBuilder(type: 5, sliceType: 2).nalUnit()
    #expect(scanner.next(in: picture.span, isMarked: true, isDraining: false) == .accessUnit(picture.count))
    let prefix: [UInt8] = [0, 0, 0, 1, 0x6E, 0x40, 0, 7]
    #expect(scanner.next(in: prefix.span, isMarked: false, isDraining: false) == .needsMoreData)
    var unit = prefix + [0, 0, 0, 1]
    unit += next == 0x41 ? SliceBuilder(frameNumber: 1, lsb: 2).nalUnit() : [next, 0xF0]
    #expect(scanner.next(in: unit.span, isMarked: true, isDraining: false) == .accessUnit(unit.count))
  }

  /// NAL units before the first parameter sets belong to their access unit, whether or not the stream comes in pieces.
  @Test(arguments: [1, 50, 1000]) func keepsNALUnitsBeforeTheFirstParameterSets(step: Int) throws {
    let stream = [0, 0, 0, 1, 0x09, 0xF0] + (try Self.stream())
    let found = scan(stream, growing: step) { $0.cutsNALUnits = true }
    #expect(found.first?.finding == .accessUnit(6))
  }

  /// Each held byte is searched once for parameter sets; searching again would take minutes.
  @Test func searchesHeldBytesOnce() {
    let stream = [[UInt8]](repeating: [0, 0, 1, 0x06, 0x05, 0x01, 0x00, 0x80], count: 40_000).flatMap { $0 }
    let found = scan(stream, growing: 8) { $0.cutsNALUnits = true }
    #expect(found.allSatisfy { if case .unusable = $0.finding { true } else { false } })
  }

  /// The access unit of these NAL units, and its scanner.
  private func scanOne(_ nalUnits: [[UInt8]]) -> (unit: H264.ScannedAccessUnit, scanner: Scanner) {
    var scanner = Scanner()
    let stream = MinimalStream.annexB(nalUnits)
    same(scanner.next(in: stream.span, isMarked: true, isDraining: true), .accessUnit(stream.count))
    return (scanner.takeAccessUnit(), scanner)
  }

  @Test func takesAnAccessUnitOnce() throws {
    var scanner = Scanner()
    let stream = MinimalStream.annexB([MinimalStream.sps(), MinimalStream.pps(), MinimalStream.slice(isIDR: true)])
    same(scanner.next(in: stream.span, isMarked: false, isDraining: true), .accessUnit(stream.count))
    #expect(scanner.takeAccessUnit().nalUnitCount == 3)
    let second = scanner.takeAccessUnit()
    #expect(second.nalUnitCount == 0 && second.contents.isEmpty && second.slice == nil && second.end == 0)
  }

  @Test func unreadableSlicesAreCounted() {
    let sets = [MinimalStream.sps(), MinimalStream.pps()]
    // A slice inside the picture, with a missing PPS.
    var stray = BitWriter()
    stray.u(8, 0x65)
    for value: UInt32 in [1, 7, 7] { stray.ue(value) }
    stray.trailingBits()
    let (unit, scanner) = scanOne(sets + [MinimalStream.slice(isIDR: true), stray.bytes])
    #expect(scanner.errors.slices == 1 && scanner.errors.parameterSets == 0 && scanner.errors.nalUnits == 0)
    #expect(unit.contents.isSuperset(of: [.unreadableSlice, .iSlice, .idr, .randomAccess, .pictureStart]))
    #expect(!unit.contents.isIntra)
    #expect(scanner.nalUnitCounts[5] == 2 && scanner.nalUnitCounts[7] == 1 && scanner.nalUnitCounts[8] == 1)
    #expect(scanner.parameterSetChanges == 2 && scanner.lastSequenceParameterSetID == 0)
  }

  /// A picture of I slices only is intra, one with P or B slices too is not.
  @Test func recognizesIntraPictures() throws {
    let sets = try SliceBuilder.sets().nalUnits
    func contents(_ types: [UInt32]) -> AccessUnitContents {
      scanOne(sets + types.enumerated().map { SliceBuilder(first: UInt32($0) * 20, sliceType: $1).nalUnit() })
        .unit.contents
    }
    #expect(contents([7]).isIntra && contents([2, 4]).isIntra)
    for types: [UInt32] in [[0], [2, 0], [2, 1], [7, 3]] { #expect(!contents(types).isIntra) }
    #expect(contents([2, 1]).isSuperset(of: [.iSlice, .bSlice]) && !contents([2, 1]).contains(.pSlice))
    #expect(!AccessUnitContents.sei.isIntra)
  }

  @Test func findsRecoveryPoints() throws {
    let sets = try SliceBuilder.sets().nalUnits
    let picture = SliceBuilder().nalUnit()
    let point = seiNALUnit([(.userDataUnregistered, [UInt8](repeating: 7, count: 16)), (.recoveryPoint, [0xC4])])
    let other = seiNALUnit([(.userDataUnregistered, [UInt8](repeating: 6, count: 16))])
    let without = scanOne(sets + [other, picture])
    #expect(!without.scanner.hasSeenRecoveryPoint && !without.unit.contents.contains(.recoveryPoint))
    let with = scanOne(sets + [other, point, picture])
    #expect(with.scanner.hasSeenRecoveryPoint && with.unit.contents.contains(.recoveryPoint))
    #expect(with.unit.seiNALUnits.map { $0.contents?.contains(.recoveryPoint) } == [false, true])
  }

  /// Types 28 and 30 follow the slices that they belong to, and stay; types that only RTP has are dropped.
  @Test func keepsDolbyVisionInTheAccessUnitOfItsSlices() throws {
    let sets = try SliceBuilder.sets().nalUnits
    let (rpu, layer): ([UInt8], [UInt8]) = ([0x7C, 0x19, 0x08, 0x09, 0x80], [0x7E, 0x65, 0x88, 0x80])
    let pictures = [SliceBuilder(type: 5, referenceIDC: 3), SliceBuilder(frameNumber: 1, lsb: 2)].map { $0.nalUnit() }
    let first = sets + [pictures[0], layer, rpu, [0x7B, 0x41, 0x9A]]
    let stream = MinimalStream.annexB(first + [pictures[1], layer, rpu])
    let found = scan(stream, growing: 10)
    #expect(found.map(\.unit.nalUnitCount) == [first.count, 3] && found.map(\.unit.dropped.count) == [1, 0])
    #expect(found.map(\.finding.size).reduce(0, +) == stream.count)
    // A packet of a container.
    var scanner = Scanner()
    scanner.packaging = .lengthPrefixed(.four)
    scanner.inputAlignment = .accessUnit
    let packet = MinimalStream.prefixed(first)
    same(scanner.next(in: packet.span, isMarked: true, isDraining: false), .accessUnit(packet.count))
    #expect(scanner.takeAccessUnit().dropped == [packet.count - 7..<packet.count])
    #expect(scanner.nalUnitCounts[28] == 1 && scanner.nalUnitCounts[30] == 1 && scanner.errors.nalUnits == 1)
    // Repackaging keeps them, too.
    var repackager = Repackager(codec: .h264)
    #expect(
      try repackager.packaged(packet.span, from: .lengthPrefixed(.four), as: .annexB) == MinimalStream.annexB(first))
  }

  /// Adjacent NAL units to drop are one part, separate ones are two.
  @Test func listsPartsToDrop() throws {
    let sets = try SliceBuilder.sets().nalUnits
    let stray: [UInt8] = [0x1D, 0x55]
    let (first, second) = (SliceBuilder().nalUnit(), SliceBuilder(first: 20).nalUnit())
    let (unit, scanner) = scanOne(sets + [stray, stray, first, [0x41], stray, second, stray])
    let start = MinimalStream.annexB(sets).count
    let middle = start + 12 + 4 + first.count
    #expect(unit.dropped == [start..<start + 12, middle..<middle + 11, unit.end..<unit.end + 6])
    #expect(scanner.errors.nalUnits == 5 && unit.nalUnitCount == sets.count + 7)
  }

  /// A length beyond the end: the good part is returned, marked, and the rest is dropped.
  @Test func brokenPacketsAreCounted() throws {
    var scanner = Scanner()
    scanner.packaging = .lengthPrefixed(.four)
    scanner.inputAlignment = .accessUnit
    let good = MinimalStream.prefixed([MinimalStream.sps(), MinimalStream.pps(), MinimalStream.slice(isIDR: true)])
    let packet = good + [0, 0, 1, 0, 0x41, 0x9A]
    same(scanner.next(in: packet.span, isMarked: true, isDraining: false), .accessUnit(good.count))
    let unit = scanner.takeAccessUnit()
    #expect(unit.contents.contains(.damaged) && unit.nalUnitCount == 3 && scanner.errors.lengths == 1)
    guard case .badLength(let error, let goodBytes, let byteCount)? = scanner.takeNotices().last else {
      Issue.record("no notice")
      return
    }
    #expect(error.reason == .lengthOutOfBounds && goodBytes == good.count && byteCount == packet.count)
    let rest = Array(packet[good.count...])
    same(scanner.next(in: rest.span, isMarked: true, isDraining: false), .unusable(rest.count))
    #expect(scanner.isBetweenAccessUnits && scanner.errors.lengths == 1)
    same(scanner.next(in: good.span, isMarked: true, isDraining: false), .accessUnit(good.count))
    #expect(!scanner.takeAccessUnit().contents.contains(.damaged) && scanner.errors.lengths == 1)
  }
}

extension ScannerFinding {
  fileprivate var isUnit: Bool { if case .accessUnit = self { true } else { false } }
}
