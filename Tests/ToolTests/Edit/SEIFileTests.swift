// SPDX-License-Identifier: MPL-2.0
import Foundation
import TestSupport
import Testing

/// SEI messages leave a stream as JSON lines, and come back.
@Suite(.enabled(if: Program.isBuilt)) struct SEIFileTests {
  private static func media(_ name: String) -> String { Program.media.appending(path: name).path }

  private static func line(_ accessUnit: Int, _ type: Int, _ payload: String) -> String {
    "{\"access-unit\": \(accessUnit), \"type\": \(type), \"payload\": \"\(payload)\"}"
  }

  /// A UUID and a text.
  private static let userData = String(repeating: "ab", count: 16) + "48692e"
  /// A caption of nothing (ATSC1, cc_data).
  private static let captions = "b500314741393403c0ff"

  private func write(_ lines: [String], in folder: Folder) throws {
    try folder.write("sei.jsonl", Data((lines.joined(separator: "\n") + "\n").utf8))
  }

  @Test(
    arguments: TestScope.rows(
      [
        ("clip.h264", "h264"), ("clip.h265", "h265"), ("clip.mp4", "mp4"), ("clip-h265.mkv", "mkv"), ("clip.ts", "ts"),
        ("clip.h265", "mp4"), ("clip-h265.ts", "mov"),
      ], usually: 3))
  func listsTheMessagesThatWereInserted(name: String, target: String) async throws {
    let folder = try Folder()
    let isH265 = name.contains("265")
    var lines: [String] = []
    for accessUnit in [0, 1, 30, 61] {
      lines.append(Self.line(accessUnit, 5, Self.userData))
      lines.append(Self.line(accessUnit, 4, Self.captions))
      // One clock timestamp, which is not there.
      if isH265 { lines.append(Self.line(accessUnit, 136, "50")) }
    }
    try write(lines, in: folder)
    let (bare, out) = ("bare.\(target)", "out.\(target)")
    let removal = try await Program.run(
      ["edit", Self.media(name), "-o", bare, "--remove-sei", "4,5,136"], in: folder.url)
    try #require(removal.status == 0, "\(removal.said)")
    let edit = try await Program.run(["edit", bare, "-o", out, "--insert-sei-from", "sei.jsonl"], in: folder.url)
    try #require(edit.status == 0, "\(edit.said)")
    let list = try await Program.run(["inspect", "--sei", "4,5,time_code", out], in: folder.url)
    #expect(list.status == 0, "\(list.said)")
    let found = try list.text.split(separator: "\n").map { line in
      let object = try #require(
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
      return Self.line(
        object["access-unit"] as? Int ?? -1, object["type"] as? Int ?? -1, object["payload"] as? String ?? "")
    }
    #expect(found == lines)
    // Listed messages can be inserted again, and removed.
    try folder.write("listed.jsonl", Data(list.text.utf8))
    let again = try await Program.run(
      ["edit", out, "-o", "again.\(target)", "--remove-sei", "4,5,136", "--insert-sei-from", "listed.jsonl"],
      in: folder.url)
    #expect(again.status == 0, "\(again.said)")
    let relisted = try await Program.run(["inspect", "--sei", "4,5,136", "again.\(target)"], in: folder.url)
    #expect(relisted.text == list.text)
    let back = try await Program.run(
      ["edit", out, "-o", "back.\(target)", "--remove-sei", "4,5,136"], in: folder.url)
    #expect(back.status == 0, "\(back.said)")
    let rest = try await Program.run(["inspect", "--sei", "4,5,136", "back.\(target)"], in: folder.url)
    #expect(rest.status == 0 && rest.text.isEmpty)
    // Of containers, descriptions may differ.
    guard target.hasPrefix("h26") else { return }
    #expect(folder.bytes("back.\(target)") == folder.bytes(bare))
    #expect(folder.bytes("again.\(target)") == folder.bytes(out))
  }

  /// Time codes of H.264 are in its picture timing, whose other values stay.
  @Test func insertsAndListsTimeCodes() async throws {
    let folder = try Folder()
    let source = Self.media("interlaced.h264")
    let code =
      "{\"scan-type\":1,\"field-based\":true,\"counting-type\":4,\"full\":true,\"discontinuity\":false,\"dropped\":false,"
      + "\"frames\":12,\"seconds\":59,\"minutes\":1,\"hours\":10,\"offset\":-3}"
    try write(
      ["{\"access-unit\":2,\"type\":1,\"payload\":\"\",\"clock-timestamps\":[null,\(code)]}"], in: folder)
    let edit = try await Program.run(
      ["edit", source, "-o", "out.h264", "--insert-sei-from", "sei.jsonl"], in: folder.url)
    try #require(edit.status == 0, "\(edit.said)")
    let list = try await Program.run(["inspect", "--sei", "pic_timing", "out.h264"], in: folder.url)
    let codes = list.text.split(separator: "\n").filter { $0.contains("clock-timestamps") }
    #expect(codes.count == 1 && codes[0].hasPrefix("{\"access-unit\":2,"), "\(list.text)")
    #expect(codes.first?.hasSuffix("\"clock-timestamps\":[null,\(code)]}") == true, "\(codes)")
    for (name, lines) in [
      ("same", codes.map(String.init)),
      ("none", ["{\"access-unit\":2,\"type\":1,\"payload\":\"\",\"clock-timestamps\":[]}"]),
    ] {
      try write(lines, in: folder)
      let again = try await Program.run(
        ["edit", "out.h264", "-o", "\(name).h264", "--insert-sei-from", "sei.jsonl"], in: folder.url)
      #expect(again.status == 0, "\(again.said)")
    }
    #expect(folder.bytes("same.h264") == folder.bytes("out.h264"))
    #expect(try folder.bytes("none.h264") == Data(contentsOf: URL(filePath: source)))
    try write(["{\"access-unit\":900,\"type\":1,\"payload\":\"\",\"clock-timestamps\":[\(code)]}"], in: folder)
    let beyond = try await Program.run(["edit", source, "--dry-run", "--insert-sei-from", "sei.jsonl"], in: folder.url)
    #expect(beyond.status == 1 && beyond.said.contains("no access unit 900"), "\(beyond.said)")
    try write(["{\"access-unit\":0,\"type\":1,\"payload\":\"\",\"clock-timestamps\":[{\"seconds\":70}]}"], in: folder)
    let wrong = try await Program.run(["edit", source, "--dry-run", "--insert-sei-from", "sei.jsonl"], in: folder.url)
    #expect(wrong.status == 1 && wrong.said.contains("access unit 0: seconds_value 70"), "\(wrong.said)")
  }

  @Test(arguments: [
    ("{\"access-unit\": 0, \"type\": 5, \"payl", "line 1: not JSON, or cut off"),
    ("{\"access-unit\": 0, \"type\": 5}", "line 1: no payload"),
    ("{\"access-unit\": \"x\", \"type\": 5, \"payload\": \"\"}", "line 1: access-unit is of another type"),
    ("[1]", "line 1: not a JSON object"),
    (line(-1, 5, userData), "line 1: access-unit -1 is below 0"),
    (line(0, 5, userData) + "\n" + line(0, 5, "abc"), "line 2: payload is not an even number of hexadecimal digits"),
    (line(0, 5, "ab"), "access unit 0: sei_payload of type 5"),
    (line(0, 129, "00"), "access unit 0: payloadType 129"),
    (line(62, 5, userData), "no access unit 62 for an SEI message; it has 62 access units"),
    (line(0, 144, "00010001") + "\n" + line(0, 144, "00010002"), "access unit 0: payloadType 144"),
    ("", "contains no SEI message"),
  ])
  func reportsInvalidMessages(text: String, message: String) async throws {
    let folder = try Folder()
    try write([text], in: folder)
    for (source, target) in [("clip.h264", "out.h264"), ("clip.mp4", "out.mp4"), ("clip-h265.mkv", "out.ts")] {
      let run = try await Program.run(
        ["edit", Self.media(source), "-o", target, "--insert-sei-from", "sei.jsonl"], in: folder.url)
      #expect(run.status == 1 && run.said.contains(message), "\(source): \(run.said)")
      #expect(run.said.split(separator: "\n").count == 1, "\(run.said)")
      #expect(folder.bytes(target) == nil)
    }
  }

  /// All messages, as they are, whatever options of the other listing are given.
  @Test func refusesFieldsInAListingOfSEI() async throws {
    let folder = try Folder()
    let run = try await Program.run(["inspect", "--sei", "all", "--fields", Self.media("clip.h264")], in: folder.url)
    #expect(run.status == 64)
    let none = try await Program.run(["inspect", "--sei", "4", Self.media("clip.h264")], in: folder.url)
    #expect(none.status == 0 && none.text.isEmpty)
  }
}
