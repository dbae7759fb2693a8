// SPDX-License-Identifier: MPL-2.0
import Foundation
import H26x
import Testing

/// Files whose metadata edit inserts: other tools' files, damaged ones, and numbers that do not fit.
@Suite(.enabled(if: Program.isBuilt)) struct InsertionTests {
  private static let clip = Program.media.appending(path: "clip.h265").path
  private static let count = 62

  /// A picture as hdr10plus_tool writes it.
  private static func picture(_ index: Int, average: String = "263") -> String {
    """
    {"BezierCurveData": {"Anchors": [143, 298, 447], "KneePointX": 164, "KneePointY": 240}, "LuminanceParameters":
    {"AverageRGB": \(average), "LuminanceDistributions": {"DistributionIndex": [1, 50, 99], "DistributionValues":
    [0, 6080, 92]}, "MaxScl": [7768, 6589, 6912]}, "NumberOfWindows": 1, "TargetedSystemDisplayMaximumLuminance": 400,
    "SceneFrameIndex": \(index), "SceneId": 0, "SequenceFrameIndex": \(index)}
    """
  }

  private static func document(_ pictures: [String]) -> String {
    """
    {"JSONInfo": {"HDR10plusProfile": "B", "Version": "1.0"}, "SceneInfo": [
    \(pictures.joined(separator: ",\n"))
    ], "SceneInfoSummary": {"SceneFirstFrameIndex": [0], "SceneFrameNumbers": [\(pictures.count)]},
    "ToolInfo": {"Tool": "hdr10plus_tool", "Version": "1.6.1"}}
    """
  }

  private func insert(
    _ option: String, _ name: String, _ bytes: Data, _ folder: Folder, more: [String] = []
  ) async throws -> Program {
    try folder.write(name, bytes)
    return try await Program.run(
      ["edit", Self.clip, "-o", "out.h265", option, name] + more, in: folder.url)
  }

  /// Other documents, and the refusals.
  private static let documents: [(text: String, message: String)] = {
    let one = document([picture(0)])
    func changed(_ old: String, _ new: String) -> String { one.replacingOccurrences(of: old, with: new) }
    return [
      ("", "an empty file"),
      ("hello", "line 1: a word; expected true, false or null"),
      ("[1]", "line 1: no object"),
      ("{\"scenes\": []}", "no SceneInfo; expected the JSON of hdr10plus_tool"),
      ("{\"SceneInfo\": []}", "no picture; expected SceneInfo"),
      (one + "[]", "more text; expected the end of the file"),
      (String(document([picture(0), picture(1)]).prefix(700)), "picture 1: the end of the file"),
      (document([picture(0), picture(2)]), "line 9: picture 1: SequenceFrameIndex 2; expected 1"),
      (document([picture(0, average: "131072")]), "picture 0: AverageRGB; expected a whole number from 0 to 131071"),
      (document([picture(0, average: "1.5")]), "line 3: picture 0: AverageRGB; expected a whole number"),
      (document([picture(0, average: "\"263\"")]), "picture 0: AverageRGB"),
      (changed("6589, 6912", "6912"), "picture 0: 2 numbers in MaxScl; expected 3"),
      (changed("[0, 6080, 92]", "[0]"), "3 percentages, 1 percentiles"),
      (changed("NumberOfWindows\": 1", "NumberOfWindows\": 2"), "NumberOfWindows 2"),
      (changed("MaxScl", "MaxSCL"), "incomplete LuminanceParameters"),
      (changed("KneePointX", "Knee"), "an incomplete curve"),
      (changed("1.0", "2.0"), "Version 2.0; expected 0.0 or 1.0"),
      (String(repeating: "[", count: 100_000), "line 1: no object"),
      ("{\"a\": " + String(repeating: "[", count: 100_000), "brackets in one another"),
      (one, "1 message for 62 pictures of \(clip); --force repeats the last message"),
    ]
  }()

  @Test(arguments: documents) func refusesJSONOfOthers(text: String, message: String) async throws {
    let folder = try Folder()
    let run = try await insert("--insert-hdr10plus", "x.json", Data(text.utf8), folder)
    #expect(run.status == 1 && run.said.contains("x.json: ") && run.said.contains(message), "\(run.said)")
    #expect(folder.names == ["x.json"])
  }

  @Test(
    arguments: [
      ("{\"picture\": 1}", "line 1: picture 0: picture 1; expected 0"),
      ("{\"picture\": 0}", "line 1: picture 0: an incomplete object"),
      ("{\"picture\": 0, \"application-version\": 2}", "application-version; expected a whole number from 0 to 1"),
      ("{\"windows\": [{\"maxscl\": [1, 2]}]}", "2 numbers in maxscl; expected 3"),
      ("{\"windows\": [{\"maxscl\": [1, 2, 3]}]}", "an incomplete window"),
      ("{\"trailing-bits\": \"012\"}", "trailing-bits; expected 0s and 1s"),
      (document([picture(0)]), "an incomplete object"),
    ] as [(String, String)]) func refusesOtherLines(text: String, message: String) async throws
  {
    let folder = try Folder()
    let run = try await insert("--insert-hdr10plus", "x.jsonl", Data(text.utf8), folder)
    #expect(run.status == 1 && run.said.contains("x.jsonl: line ") && run.said.contains(message), "\(run.said)")
  }

  @Test func refusesOtherRPUs() async throws {
    let folder = try Folder()
    let whole = try NumberedStream.clip.rpuFile(count: Self.count)
    let size = whole.count / Self.count
    var (wrong, foreign) = (whole, whole)
    wrong[size * 3 - 2] ^= 1
    foreign[size * 5 + 4] = 0x40
    for (bytes, message) in [
      (Data(), "an empty file"), (Data([1, 2, 3]), "offset 0: no start code; expected RPUs behind start codes"),
      (Data([0, 0, 0, 1]), "no RPU"), (Data(whole.prefix(size * 2 - 3)), "offset \(size + 4): picture 1: "),
      (wrong, "offset \(size * 2 + 4): picture 2: CRC 0x"),
      (foreign, "offset \(size * 5 + 4): picture 5: a NAL unit that begins with byte 64; expected 25"),
      (Data(try Data(contentsOf: URL(filePath: Self.clip))), "picture 0: a NAL unit that begins with byte"),
      (
        whole.prefix(size * 5) + [0, 0, 0, 1] + whole.dropFirst(size * 5), "offset \(size * 5 + 4): picture 5: nothing"
      ),
      (Data(whole.prefix(size * 9)), "9 messages for 62 pictures"),
    ] {
      let run = try await insert("--insert-dolby-vision", "x.bin", bytes, folder)
      #expect(run.status == 1 && run.said.contains("x.bin: ") && run.said.contains(message), "\(message): \(run.said)")
      #expect(folder.names == ["x.bin"])
    }
  }

  /// With --force, the last message is repeated, or messages are left out.
  @Test(arguments: [(60, "the last one is repeated for 2 pictures"), (63, "the last one is left out")])
  func fitsNumbersByForce(number: Int, message: String) async throws {
    let folder = try Folder()
    let bytes = try NumberedStream.clip.rpuFile(count: number)
    let run = try await insert("--insert-dolby-vision", "x.bin", bytes, folder, more: ["--force"])
    #expect(run.status == 0 && run.said.contains(message), "\(run.said)")
    let back = try await Program.run(["extract", "out.h265", "--dolby-vision", "y.bin"], in: folder.url)
    try #require(back.status == 0, "\(back.said)")
    var expected = Data()
    for rank in 0..<Self.count {
      expected += [0, 0, 0, 1] + (try NumberedStream.clip.rpu(min(rank, number - 1))).dropFirst(2)
    }
    #expect(folder.bytes("y.bin") == expected)
  }

  /// The container gets the configuration of Dolby Vision.
  @Test func containersGetTheConfiguration() async throws {
    let folder = try Folder()
    try folder.write("x.bin", try NumberedStream.clip.rpuFile(count: Self.count))
    for source in [Self.clip, Program.media.appending(path: "clip-h265.mp4").path] {
      let run = try await Program.run(
        ["edit", source, "-o", "out.mp4", "--insert-dolby-vision", "x.bin", "--force"], in: folder.url)
      #expect(
        run.status == 0
          && run.said.contains("configuration of Dolby Vision is made from the stream: profile 8.2, level 1\n"),
        "\(run.said)")
      let record = DolbyVision.Configuration(profile: 8, level: 1, compatibilityID: 2)
      #expect(folder.bytes("out.mp4")?.range(of: Data("dvvC".utf8) + record.bytes) != nil)
      let check = try await Program.run(["check", "out.mp4"], in: folder.url)
      #expect(!check.said.contains("dolby") && !check.text.contains("rpu"), "\(check.text)")
      let given = try await Program.run(
        ["edit", source, "-o", "out.mp4", "--insert-dolby-vision", "x.bin", "--dv-profile", "8.4", "--force"],
        in: folder.url)
      let line = "Dolby Vision is made from the stream, with the profile of --dv-profile: profile 8.4, level 1\n"
      #expect(given.status == 0 && given.said.contains(line), "\(given.said)")
      let other = DolbyVision.Configuration(profile: 8, level: 1, compatibilityID: 4)
      #expect(folder.bytes("out.mp4")?.range(of: Data("dvvC".utf8) + other.bytes) != nil)
      let wrong = try await Program.run(
        ["edit", source, "-o", "none.mp4", "--insert-dolby-vision", "x.bin", "--dv-profile", "9.2"], in: folder.url)
      #expect(wrong.status == 1 && wrong.said.contains("H.265, but --dv-profile 9.2 is for H.264\n"), "\(wrong.said)")
    }
  }

  /// The file that is inserted is not the output, and a pipe is not read twice.
  @Test func refusesUnsuitableFiles() async throws {
    let folder = try Folder()
    try folder.write("x.bin", try NumberedStream.clip.rpuFile(count: Self.count))
    let own = try await Program.run(
      ["edit", Self.clip, "-o", "x.bin", "--format", "annexb", "--force", "--insert-dolby-vision", "x.bin"],
      in: folder.url)
    #expect(own.status == 1 && own.said.contains("the output is the input itself"), "\(own.said)")
    let pipe = try await Program.shell(
      "cat '\(Self.clip)' | h26x edit - -o out.h265 --insert-dolby-vision x.bin", in: folder.url)
    #expect(pipe.status == 1 && pipe.said.contains("reads the input twice"), "\(pipe.said)")
    let stream = try await Program.shell(
      "cat x.bin | h26x edit '\(Self.clip)' -o out.h265 --insert-dolby-vision -", in: folder.url)
    #expect(stream.status == 1 && stream.said.contains("a pipe; expected a file"), "\(stream.said)")
    #expect(folder.names == ["x.bin"])
  }
}
