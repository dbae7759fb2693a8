// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// `h26x inspect`: access units, NAL units and findings.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct InspectTests {
  static let clips = ["clip.h264", "clip.mp4", "clip.h265", "clip-h265.mp4"]

  private func path(_ name: String) -> String { Program.media.appending(path: name).path }

  private func objects(_ lines: some StringProtocol) throws -> [[String: Any]] {
    try lines.split(separator: "\n").map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
    }
  }

  @Test(arguments: clips) func listsAccessUnits(name: String) async throws {
    let folder = try Folder()
    let run = try await Program.run(["inspect", "--json", path(name)], in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    let items = try objects(run.text)
    let kinds = items.compactMap { $0["kind"] as? String }
    #expect(kinds.first == "stream" && kinds.last == "summary")
    #expect(kinds.filter { $0 == "accessUnit" }.count == 62)
    #expect(items.first?["container"] as? String == (name.hasSuffix("mp4") ? "mp4" : "annexb"))
    #expect(items.last?["keyframes"] as? Int == 3 && items.last?["errors"] as? Int == 0)
    let format = items.lazy.compactMap { $0["format"] as? [String: Any] }.first
    #expect(format?["width"] as? Int == 320 && format?["height"] as? Int == 180)
  }

  @Test func selectsRangesAndTypes() async throws {
    let folder = try Folder()
    let run = try await Program.run(
      ["inspect", "--json", "--fields", "--range", "1-2", "--type", "slice", path("clip.h264")], in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    let units = try objects(run.text).filter { $0["kind"] as? String == "accessUnit" }
    #expect(units.compactMap { $0["index"] as? Int } == [1, 2])
    for unit in units.compactMap({ $0["nalUnits"] as? [[String: Any]] }).joined() {
      #expect(unit["type"] as? Int == 1)
      let fields = try #require(unit["fields"] as? [[Any]])
      #expect(fields.contains { $0.first as? String == "first_mb_in_slice" })
    }
    let wrong = try await Program.run(["inspect", "--range", "2-1", path("clip.h264")], in: folder.url)
    #expect(wrong.status == 64, "\(wrong.said)")
  }

  @Test func listsTheFindingsOfTheLastAccessUnit() async throws {
    let folder = try Folder()
    // The forbidden bytes are in the payload of the first picture's last slice.
    var stream = try Data(contentsOf: URL(filePath: path("clip.h264")))
    stream.replaceSubrange(1200..<1203, with: [0, 0, 2])
    try folder.write("in.h264", stream)
    let whole = try await Program.run(["inspect", "in.h264"], in: folder.url)
    let run = try await Program.run(["inspect", "--range", "0", "in.h264"], in: folder.url)
    func findings(_ run: Program) -> [Substring] {
      run.text.split(separator: "\n").filter { $0.contains("emulation-prevention") }
    }
    #expect(run.status == 0 && findings(run).count == 1 && findings(run) == findings(whole), "\(run.text)")
    #expect(!run.text.contains("access unit 1 "), "\(run.text)")
    // A pipe is not read to its end, which does not come.
    let piped = try await Program.shell(
      """
      mkfifo pipe; { for copy in $(seq 40); do cat in.h264; done; exec sleep 1000; } > pipe & writer=$!
      timeout 600 h26x inspect --range 0 pipe; echo "status $?"; kill $writer
      """, in: folder.url)
    #expect(piped.text.hasSuffix("status 0\n") && findings(piped) == findings(run), "\(piped.text)")
  }

  @Test func reportsUnknownTypesAndMissingRanges() async throws {
    let folder = try Folder()
    let unknown = try await Program.run(["inspect", "--type", "SPS,banana", path("clip.h264")], in: folder.url)
    #expect(unknown.status == 64 && unknown.said.contains("--type banana"), "\(unknown.said)")
    let beyond = try await Program.run(["inspect", "--range", "5000-", path("clip.h264")], in: folder.url)
    #expect(beyond.status == 1 && beyond.said.contains("no access unit 5000; it has 62"), "\(beyond.said)")
    let idr = try await Program.run(["inspect", "--type", "idr", "--range", "0", path("clip.h264")], in: folder.url)
    #expect(idr.status == 0 && idr.text.contains("IDR slice (5)"), "\(idr.text)")
    #expect(!idr.text.contains("  SPS"), "\(idr.text)")
  }
}
