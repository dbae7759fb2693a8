// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

@testable import Elements
@testable import H26x

/// The parser's stages that are values, by their results.
@Suite struct ParserStageTests {
  init() { Harness.initialise() }

  // MARK: Bytes to ask for

  private enum Event {
    case found(Int, batch: Bool)
    case push(Int)
    case needsMore(Int)
    case needsMorePushed(Int)
    case skipped
  }

  /// The minimum frame size that the base class gets after each event; nil for no change.
  private static func told(_ events: [Event], isLengthPrefixed: Bool = false) -> [Int?] {
    var size = MinimumFrameSize()
    size.configure(isLengthPrefixed: isLengthPrefixed)
    return [size.takeChange()]
      + events.map { event in
        switch event {
        case .found(let count, let batch): size.found(count, isPulling: true, mayBatch: batch)
        case .push(let count): size.found(count, isPulling: false, mayBatch: false)
        case .needsMore(let count): size.needsMore(than: count, isPulling: true)
        case .needsMorePushed(let count): size.needsMore(than: count, isPulling: false)
        case .skipped: size.skipped()
        }
        return size.takeChange()
      }
  }

  @Test func asMuchIsAskedForAsTheNextAccessUnitMayTake() {
    #expect(Self.told([]) == [4])
    #expect(Self.told([], isLengthPrefixed: true) == [1])
    #expect(Self.told([.found(1000, batch: false), .found(1000, batch: false)]) == [4, 5221, nil])
    #expect(Self.told([.push(1000), .push(9)]) == [4, nil, nil])
    #expect(Self.told([.found(1000, batch: false), .skipped], isLengthPrefixed: true) == [1, 5221, 1])
  }

  @Test func batchesHaveOneOfTwoSizes() {
    let sizes = [1000, 16_384, 16_385, 1000, 400_000].map { Event.found($0, batch: true) }
    #expect(Self.told(sizes) == [4, 65_536, nil, 262_144, nil, 454_096])
  }

