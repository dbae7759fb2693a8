// SPDX-License-Identifier: MPL-2.0
import Testing

@testable import StreamReport

@Suite struct JSONReaderTests {
  private static func tokens(_ text: String) throws -> [JSONReader.Token] {
    var reader = JSONReader(BytesSource(Array(text.utf8)))
    var tokens: [JSONReader.Token] = []
    while true {
      let token = try reader.next()
      guard token != .end else { return tokens }
      tokens.append(token)
    }
  }

  private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  @Test func readsAllKindsOfValues() throws {
    let text = "\u{FEFF} {\"a\" : [1, -20, 1.5, 3e2, true, false, null], \"b\\n\\u0041\\u20ac\": {} }\n[]"
    let bytes = Self.bytes
    #expect(
      try Self.tokens(text) == [
        .object, .key(bytes("a")), .array, .number(1), .number(-20), .number(nil), .number(nil), .truth(true),
        .truth(false), .null, .close, .key(bytes("b\nA?")), .object, .close, .close, .array, .close,
      ])
    #expect(try Self.tokens("\(Int64.max / 40) 99999999999999999999") == [.number(Int64.max / 40), .number(nil)])
    #expect(try Self.tokens(" \n ") == [])
  }

  @Test(arguments: [
    "{", "[", "[1", "[1,", "{\"a\"", "{\"a\":", "{\"a\" 1}", "{\"a\":1,}", "[1 2]", "[,1]", "{1:2}", "]", "}", "[}",
    "{]", "nul", "truely", "\"a", "\"\\x\"", "\"\\u12\"", "\"\n\"", "{\"a\":1 \"b\":2}", "'a'",
  ]) func refusesOtherText(text: String) {
    #expect(throws: MetadataFileError.self) { try Self.tokens(text) }
  }

  @Test func countsLines() throws {
    var reader = JSONReader(BytesSource(Self.bytes("{\n\"a\":\n\n 1,\n \"b\": x")))
    for line in [1, 2, 4, 5] {
      _ = try reader.next()
      #expect(reader.line == line)
    }
    do throws(MetadataFileError) {
      _ = try reader.next()
      Issue.record("x is no value")
    } catch { #expect(error.place == .line(5)) }
  }

  /// Values that are not needed are skipped, however they are nested, up to a depth.
  @Test func skipsValues() throws {
    let deep = String(repeating: "[", count: 20) + "{\"x\": [1, {}]}" + String(repeating: "]", count: 20)
    var reader = JSONReader(BytesSource(Self.bytes("{\"a\": \(deep), \"b\": \"]\", \"c\": 5}")))
    var last: Int64?
    try reader.object(["c", "b"]) { reader, member throws(MetadataFileError) in
      if member == 0 { last = try reader.number("c", in: 0...9) } else { try reader.skip() }
    }
    #expect(last == 5)
    let isAtEnd = reader.isAtEnd()
    #expect(isAtEnd)
  }
}
