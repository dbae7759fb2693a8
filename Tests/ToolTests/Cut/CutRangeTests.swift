// SPDX-License-Identifier: MPL-2.0
import AVFormat
import GStreamer
import Testing

@testable import Containers

/// The texts of positions and ranges, and the parts of a video that they name.
@Suite struct CutRangeTests {
  private static let second: Int64 = 1_000_000_000

  private static func seconds(_ seconds: Int64) -> CutPosition { .time(seconds * second) }

  private static func message(_ steps: () throws -> Void) -> String? {
    do { try steps() } catch let failure as Failure { return failure.message } catch { return "\(error)" }
    return nil
  }

  // MARK: Texts

  @Test(arguments: [
    ("0", 0), ("90", 90_000), ("1:30", 90_000), ("1:02:03.5", 3_723_500), ("0.25", 250), ("00:00:01", 1000),
    ("100:00", 6_000_000), ("5.", 5000), (".5", 500),
  ])
  func readsTimes(text: String, milliseconds: UInt64) {
    #expect(ClockTime(text: text) == .milliseconds(milliseconds))
  }

  @Test(arguments: [
    "", ".", "-1", "+1", "1e3", "0x10", "1:60", "1:-2", "1:+2:3", "1:2:3:4", ":1", "1:", "1:2.5:3", " 1", "1 ", "inf",
    "nan", "1000000000", "1.2.3", "1,5", "٣", "99999999:00:00",
  ])
  func refusesOtherTimes(text: String) {
    #expect(ClockTime(text: text) == nil)
  }

  @Test func roundsTimesToNanoseconds() {
    #expect(ClockTime(text: "0.0000000006") == ClockTime(nanoseconds: 1))
    #expect(ClockTime(text: "999999:999999:59.9") != nil)
  }

  @Test(arguments: [("#0", 0), ("#7", 7), ("#007", 7), ("#9223372036854775807", Int.max)])
  func readsPictures(text: String, number: Int) {
    #expect(CutPosition(text: text) == .picture(number))
  }

  @Test(arguments: ["#", "#-1", "#+1", "##1", "# 1", "#1.5", "#a", "#9223372036854775808", "1#"])
  func refusesOtherPictures(text: String) {
    #expect(CutPosition(text: text) == nil)
  }

  @Test(
    arguments: [
      ("1-2", seconds(1), seconds(2)), ("1:00-", seconds(60), nil), ("-0:01:00", seconds(0), seconds(60)),
      ("#3-#9", .picture(3), .picture(9)), ("5-#9", seconds(5), .picture(9)), ("#9-5", .picture(9), seconds(5)),
      ("-#1", seconds(0), .picture(1)), ("#0-", .picture(0), nil),
    ] as [(String, CutPosition, CutPosition?)])
  func readsRanges(text: String, start: CutPosition, end: CutPosition?) throws {
    let range = try CutRange(text: text)
    #expect(range.start == start && range.end == end && range.name == nil)
    #expect(try CutRange(text: range.text) == range)
  }

  @Test(arguments: ["", "-", "5", "#5", "1-2-3", "a-b", "1-x", "#-5", "1 - 2", "--", "-1-2", "1–2"])
  func refusesTextsThatAreNoRange(text: String) {
    let message = Self.message { _ = try CutRange(text: text) }
    #expect(message?.hasPrefix("range \(text): expected A-B, A- or -B") == true)
    #expect(message?.contains("\n") == false)
  }

  @Test(arguments: ["1-1", "2-1", "#4-#4", "#5-#4", "-0", "-#0", "5-#0", "#5-0", "0-0"])
  func refusesRangesThatAreEmptyOrReversed(text: String) {
    let message = Self.message { _ = try CutRange(text: text) }
    #expect(message?.hasPrefix("range ") == true && message?.hasSuffix("its end is not after its start") == true)
  }

  // MARK: Parts of a video

  /// Eight pictures, not equally far apart.
  private static let pictures = [0, 1, 2, 3, 5, 6, 8, 9].map { $0 * second }
  private static let duration = 10 * second

  private static func ranges(_ request: CutRequest) throws -> [ResolvedRange] {
    try request.ranges(duration: duration, pictureTimes: request.needsPictureTimes ? pictures : [])
  }

  private static func ranges(_ texts: [String]) throws -> [CutRange] { try texts.map { try CutRange(text: $0) } }

  private static func part(_ start: Int64, _ end: Int64?, _ missing: CutPosition? = nil) -> ResolvedRange {
    ResolvedRange(start: start * second, end: end.map { $0 * second }, missingEnd: missing)
  }

  @Test(arguments: [
    ("1-2", part(1, 2)), ("9-", part(9, nil)), ("9-10", part(9, nil)), ("9-11", part(9, nil, seconds(11))),
    ("-10.0003", part(0, nil)), ("#4-#6", part(5, 8)), ("#4-6", part(5, 6)), ("6-#6", part(6, 8)),
    ("#7-#8", part(9, nil)), ("#7-#9", part(9, nil, .picture(9))), ("-#1", part(0, 1)),
  ])
  func findsThePart(text: String, part: ResolvedRange) throws {
    #expect(try Self.ranges(.ranges(Self.ranges([text]))) == [part])
  }

