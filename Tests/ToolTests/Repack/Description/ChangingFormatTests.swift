// SPDX-License-Identifier: MPL-2.0
import AVFormat
import Foundation
import TestSupport
import Testing

/// Streams whose parameter sets change between coded video sequences, in containers that describe a track once.
@Suite(.enabled(if: Program.isBuilt)) struct ChangingFormatTests {
  private func pictures(_ file: String, in folder: Folder) async throws -> [String] {
    let run = try await Program.run(["hash", "--each", file], in: folder.url)
    #expect(run.status == 0, "\(file): \(run.said)")
    return run.text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map {
      String($0.split(separator: ",").last ?? "").trimmingCharacters(in: .whitespaces)
    }
  }

  private func repack(_ source: String, _ target: String, in folder: Folder) async throws {
    let run = try await Program.run(["repack", source, "-o", target], in: folder.url)
    #expect(run.status == 0, "\(source) → \(target): \(run.said)")
  }

  /// The type of the first sample entry: behind the version, the number of entries and its size.
  private static func sampleEntry(of movie: Data) throws -> String {
    let place = try #require(movie.range(of: Data("stsd".utf8))).upperBound + 12
    return String(decoding: movie[place..<place + 4], as: UTF8.self)
  }

  /// From each container into each other one: the sample entry depends on the stream, not on where it came from.
  @Test(arguments: [("h264", "avc1", "avc3"), ("h265", "hvc1", "hev1")])
  func keepsParameterSetsWithTheirPictures(_ suffix: String, _ described: String, _ inBand: String) async throws {
    let folder = try Folder()
    var stream = Data()
    for name in ["clip", "wide", "clip"] {
      stream += try Data(contentsOf: Program.media.appending(path: "\(name).\(suffix)"))
    }
    try folder.write("in.\(suffix)", stream)
    let expected = try await pictures("in.\(suffix)", in: folder)
    try #require(Set(expected).count > 62)
    var sources = ["in.\(suffix)"]
    for container in ["ts", "mp4", "mkv"] + (suffix == "h264" ? ["flv"] : []) {
      try await repack("in.\(suffix)", "first.\(container)", in: folder)
      sources.append("first.\(container)")
    }
    // As other programs write it: the record lacks what samples have.
    var other = try Data(contentsOf: folder.url.appending(path: "first.mp4"))
    let entry = try #require(other.range(of: Data(inBand.utf8)))
    other.replaceSubrange(entry, with: Data(described.utf8))
    try folder.write("other.mp4", other)
    sources.append("other.mp4")
    for source in TestScope.rows(sources, usually: 2) {
      for container in ["ts", "mp4", "mov", "mkv"] + (suffix == "h264" ? ["flv"] : []) {
        let target = "\(source).\(container)"
        try await repack(source, target, in: folder)
        #expect(try await pictures(target, in: folder) == expected, "\(target)")
        guard ["mp4", "mov"].contains(container) else { continue }
        #expect(try Self.sampleEntry(of: Data(contentsOf: folder.url.appending(path: target))) == inBand, "\(target)")
      }
    }
  }

  /// Edited values are also in the container's description, which has the first parameter sets.
  @Test(arguments: ["mp4", "mov", "mkv"]) func writesEditsIntoTheContainersDescription(_ container: String) async throws
  {
    let folder = try Folder()
    var stream = Data()
    for name in ["clip", "wide"] { stream += try Data(contentsOf: Program.media.appending(path: "\(name).h265")) }
    try folder.write("in.h265", stream)
    let run = try await Program.run(
      ["edit", "in.h265", "-o", "out.\(container)", "--sample-aspect", "64:45", "--colour", "bt2020-pq"], in: folder.url
    )
    #expect(run.status == 0, "\(run.said)")
    let streams = try CutCompanionTests.open(folder.url.appending(path: "out.\(container)").path).streams
    let video = try #require(streams.first)
    #expect(video.pixelAspect?.numerator == 64 && video.pixelAspect?.denominator == 45)
    // hvcC with three arrays at least.
    #expect(video.extradata.count > 60 && video.extradata[22] >= 3)
    let check = try await Program.run(["check", "out.\(container)"], in: folder.url)
    #expect(check.text.contains(" 0 errors, 0 warnings"), "\(check.text)")
  }

  /// A pipe is read once, and what was written into one stays.
  @Test func refusesAFormatChangeInAPipe() async throws {
    let folder = try Folder()
    var stream = Data()
    for name in ["clip", "wide"] {
      stream += try Data(contentsOf: Program.media.appending(path: "\(name).h264"))
    }
    try folder.write("in.h264", stream)
    for line in [
      "cat in.h264 | \(Program.executable.path) repack - -o out.mkv",
      "\(Program.executable.path) repack in.h264 -o - --format mkv",
    ] {
      let run = try await Program.shell(line, in: folder.url)
      #expect(run.status == 1 && run.said.contains("the format changes within the stream"), "\(line): \(run.said)")
    }
  }
}
