// SPDX-License-Identifier: MPL-2.0
import TestSupport
import Testing

@testable import Containers

/// Files with ranges.
@Suite struct CutListTests {
  private static func list(_ text: String) throws -> CutList { try CutList(Array(text.utf8), name: "list") }

  private static func message(_ bytes: [UInt8]) -> String? {
    do throws(Failure) { _ = try CutList(bytes, name: "list") } catch { return error.message }
    return nil
  }

  /// The ranges and their names, for tables.
  private static func texts(_ list: CutList) -> [String] {
    list.ranges.map { range in range.text + (range.name.map { " \($0)" } ?? "") }
  }

  @Test(arguments: [
    ("0,10,One", ["0:00:00.000-0:00:10.000 One"]), ("1:30,2:00", ["0:01:30.000-0:02:00.000"]),
    ("0,10,", ["0:00:00.000-0:00:10.000"]), (",10", ["0:00:00.000-0:00:10.000"]), ("10,,last", ["0:00:10.000- last"]),
    (",", ["0:00:00.000-"]), ("#3,#9,a", ["#3-#9 a"]), ("  1 ,\t2 , a b ", ["0:00:01.000-0:00:02.000 a b"]),
    (#"1,2,"a, ""b""""#, [#"0:00:01.000-0:00:02.000 a, "b""#]), (#""1" , "2","x" "#, ["0:00:01.000-0:00:02.000 x"]),
    (#"1,2,"""#, ["0:00:01.000-0:00:02.000"]), (#"1,2,a"b"#, [#"0:00:01.000-0:00:02.000 a"b"#]),
    ("start,end,name\n1,2,x\n", ["0:00:01.000-0:00:02.000 x"]), ("1,2,Grüße 🎬", ["0:00:01.000-0:00:02.000 Grüße 🎬"]),
    ("# a list, with a comment\n\n#1,#2\n  # 5\n#,\n#x,1\n3,4", ["#1-#2", "0:00:03.000-0:00:04.000"]),
    ("1,2\r\n3,4\r\n", ["0:00:01.000-0:00:02.000", "0:00:03.000-0:00:04.000"]),
    ("1,2\r3,4", ["0:00:01.000-0:00:02.000", "0:00:03.000-0:00:04.000"]),
    ("\u{FEFF}1,2", ["0:00:01.000-0:00:02.000"]),
  ])
  func readsCSV(text: String, ranges: [String]) throws {
    let list = try Self.list(text)
    #expect(!list.isRemoval && Self.texts(list) == ranges)
    #expect(CutRequest(list) == .ranges(list.ranges))
  }

  @Test(arguments: [
    ("0.00\t12.50\t0\n20 30 3", ["0:00:00.000-0:00:12.500", "0:00:20.000-0:00:30.000"]),
    ("1 2 1\n3 4 2\n5 6 0\n", ["0:00:05.000-0:00:06.000"]), ("5 5 2", []), ("#10  #20 0", ["#10-#20"]),
    ("0:01:00 0:02:00.5 3\r\n", ["0:01:00.000-0:02:00.500"]), ("# made by hand\n1 2 0", ["0:00:01.000-0:00:02.000"]),
  ])
  func readsEDL(text: String, removals: [String]) throws {
    let list = try Self.list(text)
    #expect(list.isRemoval && Self.texts(list) == removals)
    #expect(CutRequest(list) == .removals(list.ranges))
  }

  @Test(arguments: [
    ("1,2\n\n3;4", 3), ("1,2\n3,4,5,6", 2), ("1,2\n3,x", 2), ("1,2\nx,4", 2), ("# c\n2,1", 2), ("1,1", 1),
    (#"1,2,"a"#, 1), (#"1,2,","#, 1), (#"1,2,"a"b"#, 1), ("1,2\nstart,end", 2), ("1,2\n3 4 0", 2), ("1 2", 1),
    ("1 2 4", 1), ("1 2 -1", 1), ("1 2 0 5", 1), ("1 2 0\n3,4", 2), ("2 1 0", 1), ("x 2 1", 1), ("hello", 1),
    ("\r\n\r\n#5", 3), ("1,2\r#7,#6", 2),
  ])
  func reportsTheLineThatCannotBeRead(text: String, line: Int) {
    let message = Self.message(Array(text.utf8))
    #expect(message?.hasPrefix("list: line \(line): ") == true, "\(message ?? "none")")
  }

  @Test(arguments: ["", "\n\n", "# nothing", "\u{FEFF}", "start,end,name\n"]) func refusesAnEmptyList(text: String) {
    #expect(Self.message(Array(text.utf8)) == "list: no range in it")
  }

  @Test func refusesOtherBytes() {
    #expect(Self.message([0xFF, 0xFE, 0x31, 0, 0x2C, 0, 0x32, 0])?.contains("UTF-8") == true)
    // Bytes that are not UTF-8 in a name are replaced.
    #expect((try? CutList(Array("1,2,a".utf8) + [0xFF], name: "list"))?.ranges.first?.name == "a\u{FFFD}")
  }

  @Test(.enabled(if: TestScope.isExhaustive)) func hasLimits() {
    let rows = [UInt8]([[UInt8]](repeating: Array("0,\n".utf8), count: CutList.countLimit + 1).joined())
    #expect(Self.message(rows) == "list: line 100001: a list has at most 100000 ranges")
  }

  @Test func quotesTheBeginningOfALongLine() {
    #expect(Self.message([UInt8](repeating: 0x61, count: 10_000)).map { $0.utf8.count < 200 } == true)
  }
}
