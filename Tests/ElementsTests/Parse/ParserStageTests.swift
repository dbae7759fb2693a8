// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

@testable import Elements
@testable import H26x

/// The parser's stages that are values, by their results.
@Suite struct ParserStageTests {
  init() { Harness.initialise() }

  // MARK: A frame's duration

  @Test(
    arguments: [
      (nil, nil, false, 100_000_000), ((1, 50, 2), nil, false, 40_000_000), ((1, 50, 1), nil, false, 20_000_000),
      ((1, 50, 2), (30, 1), true, 33_333_333), ((1, 2_000_000, 2), (20, 1), false, 50_000_000),
      ((1, 2_000, 2), nil, false, 1_000_000), ((1, 2, 2), (50, 1), false, 1_000_000_000),
      ((1, 1, 2), (50, 1), false, 20_000_000), (nil, (1000, 1), false, 1_000_000), (nil, (1, 1), false, 1_000_000_000),
      (nil, (1001, 1), false, 100_000_000), (nil, (1, 2), false, 100_000_000), (nil, (0, 1), false, 100_000_000),
    ] as [((UInt32, UInt32, UInt32)?, (Int32, Int32)?, Bool, UInt64)])
  func findsTheFrameDuration(
    _ tick: (UInt32, UInt32, UInt32)?, _ rate: (Int32, Int32)?, _ isSenseless: Bool, _ expected: UInt64
  ) {
    var timing = StreamTiming()
    timing.tick = tick.map { FormatDescription.Tick(units: $0.0, timeScale: $0.1, perFrame: $0.2) }
    timing.frameRate = rate.map { Fraction($0.0, $0.1) }
    timing.isTickBeyondLevel = isSenseless
    #expect(timing.frameDuration == expected)
  }

  // MARK: The shift

  private static func time(_ milliseconds: UInt64) -> ClockTime { ClockTime(nanoseconds: milliseconds * 1_000_000) }

  @Test func theFirstPictureDecidesTheShift() {
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
    let announcement = shift.takeAnnouncement()
    #expect(announcement?.amount == Self.time(60) && announcement?.sequenceNumber == 7)
    #expect(!shift.awaitsAnnouncement && shift.isShifted)
    shift.beginSegment(true, sequenceNumber: 8)
    #expect(!shift.isOpen && shift.awaitsAnnouncement && shift.amount == Self.time(60))
    shift.flush()
    #expect(!shift.isOpen && !shift.isShifted && !shift.awaitsAnnouncement)
    shift.beginSegment(true, sequenceNumber: 8)
    #expect(!shift.isOpen && !shift.isShifted && shift.amount == .zero)
    shift.beginStream()
    shift.beginSegment(true, sequenceNumber: 9)
    #expect(shift.isOpen)
  }

  @Test func segmentsWithEnoughRoomAreNotShifted() {
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

  @Test func parameterSetsAreDueAfterTheInterval() {
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

  @Test func detectsJumpsOfTheInput() {
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

  @Test func playbackIsOverAtTheStop() {
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
  func detectsTheEndOfTheInput(
    _ step: ParseStep, _ isDropped: Bool, _ available: Int, _ isDraining: Bool, _ isPulling: Bool,
    _ expected: ParserAnswer.InputEnd
  ) {
    var intake = ParserIntake<H264>()
    var snapshot = InputSnapshot()
    (snapshot.isDraining, snapshot.isPulling, snapshot.offset) = (isDraining, isPulling, 100)
    _ = intake.begin(snapshot)
    intake.warn(ElementError(.stream(.format), "A warning.", debug: ""))
    let answer = intake.answer(step, isDropped: isDropped, of: available, snapshot)
    let again = intake.answer(step, isDropped: isDropped, of: available, snapshot)
    #expect(answer.end == expected)
    // Told once.
    #expect(again.end == (expected == .afterOutput ? .no : expected))
    #expect(answer.warning?.message == "A warning." && again.warning == nil)
    #expect(answer.minimumFrameSize == 4 && again.minimumFrameSize == nil)
    // Finished bytes are not counted again; a jump in the data without an event is noticed.
    snapshot.offset = 100 + UInt64(2 * step.size)
    let isJump = intake.begin(snapshot)
    #expect(isJump == (isPulling && step.size > 0))
  }

  // MARK: No pictures

  @Test func reportsAStreamWithoutPictures() {
    var missing = ScannerErrors()
    missing.missingParameterSets = 2
    for (hasSets, errors, words) in [
      (false, ScannerErrors(), "no H.264 NAL unit that is usable"),
      (true, ScannerErrors(), "parameter sets without slices"),
      (false, missing, "slices without their parameter sets"),
      (true, missing, "slices without their parameter sets"),
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
        first?.debug == "found \(words), expected an SPS, a PPS and coded slices after start codes or lengths")
    }
  }

  @Test func decidesWhetherAnEndIsAnError() {
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
  func choosesTheOutputPackaging(
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

  @Test func measuresGroupLengths() {
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

  @Test func boundsTheSEIThatIsKept() throws {
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

  @Test func timeCodesCountAlternatingFields() {
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
