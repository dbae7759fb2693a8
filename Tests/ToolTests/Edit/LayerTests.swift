// SPDX-License-Identifier: MPL-2.0
import AVFormat
import Foundation
import TestSupport
import Testing

/// Layers above the base layer are named, and removed on demand.
@Suite(.enabled(if: Program.isBuilt)) struct LayerTests {
  @Test(arguments: [(0, ""), (1, ", hero eye left"), (2, ", hero eye right")] as [(UInt8, String)])
  func reportsAndRemovesBoxesOfLayers(hero: UInt8, words: String) async throws {
    let folder = try Folder()
    let eyes =
      AddedBoxes.box("stri", [0, 0, 0, 0, 3]) + AddedBoxes.box("hero", [0, 0, 0, 0, hero])
    // libavformat 61 reads lhvC, and no file in which it is not of this video.
    let isLayered = FormatLibrary.version.map { $0.major < 61 } ?? true
    let boxes = [
      AddedBoxes.box("vexu", AddedBoxes.box("eyes", eyes)), isLayered ? AddedBoxes.box("lhvC", [1, 2, 3]) : [],
      AddedBoxes.box("hfov", [0, 0, 0, 1]),
    ]
    let clip = try Data(contentsOf: Program.media.appending(path: "clip-h265.mp4"))
    try folder.write("in.mp4", boxes.reduce(clip) { AddedBoxes.add($1, to: AddedBoxes.entry, of: $0) })
    let info = try await Program.run(["info", "in.mp4"], in: folder.url)
    #expect(
      info.text.contains(
        "spatial video (vexu)\(words), \(isLayered ? "layered configuration (lhvC), " : "")field of view (hfov)"),
      "\(info.text)")
    let edit = try await Program.run(["edit", "in.mp4", "-o", "out.mp4", "--remove-layers"], in: folder.url)
    #expect(
      edit.status == 0 && edit.said.contains("left behind: vexu\(isLayered ? ", lhvC" : "") and hfov"), "\(edit.said)")
    let after = try await Program.run(["info", "out.mp4"], in: folder.url)
    #expect(after.status == 0 && !after.text.contains("Layers"), "\(after.text)")
  }

  /// A vector of spatial video, two layers in a track.
  private static let spatialVideo = Vectors.path("h265/androidx_water_180_mvhevc_5frames.mov")

  @Test(.enabled(if: spatialVideo != nil)) func reportsAndRemovesLayers() async throws {
    let source = try #require(Self.spatialVideo)
    let folder = try Folder()
    let inspect = try await Program.run(["inspect", source], in: folder.url)
    #expect(inspect.text.contains(" bytes, layer 1\n"))
    let info = try await Program.run(["info", source], in: folder.url)
    #expect(info.text.contains("layer 1, layered configuration (lhvC), spatial video (vexu)"), "\(info.text)")
    let edit = try await Program.run(["edit", source, "-o", "out.mov", "--remove-layers"], in: folder.url)
    #expect(edit.status == 0, "\(edit.said)")
    let rest = try await Program.run(["inspect", "out.mov"], in: folder.url)
    #expect(rest.status == 0 && !rest.text.contains("layer"))
    let (before, after) = try await (
      Program.run(["hash", source], in: folder.url), Program.run(["hash", "out.mov"], in: folder.url)
    )
    #expect(before.status == 0 && before.text == after.text, "\(after.said)")
  }

  @Test(.enabled(if: spatialVideo != nil)) func cutsKeepLayers() async throws {
    let source = try #require(Self.spatialVideo)
    let folder = try Folder()
    let cut = try await Program.run(["cut", source, "-o", "out.mov", "--range", "#2-#4"], in: folder.url)
    let reason = "cut with --mode hidden, because it has several layers"
    #expect(cut.status == 0 && cut.said.contains(reason), "\(cut.said)")
    let inspect = try await Program.run(["inspect", "out.mov"], in: folder.url)
    #expect(inspect.text.contains(" bytes, layer 1\n"), "\(inspect.text)")
    let before = try await Program.run(["hash", "--each", source], in: folder.url)
    let after = try await Program.run(["hash", "--each", "out.mov"], in: folder.url)
    #expect(Self.checksums(after.text) == Array(Self.checksums(before.text)[2..<4]), "\(after.said)")
  }

  /// The checksums of all pictures.
  private static func checksums(_ text: String) -> [Substring] {
    text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { $0.split(separator: " ").last }
  }
}
