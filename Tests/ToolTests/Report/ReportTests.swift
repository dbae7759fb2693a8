// SPDX-License-Identifier: MPL-2.0
import Foundation
import StreamReport
import Testing

@testable import Containers
@testable import Tool

/// `h26x report`: a page with the whole report.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct ReportTests {
  static let clips = ["clip.h264", "clip.mp4", "clip.h265", "clip-h265.mp4"]

  private func path(_ name: String) -> String { Program.media.appending(path: name).path }

  private func objects(_ lines: some StringProtocol) throws -> [[String: Any]] {
    try lines.split(separator: "\n").map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
    }
  }

  /// The page of a long stream has a bound: details end, then the list, and findings and sums are those of the whole.
  @Test func boundsTheDocumentInThePage() throws {
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: path("clip.h264"))))
    func lines(_ document: ReportDocument) throws -> [[String: Any]] {
      var (document, text) = (document, "")
      var options = ReportOptions()
      (options.includesFields, options.byteCount) = (true, 64)
      var reporter = try StreamReporter(FileInMemory(bytes: bytes), options: options)
      while let item = reporter.next() {
        document.append(item)
        text += String(decoding: document.take(), as: UTF8.self)
      }
      return try objects(text)
    }
    func units(_ lines: [[String: Any]]) -> [[String: Any]] { lines.filter { $0["kind"] as? String == "accessUnit" } }
    func hasFields(_ unit: [String: Any]) -> Bool {
      (unit["nalUnits"] as? [[String: Any]])?.contains { $0["fields"] != nil } == true
    }
    let whole = try lines(ReportDocument())
    #expect(units(whole).count == 62 && units(whole).allSatisfy(hasFields))
    let size = whole.reduce(0) { $0 + ((try? JSONSerialization.data(withJSONObject: $1).count) ?? 0) }
    let short = try lines(ReportDocument(detailLimit: size / 4, listLimit: size / 3))
    let listed = units(short)
    #expect((2..<62).contains(listed.count) && listed.contains(where: hasFields) && !listed.allSatisfy(hasFields))
    #expect(listed.compactMap { $0["index"] as? Int } == Array(0..<listed.count))
    #expect(short.last?["accessUnits"] as? Int == 62 && short.last?["bytes"] as? Int == bytes.count)
    let none = try lines(ReportDocument(detailLimit: 0, listLimit: 0))
    #expect(units(none).count <= 1 && none.last?["accessUnits"] as? Int == 62)
  }

  @Test(arguments: clips + ["clip.mkv", "clip.ts", "clip.flv", "clip-h265.mkv", "clip-h265.ts"])
  func writesASelfContainedPage(name: String) async throws {
    let folder = try Folder()
    let run = try await Program.run(["report", path(name), "-o", "report.html"], in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    #expect(folder.names == ["report.html"])
    let page = String(decoding: try #require(folder.bytes("report.html")), as: UTF8.self)
    #expect(page.hasPrefix("<!doctype html>") && page.hasSuffix("</html>\n"))
    for mark in ["/*style*/", "/*script*/", "<!--data-->", "<!--start-->", "<!--version-->", "src="] {
      #expect(!page.contains(mark), "\(mark)")
    }
    // Links lead to places of the page.
    #expect(!page.replacing("href=\"#", with: "").contains("href="))
    let start = try #require(page.range(of: #"id="data" data-name="\#(name)">"#))
    let end = try #require(page.range(of: "</script>", range: start.upperBound..<page.endIndex))
    let items = try objects(page[start.upperBound..<end.lowerBound])
    #expect(items.filter { $0["kind"] as? String == "accessUnit" }.count == 62)
    // A picture of each keyframe, as JPEG.
    let pictures = items.filter { $0["kind"] as? String == "thumbnail" }
    let keyframes = items.filter { $0["keyframe"] != nil }
    #expect(pictures.compactMap { $0["accessUnit"] as? Int } == keyframes.compactMap { $0["index"] as? Int })
    #expect(pictures.count == 3)
    for picture in pictures {
      let image = try #require(picture["image"] as? String)
      let start = "data:image/jpeg;base64,"
      #expect(image.hasPrefix(start) && image.utf8.count < 40_000)
      #expect(Data(base64Encoded: String(image.dropFirst(start.count)))?.starts(with: [0xFF, 0xD8, 0xFF]) == true)
    }
    // An existing page is not replaced.
    let again = try await Program.run(["report", path(name), "-o", "report.html"], in: folder.url)
    #expect(again.status == 1, "\(again.said)")
  }

  @Test func hasStatisticsOnlyIfSlicesAreRead() async throws {
    let folder = try Folder()
    for isDeep in [false, true] {
      let options = ["report", path("clip.h265"), "-o", "\(isDeep).html"] + (isDeep ? ["--deep"] : [])
      let run = try await Program.run(options, in: folder.url)
      #expect(run.status == 0, "\(run.said)")
      let page = String(decoding: try #require(folder.bytes("\(isDeep).html")), as: UTF8.self)
      let lines = page.split(separator: "\n").filter {
        $0.hasPrefix(#"{"kind":"accessUnit""#) || $0.hasPrefix(#"{"kind":"summary""#)
      }
      #expect(lines.count == 63 && lines.allSatisfy { $0.contains(#""statistics":{"#) == isDeep })
    }
  }
}

private struct FileInMemory: ByteSource {
  var bytes: [UInt8]
  var size: UInt64 { UInt64(bytes.count) }

  func read(at offset: UInt64, count: Int) -> [UInt8] {
    Array(bytes.dropFirst(Int(clamping: offset)).prefix(count))
  }
}
