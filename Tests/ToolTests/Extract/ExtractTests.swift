// SPDX-License-Identifier: MPL-2.0
import Foundation
import H26x
import TestSupport
import Testing

/// HDR10+ and Dolby Vision leave a stream in the order of presentation, and come back.
@Suite(.enabled(if: Program.isBuilt)) struct ExtractTests {
  private static func run(_ arguments: [String], _ folder: Folder) async throws -> Program {
    let run = try await Program.run(arguments, in: folder.url)
    try #require(run.status == 0, "\(arguments): \(run.said)")
    return run
  }

  /// `AverageRGB` of each picture.
  private static func averages(_ json: Data?) throws -> [Int] {
    let document = try JSONSerialization.jsonObject(with: json ?? Data()) as? [String: Any]
    let scenes = document?["SceneInfo"] as? [[String: Any]] ?? []
    return scenes.compactMap { ($0["LuminanceParameters"] as? [String: Any])?["AverageRGB"] as? Int }
  }

  /// Extracts from a file, and inserts into another one.
  private static func check(
    _ stream: NumberedStream, _ made: String, _ plain: String, count: Int, _ folder: Folder
  ) async throws {
    let suffix = made.split(separator: ".").last ?? ""
    let (json, rpus) = ("\(made).json", "\(made).bin")
    _ = try await run(["extract", made, "--hdr10plus", json, "--dolby-vision", rpus], folder)
    #expect(try averages(folder.bytes(json)) == (0..<count).map(NumberedStream.average), "\(made)")
    #expect(try folder.bytes(rpus) == stream.rpuFile(count: count), "\(made)")
    _ = try await run(
      ["edit", plain, "-o", "back.\(suffix)", "--insert-hdr10plus", json, "--insert-dolby-vision", rpus], folder)
    for name in [made, "back.\(suffix)"] {
      _ = try await run(["repack", name, "-o", "\(name).raw", "--format", "annexb"], folder)
    }
    let (before, after) = (
      NumberedStream.nalUnits(folder.bytes("\(made).raw")), NumberedStream.nalUnits(folder.bytes("back.\(suffix).raw"))
    )
    #expect(!before.isEmpty && before == after, "\(made)")
  }

  @Test(arguments: TestScope.rows(NumberedStream.all, usually: 3)) func comesBackNALUnitForNALUnit(
    stream: NumberedStream
  ) async throws {
    let folder = try Folder()
    let count = try await stream.write(in: folder)
    let suffix = stream.suffix
    try await Self.check(stream, "made.\(suffix)", "plain.\(suffix)", count: count, folder)
    for container in stream.containers {
      for name in ["made", "plain"] {
        _ = try await Self.run(["repack", "\(name).\(suffix)", "-o", "\(name).\(container)"], folder)
      }
      try await Self.check(stream, "made.\(container)", "plain.\(container)", count: count, folder)
    }
    // Into a stream that has others: they are replaced in place.
    let edit = try await Self.run(
      [
        "edit", "made.\(suffix)", "-o", "same.\(suffix)", "--insert-hdr10plus", "made.\(suffix).json",
        "--insert-dolby-vision", "made.\(suffix).bin",
      ], folder)
    #expect(folder.bytes("same.\(suffix)") == folder.bytes("made.\(suffix)"), "\(edit.said)")
  }

  /// Lines hold everything; the document names what it cannot hold, and its picture.
  @Test func refusesWhatJSONCannotHold() async throws {
    let folder = try Folder()
    let count = try await NumberedStream.clip.write(in: folder)
    var metadata = NumberedStream.metadata(5)
    metadata.windows[0].fractionBrightPixels = 3
    metadata.windows[0].colourSaturationWeight = 8
    let nalUnits = try Self.replaceMetadata(ofPicture: 5, by: metadata, in: folder)
    let json = try await Program.run(["extract", "made.h265", "--hdr10plus", "x.json"], in: folder.url)
    #expect(json.status == 1 && json.said.contains("picture 5 (access unit "), "\(json.said)")
    #expect(json.said.contains("fraction_bright_pixels 3") && json.said.contains(".jsonl"), "\(json.said)")
    #expect(folder.bytes("x.json") == nil)
    _ = try await Self.run(["extract", "made.h265", "--hdr10plus", "x.jsonl"], folder)
    #expect(folder.bytes("x.jsonl")?.split(separator: 0x0A).count == count)
    let edit = try await Self.run(
      ["edit", "plain.h265", "-o", "back.h265", "--insert-hdr10plus", "x.jsonl"], folder)
    let back = NumberedStream.nalUnits(folder.bytes("back.h265"))
    #expect(back == nalUnits.filter { $0[0] != 0x7C }, "\(edit.said)")
  }

  /// Encoders end the last byte of the message with a 1 and zeros, as that of a NAL unit.
  @Test func jsonHasNoBitsOfAlignment() async throws {
    let folder = try Folder()
    let count = try await NumberedStream.clip.write(in: folder)
    var metadata = NumberedStream.metadata(5)
    let plain = try metadata.userData().data
    metadata.trailingBits = UnreadBits([true])
    // There is room behind the syntax.
    try #require(try metadata.userData().data.count == plain.count && metadata.userData().data != plain)
    try Self.replaceMetadata(ofPicture: 5, by: metadata, in: folder)
    let json = try await Self.run(["extract", "made.h265", "--hdr10plus", "-"], folder)
    #expect(try Self.averages(json.output) == (0..<count).map(NumberedStream.average))
  }

  /// Replaces the metadata of a picture in `made.h265`.
  ///
  /// - Returns: the NAL units.
  @discardableResult private static func replaceMetadata(
    ofPicture rank: Int, by metadata: HDR10PlusMetadata, in folder: Folder
  ) throws -> [[UInt8]] {
    var nalUnits = NumberedStream.nalUnits(folder.bytes("made.h265"))
    let place = try #require(nalUnits.firstIndex(of: NumberedStream.clip.hdr10Plus(rank)))
    nalUnits[place] = AddedMetadata.sei(try metadata.userData())
    try folder.write("made.h265", Data(nalUnits.flatMap { [0, 0, 0, 1] + $0 }))
    return nalUnits
  }

  @Test func writesToStandardOutput() async throws {
    let folder = try Folder()
    let count = try await NumberedStream.clip.write(in: folder)
    let json = try await Self.run(["extract", "made.h265", "--hdr10plus", "-"], folder)
    #expect(try Self.averages(json.output) == (0..<count).map(NumberedStream.average))
    let rpus = try await Self.run(["extract", "made.h265", "--dolby-vision", "-"], folder)
    #expect(try rpus.output == NumberedStream.clip.rpuFile(count: count))
    for outputs in [["--hdr10plus", "-", "--dolby-vision", "-"], []] {
      let refused = try await Program.run(["extract", "made.h265"] + outputs, in: folder.url)
      #expect(refused.status == 64, "\(refused.said)")
    }
    try folder.write("there.json", Data([1]))
    let existing = try await Program.run(["extract", "made.h265", "--hdr10plus", "there.json"], in: folder.url)
    #expect(existing.status == 1 && existing.said.contains("--force"), "\(existing.said)")
    #expect(folder.bytes("there.json") == Data([1]))
  }

  @Test func namesTheEndThatIsCutOff() async throws {
    let folder = try Folder()
    _ = try await NumberedStream.clip.write(in: folder)
    let copy = try await Self.run(["repack", "made.h265", "-o", "whole.mp4"], folder)
    let whole = try #require(folder.bytes("whole.mp4"), "\(copy.said)")
    try folder.write("short.mp4", whole.prefix(whole.count * 3 / 4))
    for (name, isCutOff) in [("whole.mp4", false), ("short.mp4", true)] {
      let run = try await Self.run(["extract", name, "--dolby-vision", "x.bin", "--force"], folder)
      #expect(run.said.contains("\(name): it is cut off") == isCutOff, "\(run.said)")
    }
  }

  /// Pictures without a message repeat the one before, and their number is printed.
  @Test func repeatsMessages() async throws {
    let folder = try Folder()
    let stream = NumberedStream.clip
    let count = try await stream.write(in: folder)
    let missing = [0, 1, 7]
    let gone = try missing.map(stream.hdr10Plus) + missing.map(stream.rpu)
    let nalUnits = NumberedStream.nalUnits(folder.bytes("made.h265")).filter { !gone.contains($0) }
    try folder.write("gaps.h265", Data(nalUnits.flatMap { [0, 0, 0, 1] + $0 }))
    let run = try await Self.run(
      ["extract", "gaps.h265", "--hdr10plus", "x.json", "--dolby-vision", "x.bin"], folder)
    #expect(run.said.components(separatedBy: "3 pictures without one repeat another's").count == 3, "\(run.said)")
    let ranks = (0..<count).map { $0 < 2 ? 2 : $0 == 7 ? 6 : $0 }
    #expect(try Self.averages(folder.bytes("x.json")) == ranks.map(NumberedStream.average))
    var file = Data()
    for rank in ranks { file += [0, 0, 0, 1] + (try stream.rpu(rank)).dropFirst(2) }
    #expect(folder.bytes("x.bin") == file)
    let none = try await Program.run(["extract", "plain.h265", "--dolby-vision", "y.bin"], in: folder.url)
    #expect(none.status == 1 && none.said.contains("no RPU of Dolby Vision in \(count) pictures"), "\(none.said)")
    #expect(folder.names.contains("y.bin") == false)
  }

  /// An RPU with a wrong CRC, and a message that is cut off, with the picture and the place.
  @Test func stopsAtDamage() async throws {
    let folder = try Folder()
    let stream = NumberedStream.clip
    let count = try await stream.write(in: folder)
    var (rpu, message) = (try stream.rpu(4), try stream.hdr10Plus(6))
    rpu[rpu.count - 2] ^= 0x40
    message = AddedMetadata.sei(
      RegisteredUserData(countryCode: 0xB5, data: Array(try NumberedStream.metadata(6).userData().data.prefix(12))))
    let (oldRPU, oldMessage) = (try stream.rpu(4), try stream.hdr10Plus(6))
    let nalUnits = NumberedStream.nalUnits(folder.bytes("made.h265")).map {
      $0 == oldRPU ? rpu : $0 == oldMessage ? message : $0
    }
    let bytes = Data(nalUnits.flatMap { [0, 0, 0, 1] + $0 })
    try folder.write("bad.h265", bytes)
    for (option, picture, nalUnit) in [("--dolby-vision", 4, rpu), ("--hdr10plus", 6, message)] {
      let run = try await Program.run(["extract", "bad.h265", option, "x.json"], in: folder.url)
      #expect(run.status == 1 && run.said.contains("bad.h265: picture \(picture) (access unit "), "\(run.said)")
      let offset = try #require(bytes.range(of: Data(nalUnit))).lowerBound
      #expect(run.said.contains("NAL unit at \(offset)") && run.said.contains("expected"), "\(run.said)")
      #expect(!folder.names.contains("x.json"))
      let forced = try await Self.run(["extract", "bad.h265", option, "x.json", "--force"], folder)
      #expect(forced.said.contains("of \(count) pictures"), "\(forced.said)")
      let file = try #require(folder.bytes("x.json"))
      if option == "--dolby-vision" { #expect(file.range(of: Data(rpu.dropFirst(2))) != nil) }
      try FileManager.default.removeItem(at: folder.url.appending(path: "x.json"))
    }
  }
}