  @Test func moreIsAskedForUntilItIsTooLarge() {
    #expect(
      Self.told([.needsMore(100), .needsMore(32_769), .needsMore(40 << 20), .needsMore(64 << 20)])
        == [4, 65_536, 65_538, 67_108_865, nil])
    // Not with every small buffer.
    #expect(
      Self.told([
        .needsMorePushed(1_048_575), .needsMorePushed(1_048_576), .needsMorePushed(62 << 20),
      ]) == [4, nil, 1_179_648, 67_108_865])
  }

  // MARK: Bitrates

  @Test func reportsBitratesFromTheTenthPictureOnAndWhenTheyChange() {
    var rates = BitrateRange()
    let time = ClockTime(nanoseconds: 40_000_000)
    let nothing = [
      rates.add(bytes: 0, duration: time, average: nil), rates.add(bytes: 9, duration: nil, average: nil),
      rates.add(bytes: 9, duration: .zero, average: nil),
    ]
    #expect(nothing == [false, false, false])
    let first = (0..<10).map { _ in rates.add(bytes: 1000, duration: time, average: nil) }
    #expect(first == [Bool](repeating: false, count: 9) + [true])
    #expect(rates.toTell == 200_000...200_000)
    // Within the same ten thousand bits a second, above and below.
    var news = [rates.add(bytes: 1049, duration: time, average: nil)]
    #expect(rates.toTell == 200_000...200_000)
    news.append(rates.add(bytes: 1050, duration: time, average: nil))
    #expect(rates.toTell == 200_000...210_000)
    news.append(rates.add(bytes: 999, duration: time, average: nil))
    #expect(rates.toTell == 199_800...210_000)
    news.append(rates.add(bytes: 1020, duration: time, average: nil))
    #expect(news == [false, true, true, false])
  }

  /// The average is told with the first tags, and after fifty pictures at a time where it is off by a fiftieth.
  @Test func reportsTheAverageWhenItChanges() {
    var rates = BitrateRange()
    let time = ClockTime(nanoseconds: 40_000_000)
    let averages: [UInt32] = (1...200).map { $0 < 60 ? 500_000 : $0 < 120 ? 509_999 : 511_000 }
    let told = averages.indices.filter { rates.add(bytes: 1000, duration: time, average: averages[$0]) }
    #expect(told == [9, 149])
    #expect(rates.averageToTell == 511_000)
    var unknown = BitrateRange()
    unknown.expect(7)
    #expect(unknown.averageToTell == 7)
    let count = (0..<100).filter { _ in unknown.add(bytes: 1000, duration: time, average: nil) }.count
    #expect(count == 1 && unknown.averageToTell == nil)
  }

  // MARK: How long a file lasts

  private static func pace(of sizes: [UInt64]) -> StreamPace {
    var pace = StreamPace()
    pace.learn(
      sizes.indices.map { index in
        let start = sizes[..<index].reduce(0, +)
        var sample = FileSample(start: start, end: start + sizes[index])
        sample.measure(.seconds(1))
        return sample
      })
    return pace
  }

  @Test func whatWasReadIsKnownAndTheRestEstimated() {
    var pace = Self.pace(of: [100, 200, 400])
    #expect(pace.time(at: 700) == nil && pace.position(at: 5) == nil && pace.bitrate == nil)
    let second = ClockTime.second.nanoseconds
    pace.notice(lasting: .seconds(2))
    pace.consume(50, at: 0)
    // Read elsewhere, or again: nothing is learned.
    pace.notice(lasting: .seconds(9))
    pace.consume(50, at: 0)
    pace.notice(lasting: .seconds(9))
    pace.interrupt()
    pace.consume(0, at: 50)
    let expected: [(bytes: UInt64, halves: UInt64)] = [
      (0, 0), (25, 2), (50, 4), (100, 5), (300, 7), (500, 8), (700, 9),
    ]
    for (bytes, halves) in expected {
      #expect(pace.time(at: bytes) == halves * second / 2)
      #expect(pace.position(at: halves * second / 2) == bytes)
    }
    // A file that grows continues like its average.
    #expect(pace.time(at: 1400) == 9 * second && pace.position(at: 9 * second) == 1400)
    #expect(pace.bitrate == 1244)
    for (size, offset) in [(50, 50), (200, 100), (400, 300)] as [(Int, UInt64)] {
      pace.notice(lasting: .seconds(1))
      pace.consume(size, at: offset)
    }
    #expect(pace.time(at: 700) == 5 * second && pace.bitrate == 1120)
  }

  @Test func numbersWithoutBound() {
    var pace = Self.pace(of: [1, .max - 1])
    pace.notice(lasting: ClockTime(nanoseconds: .max))
    pace.notice(lasting: .seconds(1))
    pace.consume(1, at: 0)
    #expect(pace.time(at: .max) == .max && pace.position(at: .max) == 1 && pace.bitrate == .max)
    var unknown = Self.pace(of: [])
    unknown.consume(1, at: nil)
    #expect(unknown.time(at: 1) == nil && !unknown.awaitsSamples)
  }

  @Test(arguments: [0, 1, 4095, 8192, 100_001, 4 << 20, 4 << 20 + 1, 9 << 30, .max] as [UInt64])
  func samplesMakeUpTheFile(_ size: UInt64) {
    let parts = FileSample.parts(of: size)
    #expect(parts.first?.start == (size > 0 ? 0 : nil) && parts.last?.end == (size > 0 ? size : nil))
    #expect(zip(parts, parts.dropFirst()).allSatisfy { $0.end == $1.start })
    for part in parts {
      #expect(part.size > 0 && part.window.lowerBound >= part.start && part.window.upperBound <= part.end)
      #expect(part.window.count > 0 && part.window.count <= ParserLimits.sampleSize + 1)
      #expect(size > 4 << 20 || part.window == part.start..<part.end)
    }
  }

  /// A rate beyond 64 bits is clamped to 32 bits.
  @Test func bitratesWithoutBound() {
    for nanoseconds in [1, 475, 476, 477, 478] as [UInt64] {
      var rates = BitrateRange()
      for _ in 0..<10 { _ = rates.add(bytes: 1 << 40, duration: ClockTime(nanoseconds: nanoseconds), average: nil) }
      #expect(rates.toTell == UInt32.max...UInt32.max)
    }
    var rates = BitrateRange()
    for _ in 0..<10 { _ = rates.add(bytes: 1, duration: .seconds(9), average: nil) }
    #expect(rates.toTell == 0...0)
  }

  // MARK: A frame's duration

  @Test(
    arguments: [
      (nil, nil, false, 100_000_000), ((1, 50, 2), nil, false, 40_000_000), ((1, 50, 1), nil, false, 20_000_000),
      ((1, 50, 2), (30, 1), true, 33_333_333), ((1, 2_000_000, 2), (20, 1), false, 50_000_000),
      ((1, 2_000, 2), nil, false, 1_000_000), ((1, 2, 2), (50, 1), false, 1_000_000_000),
      ((1, 1, 2), (50, 1), false, 20_000_000), (nil, (1000, 1), false, 1_000_000), (nil, (1, 1), false, 1_000_000_000),
      (nil, (1001, 1), false, 100_000_000), (nil, (1, 2), false, 100_000_000), (nil, (0, 1), false, 100_000_000),
    ] as [((UInt32, UInt32, UInt32)?, (Int32, Int32)?, Bool, UInt64)])
  func frameDurations(
    _ tick: (UInt32, UInt32, UInt32)?, _ rate: (Int32, Int32)?, _ isSenseless: Bool, _ expected: UInt64
  ) {
    var facts = SourceFacts()
    facts.tick = tick.map { FormatDescription.Tick(units: $0.0, timeScale: $0.1, perFrame: $0.2) }
    facts.frameRate = rate.map { GStreamer.Fraction($0.0, $0.1) }
    facts.isTickBeyondLevel = isSenseless
    #expect(facts.frameDuration == expected)
  }

  // MARK: The shift

  private static func time(_ milliseconds: UInt64) -> ClockTime { ClockTime(nanoseconds: milliseconds * 1_000_000) }

  @Test func theFirstPictureOfTheFirstSegmentDecides() {
    var shift = SegmentShift()
    shift.begin(with: .zero, needing: .second)
    #expect(!shift.isOpen && !shift.isShifted && !shift.awaitsAnnouncement)
    shift.beginSegment(false, sequenceNumber: 1)
    #expect(!shift.isOpen)
    shift.beginSegment(true, sequenceNumber: 7)
    #expect(shift.isOpen)
    shift.begin(with: Self.time(20), needing: Self.time(80))
    #expect(!shift.isOpen && shift.isShifted && shift.awaitsAnnouncement && shift.amount == Self.time(60))
    shift.begin(with: .zero, needing: .second)
    #expect(shift.amount == Self.time(60))
    #expect(shift.shifted(-60_000_000) == .zero && shift.shifted(-60_000_001) == .zero)
    #expect(shift.shifted(5) == ClockTime(nanoseconds: 60_000_005))
    #expect(shift.shifted(.max) == ClockTime(nanoseconds: UInt64(Int64.max)))
    let told = (shift.takeAnnouncement(), shift.takeAnnouncement())
    #expect(told.0?.amount == Self.time(60) && told.0?.sequenceNumber == 7 && told.1 == nil)
    #expect(!shift.awaitsAnnouncement && shift.isShifted)
    shift.beginSegment(true, sequenceNumber: 8)
    #expect(!shift.isOpen && !shift.isShifted && shift.amount == .zero)
    shift.beginStream()
    shift.beginSegment(true, sequenceNumber: 9)
    #expect(shift.isOpen)
  }

  @Test func whereNothingIsMissingNothingIsShifted() {
    var shift = SegmentShift()
    shift.beginSegment(true, sequenceNumber: 1)
    shift.begin(with: Self.time(80), needing: Self.time(80))
    #expect(!shift.isShifted && !shift.awaitsAnnouncement && !shift.isOpen)
    shift.beginSegment(true, sequenceNumber: 2)
    #expect(!shift.isOpen)
    // A picture with its times has been pushed: later ones change nothing.
    var other = SegmentShift()
    other.beginSegment(true, sequenceNumber: 1)
    other.close()
    other.begin(with: .zero, needing: .second)
    #expect(!other.isShifted)
    // No picture yet: the next segment decides.
    var third = SegmentShift()
    third.beginSegment(true, sequenceNumber: 1)
    third.beginSegment(true, sequenceNumber: 2)
    third.begin(with: .zero, needing: .second)
    let announcement = third.takeAnnouncement()
    #expect(announcement?.sequenceNumber == 2)
  }

  // MARK: Parameter sets in time

  @Test func parameterSetsAreDue() {
    var insertion = ParameterSetInsertion()
    func due(_ milliseconds: UInt64?, _ interval: Int32) -> Bool {
      insertion.takeDue(at: milliseconds.map { Self.time($0) }, interval: interval, hasOwn: false)
    }
    let never = [due(0, 0), due(nil, 0)]
    let always = [due(0, -1), due(nil, -1)]
    #expect(never == [false, false] && always == [true, true])
    // They were sent at 0.
    let timed = [due(1999, 2), due(2000, 2), due(2001, 2), due(nil, 2), due(3999, 2), due(4000, 2)]
    #expect(timed == [false, true, false, false, false, true])
    insertion.force()
    let forced = [due(4001, 2), due(4002, 2)]
    #expect(forced == [true, false])
    insertion.force()
    insertion.cancel()
    let cancelled = due(4003, 0)
    insertion.forgetTime()
    let anew = [due(nil, 2), due(4004, 2), due(4005, 2)]
    #expect(!cancelled && anew == [true, true, false])
  }

  // MARK: Where it is

  @Test func jumpsAreSeen() {
    var position = InputPosition()
    #expect(!position.isJump(to: 5))
    position.advance(by: 10, from: 5)
    #expect(!position.isJump(to: 15) && position.isJump(to: 14) && !position.isJump(to: nil))
    position.advance(by: 0, from: 100)
    #expect(!position.isJump(to: 15))
    position.advance(by: 1, from: nil)
    #expect(!position.isJump(to: 100))
    position.expectAgain(7)
    #expect(position.isJump(to: 8) && !position.isJump(to: 7))
  }

  @Test func segmentsEnd() {
    var playback = Playback()
    #expect(!playback.isOver(at: .second))
    playback.stop = .second
    #expect(playback.isOver(at: .second) && !playback.isOver(at: ClockTime(nanoseconds: 999_999_999)))
    #expect(!playback.isOver(at: nil))
  }

  /// The end of the input without an event: the output of the last frame goes first.
  @Test(
    arguments: [
      (.frame(size: 9), false, 9, true, true, .afterOutput), (.frame(size: 9), true, 9, true, true, .now),
      (.frame(size: 9), false, 10, true, true, .no), (.frame(size: 9), false, 9, false, true, .no),
      (.frame(size: 9), false, 9, true, false, .no), (.skip(9), false, 9, true, true, .now),
      (.skip(9), false, 10, true, true, .no), (.needsMoreData, false, 0, true, true, .now),
      (.needsMoreData, false, 1, true, true, .no),
    ] as [(ParseStep, Bool, Int, Bool, Bool, ParserAnswer.InputEnd)])
  func theEndIsSeen(
    _ step: ParseStep, _ isDropped: Bool, _ available: Int, _ isDraining: Bool, _ isPulling: Bool,
    _ expected: ParserAnswer.InputEnd
  ) {
    var intake = ParserIntake<H264>()
    var situation = ParserSituation()
    (situation.isDraining, situation.isPulling, situation.offset) = (isDraining, isPulling, 100)
    _ = intake.begin(situation)
    intake.warn(ElementError(.stream(.format), "A warning.", debug: ""))
    let answer = intake.answer(step, isDropped: isDropped, of: available, situation)
    let again = intake.answer(step, isDropped: isDropped, of: available, situation)
    #expect(answer.end == expected)
    // Told once.
    #expect(again.end == (expected == .afterOutput ? .no : expected))
    #expect(answer.warning?.message == "A warning." && again.warning == nil)
    #expect(answer.minimumFrameSize == 4 && again.minimumFrameSize == nil)
    // Finished bytes are not counted again; a jump in the data without an event is noticed.
    situation.offset = 100 + UInt64(2 * step.size)
    let isJump = intake.begin(situation)
    #expect(isJump == (isPulling && step.size > 0))
  }

  // MARK: No pictures

  @Test func reportsAStreamWithoutPictures() {
    var missing = ScannerErrors()
    missing.missingParameterSets = 2
    for (hasSets, errors, words) in [
      (false, ScannerErrors(), "no H.264 NAL unit that could be used"),
      (true, ScannerErrors(), "parameter sets without slices"),
      (false, missing, "slices without the parameter sets that they need"),
      (true, missing, "slices without the parameter sets that they need"),
    ] {
      var diagnosis = InputDiagnosis<H264>()
      let beforeData = diagnosis.end(hasParameterSets: hasSets, errors)
      #expect(beforeData == nil)
      diagnosis.noticeData()
      diagnosis.finish(40)
      diagnosis.finish(-1)
      diagnosis.finish(2)
      let first = diagnosis.end(hasParameterSets: hasSets, errors)
      let second = diagnosis.end(hasParameterSets: hasSets, errors)
      #expect(first?.code == .stream(.wrongType) && second == nil)
      #expect(first?.message == "There is no H.264 video in this stream: no picture found in 42 bytes.")
      #expect(
        first?.debug == "found \(words), expected an SPS, a PPS and coded slices behind start codes or lengths")
    }
  }

  @Test func anEndThatIsNoError() {
    var empty = InputDiagnosis<H265>()
    let file = empty.end(hasParameterSets: false, ScannerErrors(), isEmptyFile: true)
    #expect(file?.message == "There is no H.265 video in this stream: no picture found in 0 bytes.")
    var gaps = InputDiagnosis<H264>()
    gaps.noticeData()
    gaps.noticeGap()
    var pictures = InputDiagnosis<H264>()
    pictures.noticeData()
    pictures.noticePicture()
    #expect(pictures.pictureCount == 1)
    let ends = [
      gaps.end(hasParameterSets: false, ScannerErrors()), pictures.end(hasParameterSets: false, ScannerErrors()),
    ]
    #expect(ends.allSatisfy { $0 == nil })
    // A warning for the end: once until then, and never for a stream with pictures.
    var waiting = InputDiagnosis<H264>()
    waiting.noticeData()
    var news = [waiting.awaitEnd(), waiting.awaitEnd()]
    _ = waiting.end(hasParameterSets: false, ScannerErrors())
    news += [waiting.awaitEnd(), pictures.awaitEnd()]
    #expect(news == [true, false, true, false])
  }

  // MARK: Packaging

  @Test(
    arguments: [
      (.byteStream, nil, nil, "byte-stream/au"), (.byteStream, .nalUnit, nil, "byte-stream/nal"),
      (.outOfBand, .accessUnit, "", "avc/au"), (.byteStream, .nalUnit, "EMPTY", "byte-stream/nal"),
      (.byteStream, .nalUnit, "stream-format=byte-stream, alignment={au, nal}", "byte-stream/nal"),
      (.byteStream, .nalUnit, "stream-format=byte-stream, alignment=au", "byte-stream/au"),
      (.byteStream, .accessUnit, "stream-format=byte-stream, alignment=nal", "byte-stream/nal"),
      (.byteStream, nil, "stream-format=byte-stream, alignment={nal, au}", "byte-stream/au"),
      (.byteStream, nil, "stream-format=byte-stream, alignment=nal", "byte-stream/nal"),
      (.outOfBand, .accessUnit, "stream-format={avc3, avc}, alignment=au", "avc/au"),
      (.outOfBand, .accessUnit, "stream-format=avc3, alignment=au", "avc3/au"),
      (.inBand, .accessUnit, "stream-format=byte-stream, alignment=nal", "byte-stream/nal"),
      (.outOfBand, .accessUnit, "stream-format=byte-stream", "byte-stream/au"),
    ] as [(StreamFormat<H264>, StreamAlignment?, String?, String)])
  func packagings(
    _ input: StreamFormat<H264>, _ alignment: StreamAlignment?, _ downstream: String?, _ expected: String
  ) {
    let allowed: Caps? = downstream.flatMap { fields in
      Caps(parsing: fields == "EMPTY" ? fields : fields.isEmpty ? "video/x-h264" : "video/x-h264, \(fields)")
    }
    let packaging = OutputPackaging<H264>(from: input, alignment, allowed: allowed)
    #expect("\(packaging.format.rawValue)/\(packaging.alignment.rawValue)" == expected)
    #expect(packaging.caps.description.contains("parsed=(boolean)true"))
  }

  @Test func searchesTheStreamForParameterSetsAfterOutOfBandOnes() {
    func packaging(_ format: StreamFormat<H264>) -> OutputPackaging<H264> {
      OutputPackaging(format: format, alignment: .accessUnit)
    }
    #expect(packaging(.inBand).looksForSets(after: packaging(.outOfBand)))
    #expect(packaging(.byteStream).looksForSets(after: packaging(.outOfBand)))
    #expect(!packaging(.outOfBand).looksForSets(after: packaging(.outOfBand)))
    #expect(!packaging(.byteStream).looksForSets(after: packaging(.inBand)))
    #expect(!packaging(.byteStream).looksForSets(after: nil))
  }

  // MARK: Statistics

  @Test func groupsAreMeasured() {
    var statistics = ParserStatistics()
    func count(_ bytes: Int, _ contents: AccessUnitContents, _ isKey: Bool) {
      statistics.count(bytes, contents, isRandomAccessPoint: isKey)
    }
    count(10, [.accessUnitStart, .slice], false)
    count(100, [.accessUnitStart, .slice, .idr], true)
    count(1, [.slice], true)
    #expect(statistics.shortestGroup == 0 && statistics.longestGroup == 0)
    for _ in 0..<4 { count(10, [.accessUnitStart, .slice], false) }
    count(100, [.accessUnitStart, .slice], true)
    #expect(statistics.shortestGroup == 5 && statistics.longestGroup == 5)
    count(100, [.accessUnitStart, .slice, .idr], true)
    for _ in 0..<6 { count(10, [.accessUnitStart, .slice], false) }
    count(100, [.accessUnitStart, .slice, .idr], true)
    #expect(statistics.shortestGroup == 1 && statistics.longestGroup == 7)
    #expect(statistics.accessUnits == 15 && statistics.idrPictures == 3 && statistics.bytes == 511)
    statistics.skip(30)
    statistics.skip(3)
    (statistics.parameterSetChanges, statistics.seiErrors) = (17, 18)
    (statistics.nalUnits[1], statistics.nalUnits[63], statistics.nalUnits[0]) = (19, 20, 1)
    statistics.errors.parameterSets = 21
    statistics.errors.slices = 22
    statistics.errors.missingParameterSets = 23
    statistics.errors.nalUnits = 24
    statistics.errors.lengths = 25
    let text = statistics.structure("numbers").words()
    for field in [
      "access-units=(guint64)15", "idr-pictures=(guint64)3", "gop-length-min=(guint64)1", "gop-length-max=(guint64)7",
      "bytes=(guint64)511", "bytes-skipped=(guint64)33", "parameter-set-changes=(guint64)17", "nal-units=(guint64)40",
      "type-0", "type-1", "type-63", "parameter-sets", "missing-parameter-sets",
    ] {
      #expect(text.contains(field), "\(field)")
    }
  }

  // MARK: SEI

  @Test func noMoreIsKeptOfSEIThanAnyoneNeeds() throws {
    var content = SEIContent()
    #expect(!content.concernsBuffer)
    let caption: [UInt8] = [0xB5, 0, 0x31] + Array("GA94".utf8) + [3, 0xC1, 0xFF, 0xFC, 0x94, 0x20, 0xFF]
    let nalUnit = seiNALUnit([(.userDataUnregistered, [UInt8](1...20)), (.userDataRegistered, caption)])
    var messages = SEIMessages(nalUnit.span, headerLength: 1)
    while let message = try messages.next() {
      for _ in 0..<300 {
        if message.type == .userDataUnregistered {
          content.take(try UnregisteredUserData(message))
        } else {
          content.take(try RegisteredUserData(message))
        }
      }
    }
    #expect(content.userData.count == 256 && content.captions.count == 256 && content.concernsBuffer)
  }

  @Test func fieldsTakeTurnsInTimeCodes() {
    var display = PictureDisplay()
    display.timeCodes = (0..<3).map { index in
      var timestamp = ClockTimestamp()
      (timestamp.frames, timestamp.countingType) = (UInt16(index), UInt8(4 + index))
      return PictureDisplay.TimeCode(timestamp, fieldCount: 9)
    }
    #expect(display.timeCodes.map(\.dropsFrames) == [true, false, true])
    #expect(display.timeCodes.map(\.fieldCount) == [9, 9, 9] && display.timeCodes.map(\.hours) == [0, 0, 0])
    for (isTopFirst, counts) in [(true, [1, 2, 1]), (false, [2, 1, 2]), (nil, [0, 0, 0])] as [(Bool?, [UInt32])] {
      display.orderTimeCodes(isTopFirst: isTopFirst)
      #expect(display.timeCodes.map(\.fieldCount) == counts)
      #expect(display.timeCodes.map(\.isInterlaced) == [Bool](repeating: isTopFirst != nil, count: 3))
    }
  }
}
