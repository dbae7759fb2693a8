// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import HarnessSupport
import Testing

@Suite struct ClockTimeTests {
  /// Without a valid name C makes no structure at all.
  @Test(arguments: [("good-1", "good-1"), ("1 bad", "x1-bad"), ("", "x"), ("é", "x--"), ("A.b/c", "A.b/c")])
  func makesStructureNamesValid(name: String, expected: String) {
    let made = Structure(name)
    #expect(made.view.name == expected)
  }

  @Test func clockTimeNoneIsNil() {
    #expect(ClockTime(raw: .max) == nil)
    #expect(ClockTime(raw: 0) == .zero)
    #expect(ClockTime(nanoseconds: .max).nanoseconds == UInt64.max - 1)
  }

  @Test func arithmeticSaturates() {
    let last = ClockTime(nanoseconds: .max)
    #expect(last + .second == last)
    #expect(ClockTime.zero - .second == .zero)
    #expect(ClockTime.seconds(.max) == last)
    #expect(ClockTime.second + .second == ClockTime.seconds(2))
  }

  @Test func convertsDurationsBothWays() {
    #expect(ClockTime(.milliseconds(1500)) == .milliseconds(1500))
    #expect(ClockTime(.seconds(-1)) == .zero && ClockTime(.nanoseconds(-1)) == .zero)
    #expect(ClockTime(.seconds(Int64.max)) == ClockTime(nanoseconds: .max))
    #expect(ClockTime.milliseconds(.max) == ClockTime(nanoseconds: .max))
    #expect(Duration(ClockTime(nanoseconds: 3_000_000_007)) == .seconds(3) + .nanoseconds(7))
    #expect(ClockTime(Duration(ClockTime(nanoseconds: .max))) == ClockTime(nanoseconds: .max))
  }

  @Test func valuesHaveReadableDescriptions() {
    #expect("\(ClockTime.milliseconds(3_661_500) + ClockTime(nanoseconds: 9))" == "1:01:01.500000009")
    #expect("\(ClockTime.zero)" == "0:00:00.000000000")
    #expect("\(FlowError.notNegotiated), \(FlowError.endOfStream)" == "not-negotiated, eos")
    #expect("\(ElementError(.stream(.decode), "It is enough.", debug: "more"))" == "It is enough.")
    let values: [FieldValue] = [1, 0.5, true, "text", .fraction(Fraction(25, 1)), .strings(["a", "b"]), .uint64(.max)]
    #expect(values.map { "\($0)" } == ["1", "0.5", "true", "text", "25/1", "{ a, b }", "18446744073709551615"])
  }

  @Test(arguments: [
    (UInt64(30), UInt32(1001), UInt32(30_000), UInt64(1_001_000_000)),
    (1, 1, 3, 333_333_333), (0, 1, 25, 0), (5, 1, 0, 0), (.max, .max, 1, .max - 1),
    (.max, 1, .max, 4_294_967_297_000_000_000),
  ])
  func convertsFrameCountsToTime(count: UInt64, numerator: UInt32, denominator: UInt32, nanoseconds: UInt64) {
    #expect(ClockTime.seconds(count, times: numerator, over: denominator).nanoseconds == nanoseconds)
  }
}

/// Which versions of GStreamer copy user data of 0 bytes.
@Test(
  arguments: [
    ((1, 22, 0), false), ((1, 22, 12), false), ((1, 24, 11), false), ((1, 24, 12), true), ((1, 24, 13), true),
    ((1, 25, 1), false), ((1, 25, 90), false), ((1, 26, 0), true), ((1, 28, 1), true), ((2, 0, 0), true),
    ((0, 10, 36), false),
  ] as [((guint, guint, guint), Bool)])
func knowsWhichVersionsCopyEmptyUserData(version: (guint, guint, guint), isLeft: Bool) {
  #expect((cgst_takes_empty_user_data(version.0, version.1, version.2) != 0) == isLeft)
}

@Suite struct CapsTests {
  init() { Harness.initialise() }