  @Test(arguments: [
    ("10-", "the video ends before 0:00:10.000: it lasts 0:00:10.000"), ("11-12", "the video ends before 0:00:11.000"),
    ("#8-", "the video ends before #8: it has 8 pictures"), ("6-#5", "its end is not after its start"),
    ("#6-6", "its end is not after its start"), ("#6-8", "its end is not after its start"),
  ])
  func refusesPartsThatTheVideoDoesNotHave(text: String, reason: String) {
    for request in [CutRequest.ranges, CutRequest.removals] {
      let message = Self.message { _ = try Self.ranges(request(try Self.ranges([text]))) }
      #expect(message?.hasPrefix("range ") == true && message?.contains(reason) == true, "\(message ?? "none")")
    }
  }

  @Test func keepsOrderOverlapAndNamesOfRanges() throws {
    let request = CutRequest.ranges([try CutRange(start: Self.seconds(4), name: "b"), try CutRange(text: "3-5")])
    var named = Self.part(4, nil)
    named.name = "b"
    #expect(try Self.ranges(request) == [named, Self.part(3, 5)])
  }

  @Test(arguments: [
    (["2-3", "3-5", "5-"], [part(2, nil)]), (["2-3", "4-5", "5-6"], [part(2, 3), part(4, 6)]),
    (["3-5", "2-3"], [part(3, 5), part(2, 3)]), (["2-4", "3-5"], [part(2, 4), part(3, 5)]),
    (["2-", "2-"], [part(2, nil), part(2, nil)]),
  ])
  func joinsRangesThatContinueOneAnother(texts: [String], joined: [ResolvedRange]) throws {
    #expect(try Self.ranges(.ranges(Self.ranges(texts))).joined == joined)
  }

  @Test(arguments: [
    (["2-3"], [part(0, 2), part(3, nil)]), (["-3"], [part(3, nil)]), (["3-"], [part(0, 3)]),
    (["5-6", "2-3"], [part(0, 2), part(3, 5), part(6, nil)]), (["2-5", "3-4"], [part(0, 2), part(5, nil)]),
    (["2-4", "3-5", "5-6"], [part(0, 2), part(6, nil)]), (["2-", "4-5"], [part(0, 2)]),
    (["#1-#4", "-#1"], [part(5, nil)]), (["8-20"], [part(0, 8)]), ([], [part(0, nil)]),
  ])
  func keepsEverythingBetweenRemovals(texts: [String], kept: [ResolvedRange]) throws {
    #expect(try Self.ranges(.removals(Self.ranges(texts))) == kept)
  }

  @Test(arguments: [["0-"], ["-5", "4-20"], ["#0-#8"]]) func refusesToRemoveEverything(texts: [String]) {
    #expect(Self.message { _ = try Self.ranges(.removals(Self.ranges(texts))) }?.hasPrefix("nothing is left") == true)
  }

  @Test(
    arguments: [
      (10, [part(0, nil)]), (11, [part(0, nil)]), (5, [part(0, 5), part(5, nil)]),
      (4, [part(0, 4), part(4, 8), part(8, nil)]),
    ] as [(Int64, [ResolvedRange])])
  func cutsIntoPieces(length: Int64, pieces: [ResolvedRange]) throws {
    #expect(try Self.ranges(.pieces(length * Self.second)) == pieces)
  }

  @Test func givesAPieceThatIsTooShortToItsNeighbor() throws {
    let request = CutRequest.pieces(5 * Self.second)
    #expect(try request.ranges(duration: Self.duration + 400_000) == [Self.part(0, 5), Self.part(5, nil)])
  }

  @Test(arguments: [0, -1, 1, second / 100_000]) func refusesPiecesThatAreTooShort(length: Int64) {
    #expect(throws: Failure.self) { try Self.ranges(.pieces(length)) }
  }

  @Test func needsADurationForPiecesAlone() throws {
    #expect(CutRequest.pieces(1).needsDuration && !CutRequest.chapters.needsDuration)
    #expect(throws: Failure.self) { try CutRequest.pieces(Self.second).ranges(duration: nil) }
    let ranges = CutRequest.ranges(try Self.ranges(["5-500"]))
    #expect(try !ranges.needsDuration && ranges.ranges(duration: nil) == [Self.part(5, 500)])
  }

  @Test func cutsAtChapters() throws {
    let second = Self.second
    let chapters = [
      CutChapter(start: -second, end: 2 * second, title: "Opening"), CutChapter(start: 2 * second, end: 2 * second),
      CutChapter(start: 2 * second, end: 4 * second), CutChapter(start: 8 * second, end: 12 * second, title: "End"),
      CutChapter(start: 10 * second, end: 12 * second, title: "Nothing"), CutChapter(start: .min, end: .max),
    ]
    let parts = try CutRequest.chapters.ranges(duration: Self.duration, chapters: chapters)
    #expect(parts.map(\.name) == ["Opening", nil, "End", nil])
    #expect(
      parts.map(\.start) == [0, 2 * second, 8 * second, 0] && parts.map(\.end) == [2 * second, 4 * second, nil, nil])
    #expect(throws: Failure.self) { try CutRequest.chapters.ranges(duration: Self.duration) }
  }

  @Test func readsChaptersSinceTheFirstPicture() {
    let base = TimeBase(1, 1000) ?? .nanoseconds
    let chapter = Chapter(id: 1, timeBase: base, start: 1500, end: 4000, metadata: MetadataDictionary(["title": "One"]))
    #expect(
      CutChapter(chapter, origin: Self.second) == CutChapter(start: Self.second / 2, end: 3 * Self.second, title: "One")
    )
    let extreme = CutChapter(
      Chapter(id: 1, timeBase: .nanoseconds, start: .min, end: .max, metadata: MetadataDictionary()), origin: -1)
    #expect(extreme.start == .min + 1 && extreme.end == .max && extreme.title == nil)
  }
}
