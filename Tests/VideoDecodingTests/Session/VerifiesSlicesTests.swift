// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x
import TestSupport
import Testing

@testable import VideoDecoding

/// `SessionConfiguration.verifiesSlices`: slices are read to their last bit while libavcodec decodes.
@Suite struct VerifiesSlicesTests: StageBuilders {
  static let clips = [
    "clip.h264", "open-gop.h264", "intra-refresh.h264", "interlaced.h264", "small-slices.h264", "wide.h264",
    "clip.h265", "open-gop.h265", "interlaced.h265", "ten-bit.h265", "wide.h265",
  ]

  private static func configuration(threads: Int = 1) -> SessionConfiguration {
    .with {
      $0.threadCount = threads
      $0.verifiesSlices = true
    }
  }

  /// The access unit with a bit of its first slice flipped, at a part of the slice's length.
  private static func flipped(_ unit: [UInt8], at part: Double, of codec: FormatDescription.Codec) throws -> [UInt8] {
    var unit = unit
    var nalUnits = AnnexB.NALUnits(unit.span)
    var place: Int?
    while let nalUnit = nalUnits.next() {
      let header = unit[nalUnit.range.lowerBound]
      let isSlice = codec == .h264 ? 1...5 ~= header & 31 : header >> 1 & 63 < 32
      guard isSlice, place == nil else { continue }
      place = nalUnit.range.lowerBound + Int(Double(nalUnit.range.count) * part)
    }
    unit[try #require(place)] ^= 0x10
    return unit
  }

  /// The results of a stream with other access units.
  private static func run(
    _ stream: CodedStream, _ units: [[UInt8]], _ configuration: SessionConfiguration, plan: FaultPlan = FaultPlan()
  ) throws -> (run: Run, statistics: SessionStatistics) {
    let session = try stream.session(configuration, plan: plan)
    var run = Run()
    try session.run(units, into: &run)
    return (run, session.statistics)
  }

  // MARK: Damage

  /// libavcodec reports nothing: the picture and those that refer to it are flagged, with any number of threads.
  @Test func flagsDamageThatLibavcodecDoesNotReport() throws {
    let stream = try CodedStream("open-gop.h265")
    let whole = Set(try stream.decode(.with { _ in }).checksums)
    let types = stream.units.map(H265Stream.type)
    let place = try #require(stream.units.indices.first { $0 > 3 && types[$0] == .trailingR })
    var foundCount = 0
    for part in [0.3, 0.4, 0.5, 0.6, 0.7, 0.8] {
      var units = stream.units
      units[place] = try Self.flipped(units[place], at: part, of: .h265)
      let (plain, unverified) = try Self.run(stream, units, .with { $0.threadCount = 1 })
      #expect(plain.frames.allSatisfy { !$0.isCorrupt })
      #expect(unverified.damagedSlices == nil && unverified.lastDamagedSlice == nil)
      var flagged: [[UInt64]] = []
      for threads in [1, 4] {
        let (run, statistics) = try Self.run(stream, units, Self.configuration(threads: threads))
        #expect(run.checksums == plain.checksums)
        flagged.append(run.frames.filter(\.isCorrupt).map(\.tag))
        guard let count = statistics.damagedSlices, count > 0 else { continue }
        foundCount += 1
        #expect(count == 1 && statistics.corrupted == UInt64(flagged.last?.count ?? 0))
        #expect(run.frames.contains { $0.tag == UInt64(place) && $0.isCorrupt })
        for (frame, line) in zip(run.frames, run.checksums) where !frame.isCorrupt { #expect(whole.contains(line)) }
        let error = try #require(statistics.lastDamagedSlice)
        #expect(error.tag == UInt64(place) && error.accessUnitNumber == UInt64(place))
        let detail = try #require(error.detail)
        #expect(detail.contains("slice 0 is damaged at block ") && detail.contains(", bit "), "\(detail)")
      }
      #expect(flagged.first == flagged.last, "\(part)")
    }
    #expect(foundCount >= 8)
  }

  /// What nobody refers to damages no other picture.
  @Test func damageStaysInPicturesWithoutReferences() throws {
    let stream = try CodedStream("open-gop.h265")
    let types = stream.units.map(H265Stream.type)
    let place = try #require(
      stream.units.indices.first {
        $0 > 3 && (types[$0] == .trailingN || types[$0]?.rawValue == 8) && stream.units[$0].count > 60
      })
    var units = stream.units
    units[place] = try Self.flipped(units[place], at: 0.6, of: .h265)
    let (run, statistics) = try Self.run(stream, units, Self.configuration(threads: 3))
    let flagged = run.frames.filter(\.isCorrupt).map(\.tag)
    #expect(flagged == (statistics.damagedSlices == 0 ? [] : [UInt64(place)]))
  }

  /// In H.264, too, no more wrong pictures are unflagged than without.
  @Test func findsMoreThanLibavcodecInH264() throws {
    let stream = try CodedStream("clip.h264")
    let whole = Set(try stream.decode(.with { _ in }).checksums)
    var (before, after, found) = (0, 0, UInt64(0))
    for place in stride(from: 1, to: stream.units.count - 1, by: 5) where stream.units[place].count > 100 {
      var units = stream.units
      units[place] = try Self.flipped(units[place], at: 0.7, of: .h264)
      let (plain, _) = try Self.run(stream, units, .with { $0.threadCount = 1 })
      let (run, statistics) = try Self.run(stream, units, Self.configuration())
      #expect(run.accounts(for: units.count))
      before += zip(plain.frames, plain.checksums).count { !$0.isCorrupt && !whole.contains($1) }
      after += zip(run.frames, run.checksums).count { !$0.isCorrupt && !whole.contains($1) }
      found += statistics.damagedSlices ?? 0
    }
    #expect(after <= before && found > 0)
  }

  /// libavcodec leaves coefficients of a damaged macroblock to the next picture of the same thread, and reports nothing.
  /// All pictures of this stream are intra pictures.
  @Test(.enabled(if: Vectors.isAvailable), arguments: [1, 3])
  func flagsPicturesThatGetCoefficientsOfADamagedOne(_ threads: Int) throws {
    let stream = try CodedStream("SVA_BA1_B.264")
    let whole = Set(try stream.decode(.with { $0.threadCount = 1 }).checksums)
    var units = stream.units
    units[11] = Array(units[11].prefix(621))
    var configuration = Self.configuration(threads: threads)
    configuration.threadType = threads == 1 ? .none : .frame
    let (run, statistics) = try Self.run(stream, units, configuration)
    let wrong = zip(run.frames, run.checksums).filter { !whole.contains($1) }.map(\.0.tag)
    #expect(wrong == [11, 11 + UInt64(threads)])
    #expect(Set(run.frames.filter(\.isCorrupt).map(\.tag)).isSuperset(of: wrong))
    #expect(statistics.damagedSlices == 1 && statistics.lastDamagedSlice?.tag == 11)
  }

  /// The next picture of the thread with coefficients in the same blocks gets them, and none after it.
  @Test func coefficientsAreLeftUntilTheirBlocksAreCoded() throws {
    let stream = try CodedStream("clip.h264")
    var verification = SliceVerification(NALPackaging(lengthSize: nil))
    var inspection = AccessUnitInspection<H264>(lengthSize: nil)
    let pool = PacketPool()
    var verdicts: [SliceVerdict?] = []
    // Number, thread.
    for (index, thread) in [(0, 0), (1, 0), (2, 1), (0, 1), (0, 0), (0, 0)] as [(UInt64, Int)] {
      // The first picture is intra and has coefficients in all blocks.
      var unit = stream.units[0]
      if index == 1 { unit.removeLast(unit.count / 3) }
      let reading = inspection.read(unit.span).reading
      let entry = LedgerEntry(index: index, request: DecodeRequest(tag: index), summary: DecodingSummary())
      let packet = try pool.packet(copying: unit.span, timestamp: 0)
      verdicts.append(verification.verdict(on: SliceTask(entry, packet, reading, thread: thread)))
    }
    #expect(verdicts.map { $0?.count } == [nil, 1, nil, nil, 0, nil])
    #expect(verdicts[4]?.first == .leftovers)
  }

  /// The last slices of a picture are lost. With slice threads, libavcodec does not report it.
  @Test func flagsPicturesThatLackSlices() throws {
    let stream = try CodedStream("small-slices.h264")
    var units = stream.units
    let place = try #require(units.indices.first { $0 > 2 && H265Stream.nalUnits(units[$0]).count > 3 })
    units[place] = H265Stream.joined(H265Stream.nalUnits(units[place]).dropLast())
    var configuration = Self.configuration(threads: 2)
    configuration.threadType = .slice
    let (run, statistics) = try Self.run(stream, units, configuration)
    #expect(statistics.damagedSlices == 1)
    #expect(statistics.lastDamagedSlice?.detail?.contains("slices are missing") == true)
    #expect(run.frames.contains { $0.tag == UInt64(place) && $0.isCorrupt })
  }

  /// A field that is damaged damages its frame.
  @Test func flagsFramesWithADamagedSecondField() throws {
    var ledger = AccessUnitLedger(StartedPictures())
    for index in [UInt64(4), 5, 6] {
      ledger.entries.append(record(index) { $0.isSecondField = index == 5 })
      ledger.entries.update(4) { $0.hasBothFields = true }
    }
    let entry = try #require(ledger[5])
    let description = try Self.description("clip.h264")
    let task = SliceTask(entry, try packet(10), description.reading)
    #expect(ledger.lastPart(of: 4) == 5 && ledger.lastPart(of: 6) == 6 && ledger.lastPart(of: 7) == nil)
    // The entry of the second field is gone before its picture comes.
    _ = ledger.finish(5)
    ledger.note(SliceVerdict(task: task, first: .missing(blocks: 1), count: 1))
    #expect(ledger[4]?.hasDamagedSlices == true && ledger[6]?.hasDamagedSlices == false)
    #expect(ledger[4]?.taint == LedgerEntry.Taint.none && ledger[6]?.taint == .tainted)
  }

  // MARK: No damage

  @Test(arguments: clips, [1, 4]) func undamagedClipsAreNotFlagged(_ name: String, _ threads: Int) throws {
    let stream = try CodedStream(name)
    let plain = try stream.decode(.with { $0.threadCount = threads })
    let (run, statistics) = try Self.run(stream, stream.units, Self.configuration(threads: threads))
    #expect(run.checksums == plain.checksums && run.tags == plain.tags)
    #expect(run.frames.allSatisfy { !$0.isCorrupt })
    #expect(statistics.damagedSlices == 0, "\(statistics.lastDamagedSlice?.description ?? "")")
  }

  @Test(.enabled(if: Vectors.isAvailable), arguments: TestScope.rows(Vector.undamaged, usually: 8))
  func undamagedVectorsAreNotFlagged(_ vector: Vector) async throws {
    var accessUnits: [AccessUnit] = []
    for await accessUnit in AccessUnits(of: vector.bytes, codec: vector.codec) { accessUnits.append(accessUnit) }
    let outcome = try await UndamagedTests.Outcome(of: accessUnits, Self.configuration(threads: 2))
    #expect(outcome.flagged == [])
    #expect(outcome.statistics.damagedSlices == 0, "\(outcome.statistics.lastDamagedSlice?.description ?? "")")
  }

  /// Pictures that are skipped are the same, and so are flagged ones.
  @Test(arguments: SessionConfiguration.SkipFrames.allCases, ["open-gop.h264", "open-gop.h265"])
  func skippingChangesNoVerdict(_ skipped: SessionConfiguration.SkipFrames, _ name: String) throws {
    let stream = try CodedStream(name)
    var configuration = Self.configuration()
    configuration.skipFrames = skipped
    let (run, statistics) = try Self.run(stream, stream.units, configuration)
    configuration.verifiesSlices = false
    let plain = try stream.decode(configuration)
    #expect(run.checksums == plain.checksums && run.frames.map(\.isCorrupt) == plain.frames.map(\.isCorrupt))
    #expect(run.tags == plain.tags && statistics.damagedSlices == 0)
  }

  // MARK: Endings

  /// The verdicts on access units before a flush are not wanted any more.
  @Test(arguments: ["clip.h264", "clip.h265"], [1, 4]) func flushForgetsDamage(_ name: String, _ threads: Int) throws {
    let stream = try CodedStream(name)
    for count in [1, 3, 9] {
      let session = try stream.session(Self.configuration(threads: threads))
      var units = stream.units
      for place in 1..<count { units[place] = try Self.flipped(units[place], at: 0.7, of: stream.format.codec) }
      for index in 0..<count { try session.decode(units[index], tag: UInt64(index)) }
      session.flush()
      while session.nextResult() != nil {}
      let found = session.statistics.damagedSlices
      var run = Run()
      try session.run(stream.units, into: &run)
      #expect(run.frames.count == stream.units.count && run.frames.allSatisfy { !$0.isCorrupt }, "\(count)")
      #expect(session.statistics.damagedSlices == found)
    }
  }

  /// Sessions end while slices are being read.
  @Test(arguments: [false, true]) func endsWhileSlicesAreRead(_ isInvalidated: Bool) throws {
    let stream = try CodedStream("wide.h265")
    for count in 0..<min(12, stream.units.count) {
      let session = try stream.session(Self.configuration(threads: 4))
      for index in 0..<count { try session.decode(stream.units[index], tag: UInt64(index)) }
      guard isInvalidated else { continue }
      session.invalidate()
      var run = Run()
      session.takeResults(into: &run)
      #expect(run.accounts(for: count))
    }
  }

  /// Drained again and again, the verdicts are the same.
  @Test func drainingChangesNoVerdict() throws {
    let stream = try CodedStream("open-gop.h265")
    var units = stream.units
    units[5] = try Self.flipped(units[5], at: 0.6, of: .h265)
    let (expected, counted) = try Self.run(stream, units, Self.configuration())
    let session = try stream.session(Self.configuration())
    var run = Run()
    for (index, unit) in units.enumerated() {
      try session.decode(unit, tag: UInt64(index))
      if index % 4 == 3 { session.drain() }
      session.takeResults(into: &run)
    }
    session.drain()
    session.takeResults(into: &run)
    #expect(run.accounts(for: units.count))
    let flagged = { (run: Run) in Set(run.frames.filter(\.isCorrupt).map(\.tag)) }
    #expect(flagged(run) == flagged(expected))
    #expect(session.statistics.damagedSlices == counted.damagedSlices)
  }

  /// A lost codec decodes the access units again; their slices keep the verdict.
  @Test(arguments: ["clip.h264", "clip.h265"], [0, 4, 6, 8]) func aLossChangesNoVerdict(_ name: String, _ lost: Int)
    throws
  {
    let stream = try CodedStream(name)
    var units = stream.units
    units[5] = try Self.flipped(units[5], at: 0.6, of: stream.format.codec)
    let (expected, counted) = try Self.run(stream, units, Self.configuration())
    let session = try stream.session(Self.configuration())
    var run = Run()
    for (index, unit) in units.enumerated() {
      if index == lost { session.simulateLoss(.recoverable) }
      try session.decode(unit, tag: UInt64(index))
      session.takeResults(into: &run)
    }
    session.drain()
    session.takeResults(into: &run)
    // The samples of lost blocks are whatever the codec's memory held.
    let sound = { (run: Run) in zip(run.frames, run.checksums).filter { !$0.0.isCorrupt }.map(\.1) }
    #expect(sound(run) == sound(expected) && session.statistics.restarts == 1)
    #expect(run.frames.map(\.isCorrupt) == expected.frames.map(\.isCorrupt))
    #expect(session.statistics.damagedSlices == counted.damagedSlices)
  }

  // MARK: The thread

  private static func description(_ name: String) throws -> AccessUnitDescription {
    let stream = try CodedStream(name)
    let unit = stream.units[0]
    var inspection = AccessUnitInspection<H264>(lengthSize: nil)
    return inspection.read(unit.span)
  }

  /// More access units than may wait: the verdicts come in order, once each, and none after they were discarded.
  @Test func verdictsComeInOrder() throws {
    let stream = try CodedStream("clip.h265")
    let pool = PacketPool()
    let verifier = SliceVerifier(NALPackaging(lengthSize: nil))
    var inspection = AccessUnitInspection<H265>(lengthSize: nil)
    var whole = SliceVerification(NALPackaging(lengthSize: nil))
    let unit = stream.units[0]
    let description = inspection.read(unit.span)
    let cut = Array(unit.dropLast(unit.count / 3))
    let task = { (index: UInt64, unit: [UInt8]) throws -> SliceTask in
      let packet = try pool.packet(copying: unit.span, timestamp: Int64(index))
      return SliceTask(
        LedgerEntry(index: index, request: DecodeRequest(tag: index), summary: DecodingSummary()), packet,
        description.reading)
    }
    #expect(whole.verdict(on: try task(0, stream.units[0])) == nil)
    #expect(whole.verdict(on: try task(0, cut))?.count == 1)
    #expect(whole.verdict(on: try task(0, cut), isCancelled: { true }) == nil)
    for index in UInt64(0)..<50 { verifier.verify(try task(index, index % 10 == 3 ? cut : stream.units[0])) }
    #expect(verifier.verdicts(upTo: 22).map(\.task.index) == [3, 13])
    #expect(verifier.verdicts(upTo: 22).isEmpty)
    #expect(verifier.verdicts(upTo: 23).map(\.task.index) == [23])
    #expect(verifier.verdicts(upTo: .max).map(\.task.index) == [33, 43])
    for index in UInt64(50)..<60 { verifier.verify(try task(index, cut)) }
    verifier.discard()
    #expect(verifier.verdicts(upTo: .max).isEmpty)
    verifier.verify(try task(60, cut))
    #expect(verifier.verdicts(upTo: 60).map(\.task.index) == [60])
  }

  /// A few bytes can cover a picture, so an access unit of many pictures must not take as long as all of them.
  @Test func readsTwoPicturesOfAnAccessUnitAtMost() throws {
    let units = try CodedStream("clip.h264").units
    let reading = try Self.description("clip.h264").reading
    let joined = Array(units[1...10].joined())
    let task = SliceTask(
      LedgerEntry(index: 0, request: DecodeRequest(tag: 0), summary: DecodingSummary()),
      try PacketPool().packet(copying: joined.span, timestamp: 0), reading)
    var verification = SliceVerification(NALPackaging(lengthSize: nil))
    var sliceCount = 0
    let verdict = verification.verdict(on: task) {
      sliceCount += 1
      return false
    }
    // Each picture has four slices. The ninth is the first of the third.
    #expect(verdict == nil && sliceCount == 9)
  }
}
