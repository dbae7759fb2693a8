// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// `h26x inspect --statistics` and `--blocks`.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct StatisticsTests {
  private func path(_ name: String) -> String { Program.media.appending(path: name).path }

  private func objects(_ run: Program, kind: String) throws -> [[String: Any]] {
    try run.text.split(separator: "\n").map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
    }.filter { $0["kind"] as? String == kind }
  }

  private func statistics(_ items: [[String: Any]]) throws -> [[String: Any]] {
    try items.map { try #require($0["statistics"] as? [String: Any]) }
  }

  private func sum(_ member: Any?) -> Int { (member as? [String: Int])?.values.reduce(0, +) ?? 0 }

  @Test(
    arguments: InspectTests.clips + ["interlaced.h264", "ten-bit.h265", "small-slices.h264", "clip.mkv", "clip.ts"])
  func countsEveryPicture(name: String) async throws {
    let folder = try Folder()
    let run = try await Program.run(["inspect", "--statistics", "--json", path(name)], in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    let format = try objects(run, kind: "parameterSet").lazy.compactMap { $0["format"] as? [String: Any] }.first
    let width = try #require(format?["codedWidth"] as? Int)
    let frame = try width * #require(format?["codedHeight"] as? Int)
    let units = try objects(run, kind: "accessUnit")
    let total = try #require(objects(run, kind: "summary").first?["statistics"] as? [String: Any])
    var (areas, coefficients) = (0, 0)
    for (unit, counted) in zip(units, try statistics(units)) {
      let area = try #require(counted["area"] as? Int)
      let isField = unit["field"] as? String == "first" || unit["field"] as? String == "second"
      #expect(area == (isField ? frame / 2 : frame) && sum(counted["kinds"]) == area && sum(counted["sizes"]) == area)
      #expect(counted["damagedSlices"] == nil)
      #expect(try sum(counted["bits"]) <= 8 * #require(unit["size"] as? Int))
      let qp = try #require(counted["qp"] as? [String: Double])
      #expect(try #require(qp["minimum"]) <= #require(qp["average"]))
      #expect(try #require(qp["average"]) <= #require(qp["maximum"]))
      areas += area
      coefficients += (counted["coefficients"] as? [String: Int])?["sum"] ?? 0
    }
    #expect(!units.isEmpty && total["area"] as? Int == areas)
    #expect((total["coefficients"] as? [String: Int])?["sum"] == coefficients && coefficients > 0)
  }

  @Test(arguments: InspectTests.clips + ["interlaced.h264", "interlaced.h265", "open-gop.h264", "ten-bit.h265"])
  func referencesAreThoseOfTheLists(name: String) async throws {
    let folder = try Folder()
    let run = try await Program.run(["inspect", "--statistics", "--json", path(name)], in: folder.url)
    let units = try objects(run, kind: "accessUnit")
    var all = Set<Int>()
    for (unit, counted) in zip(units, try statistics(units)) {
      let distances = try #require(counted["distances"] as? [String: Int])
      let areas = try #require(counted["references"] as? [[Int]]).joined().reduce(0, +)
      #expect(distances.values.reduce(0, +) == areas)
      // The fields of a pair have two picture order counts.
      guard unit["field"] as? String != "pair", let order = unit["poc"] as? Int else { continue }
      let orders = Set(distances.keys.compactMap { Int($0) }.map { order + $0 })
      #expect(orders.isSubset(of: unit["references"] as? [Int] ?? []), "\(unit["index"] ?? "")")
      all.formUnion(distances.keys.compactMap { Int($0) })
    }
    #expect(all.contains { $0 < 0 } && all.contains { $0 > 0 })
  }

  @Test func printsATable() async throws {
    let folder = try Folder()
    let run = try await Program.run(["inspect", "--statistics", "--csv", path("clip.h265")], in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    let rows = run.text.split(separator: "\n").map { $0.split(separator: ",", omittingEmptySubsequences: false) }
    #expect(rows.count == 64 && Set(rows.map(\.count)).count == 1)
    #expect(rows.first?.first == "accessUnit" && rows.last?.first == "total")
    let column = try #require(rows.first?.firstIndex(of: "lumaBits"))
    let values = rows.dropFirst().compactMap { Int($0[column]) }
    #expect(values.count == 63 && values.dropLast().reduce(0, +) == values.last)
    let distances = try #require(rows.last?.last).split(separator: " ").map {
      $0.split(separator: ":").compactMap { Int($0) }
    }
    #expect(rows.first?.last == "distances" && distances.allSatisfy { $0.count == 2 } && distances.count > 2)
  }

  @Test func countsTheSelectedAccessUnits() async throws {
    let folder = try Folder()
    let run = try await Program.run(
      ["inspect", "--statistics", "--json", "--range", "1-2", path("clip.h264")], in: folder.url)
    let units = try objects(run, kind: "accessUnit")
    #expect(units.compactMap { $0["index"] as? Int } == [1, 2])
    let blocks = try statistics(units).compactMap { $0["blocks"] as? Int }
    let total = try statistics(objects(run, kind: "summary")).first?["blocks"] as? Int
    #expect(blocks == [240, 240] && total == 480)
    let text = try await Program.run(["inspect", "--statistics", "--range", "1-2", path("clip.h264")], in: folder.url)
    #expect(text.text.contains("240 macroblocks") && text.text.contains("total\n"), "\(text.text)")
  }

  @Test(arguments: ["clip.h264", "clip-h265.mp4"]) func listsEachBlock(name: String) async throws {
    let folder = try Folder()
    let arguments = ["inspect", "--blocks", "--range", "7", path(name)]
    let run = try await Program.run(arguments + ["--json"], in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    let counted = try #require(statistics(objects(run, kind: "accessUnit")).first)
    let blocks = try objects(run, kind: "block")
    #expect(blocks.count == counted["blocks"] as? Int && blocks.allSatisfy { $0["accessUnit"] as? Int == 7 })
    let area = blocks.compactMap { $0["size"] as? Int }.map { $0 * $0 }.reduce(0, +)
    #expect(area == counted["area"] as? Int)
    #expect(blocks.map { sum($0["bits"]) }.reduce(0, +) == sum(counted["bits"]))
    let places = Set(blocks.compactMap { block in (block["x"] as? Int).map { "\($0),\(block["y"] ?? "")" } })
    #expect(places.count == blocks.count)
    let table = try await Program.run(arguments + ["--csv"], in: folder.url)
    let rows = table.text.split(separator: "\n").map {
      $0.split(separator: ",", omittingEmptySubsequences: false).count
    }
    #expect(rows.count == blocks.count + 1 && Set(rows).count == 1)
    let text = try await Program.run(arguments, in: folder.url)
    #expect(text.text.split(separator: "\n").filter { $0.hasPrefix("  ") && $0.contains(" bits at ") }.count > 0)
  }

  @Test func countsDamagedSlices() async throws {
    let folder = try Folder()
    // The end of the last slice is missing.
    try folder.write("cut.h264", try Data(contentsOf: URL(filePath: path("clip.h264"))).dropLast(10))
    let run = try await Program.run(["inspect", "--statistics", "--json", "cut.h264"], in: folder.url)
    let damaged = try statistics(objects(run, kind: "accessUnit")).compactMap { $0["damagedSlices"] as? Int }
    let total = try statistics(objects(run, kind: "summary")).first?["damagedSlices"] as? Int
    #expect(run.status == 0 && damaged == [1] && total == 1, "\(run.said)")
  }

  @Test(arguments: [
    ["--blocks"], ["--csv"], ["--csv", "--statistics", "--blocks", "--range", "1"],
    ["--csv", "--statistics", "--json"],
    ["--sei", "all", "--statistics"],
  ])
  func refusesOptionsThatDoNotFit(options: [String]) async throws {
    let folder = try Folder()
    let run = try await Program.run(["inspect"] + options + [path("clip.h264")], in: folder.url)
    #expect(run.status == 64 && run.output.isEmpty, "\(run.said)")
  }
}