  @Test func fieldsAreReadAsTheirTypes() throws {
    let caps = try parse(
      "video/x-h264, width=176, framerate=30000/1001, parsed=true, stream-format={avc, byte-stream}, profile=main")
    let fields = caps.first
    check(fields.name == "video/x-h264")
    check(fields.int("width") == 176)
    check(fields.int("profile") == nil)
    check(fields.fraction("framerate") == Fraction(30000, 1001))
    check(fields.boolean("parsed") == true)
    check(fields.string("stream-format") == nil)
    check(fields.strings("stream-format") == ["avc", "byte-stream"])
    check(fields.strings("profile") == ["main"])
    check(fields.strings("level") == [])
    check(!caps.isFixed)
  }

  @Test func fieldsAreSetOnEveryStructure() throws {
    var caps = try parse("video/x-h264, alignment=au; video/x-h264, alignment=nal")
    caps.set("width", .int(16))
    caps.set("stream-format", .strings(["avc", "avc3"]))
    caps.set("codec_data", try unwrap(Buffer(copying: [1, 2, 3].span)))
    for index in 0..<2 {
      check(caps[index].int("width") == 16)
      check(caps[index].strings("stream-format") == ["avc", "avc3"])
      let bytes = try caps[index].buffer("codec_data")?.copiedBytes()
      check(bytes == [1, 2, 3])
    }
    check(caps[2].name == "none")
    caps.remove("width")
    check(caps[0].int("width") == nil)
  }

  @Test func aChangeIsNotSeenByOtherOwners() throws {
    let original = try parse("video/x-raw, width=1")
    var copy = original.share()
    copy.set("width", .int(2))
    check(original.first.int("width") == 1)
    check(copy.first.int("width") == 2)
  }

  @Test func comparesAndIntersectsCaps() throws {
    let all = try parse("video/x-h264, alignment={au, nal}")
    let nal = try parse("video/x-h264, alignment=nal")
    check(nal.isSubset(of: all))
    check(all.canIntersect(nal))
    check(all.intersection(nal).isEqual(to: nal))
    check(Caps.empty().isEmpty && Caps.any().isAny)
    let isNonsense = Caps(parsing: "video/x-h264, width=(") == nil
    check(isNonsense)
    let second = try unwrap(parse("a/b; c/d").structure(at: 1))
    check(second.first.name == "c/d")
    let third = try parse("a/b; c/d").structure(at: 2) == nil
    check(third)
  }
}

@Suite struct BufferTests {
  init() { Harness.initialise() }

  @Test func regionsShareMemory() throws {
    let whole = try unwrap(Buffer(copying: [0, 1, 2, 3, 4].span))
    let part = try unwrap(whole.region(1..<3))
    try check(part.copiedBytes() == [1, 2])
    let outside = whole.region(4..<6) == nil
    check(outside)
    var prefixed = part.share()
    prefixed.prepend(try unwrap(Buffer(copying: [9].span)))
    try check(prefixed.copiedBytes() == [9, 1, 2])
    try check(part.copiedBytes() == [1, 2])
  }

  @Test func setsTimestampsAndFlags() throws {
    var buffer = Buffer()
    check(buffer.pts == nil && buffer.dts == nil && buffer.duration == nil && buffer.size == 0)
    buffer.pts = .second
    buffer.flags.insert([.deltaUnit, .marker])
    var other = buffer.share()
    other.pts = nil
    other.flags.remove(.marker)
    check(buffer.pts == .second && other.pts == nil)
    check(buffer.flags.contains(.marker) && !other.flags.contains(.marker) && other.flags.contains(.deltaUnit))
  }

  @Test func anEmptyBufferMapsToNoBytes() throws {
    let buffer = Buffer()
    let map = try buffer.map()
    check(map.bytes.isEmpty)
  }
}

/// `#expect` copies parts of its argument, which noncopyable values do not allow.
private func check(_ condition: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
  #expect(condition, sourceLocation: sourceLocation)
}

struct Missing: Error {}

/// `#require` for noncopyable values.
func unwrap<Value: ~Copyable>(_ value: consuming Value?) throws -> Value {
  guard let value else { throw Missing() }
  return value
}

private func parse(_ text: String) throws -> Caps {
  guard let caps = Caps(parsing: text) else { throw Missing() }
  return caps
}
