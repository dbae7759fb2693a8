// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

@Suite(.enabled(if: PluginUnderTest.isBuilt, Comment(rawValue: PluginUnderTest.missing)))
struct DocumentationExampleTests {
  private let program = PluginUnderTest.packageRoot.appending(path: "Tests/Examples/DecodeToNV12/main.swift")

  @Test func printsTheTestedProgramOnThePage() throws {
    let tested = try String(contentsOf: program, encoding: .utf8)
    let begin = try #require(tested.range(of: "// BEGIN\n"))
    let end = try #require(tested.range(of: "// END\n"))
    let page = try String(
      contentsOf: PluginUnderTest.packageRoot.appending(path: "docs/embedding.md"), encoding: .utf8)
    #expect(page.contains("```swift\n" + tested[begin.upperBound..<end.lowerBound] + "```\n"))
  }

  @Test(arguments: ["h264", "h265"]) func writesTheSamePicturesAsTheElements(codec: String) async throws {
    let products = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    let folder = URL.temporaryDirectory.appending(path: "swifth26x-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let clip = PluginUnderTest.media.appending(path: "clip.\(codec)").path
    let (ours, expected) = (folder.appending(path: "ours"), folder.appending(path: "expected"))
    let run = try await Command.run([products.appending(path: "decode-to-nv12").path, clip, ours.path])
    #expect(run.status == 0, "\(run)")
    let reference = try await Command.launch(
      "filesrc location=\(clip) ! swift\(codec)parse ! swift\(codec)dec ! video/x-raw,format=NV12 ! "
        + "filesink location=\(expected.path)")
    #expect(reference.status == 0, "\(reference)")
    let pictures = try Data(contentsOf: ours)
    // 62 pictures of 320 x 180, 12 bits a sample.
    #expect(pictures.count == 5_356_800)
    #expect(try pictures == Data(contentsOf: expected))
  }
}
