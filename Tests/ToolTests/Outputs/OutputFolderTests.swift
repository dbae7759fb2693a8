// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// The folder of a playlist's segments: nothing else is lost, and nothing is half written.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct OutputFolderTests {
  private static let clip = Program.media.appending(path: "clip.mp4").path

  private func repack(_ options: String..., in folder: Folder) async throws -> Program {
    try await Program.run(["repack", Self.clip, "-o", "list.m3u8"] + options, in: folder.url)
  }

  @Test func replacesAPlaylistOnRequestOnly() async throws {
    let folder = try Folder()
    #expect(try await repack("--segment-duration", "0.5", in: folder).status == 0)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.appending(path: "list").path)
    #expect(
      names.sorted() == [
        "video-00001.m4s", "video-00002.m4s", "video-00003.m4s", "video-init.mp4", "video.m3u8",
      ])
    let first = folder.bytes("list/video.m3u8")
    let refused = try await repack(in: folder)
    #expect(refused.status == 1 && refused.said.contains("list.m3u8: already exists; --force"), "\(refused.said)")
    try FileManager.default.removeItem(at: folder.url.appending(path: "list.m3u8"))
    let other = try await repack(in: folder)
    #expect(other.status == 1 && other.said.contains("list: already exists; --force"), "\(other.said)")
    #expect(folder.names == ["list"] && folder.bytes("list/video.m3u8") == first)
    #expect(try await repack("--force", in: folder).status == 0)
    #expect(folder.names == ["list", "list.m3u8"] && folder.bytes("list/video.m3u8") != first)
    #expect(folder.bytes("list/video-00002.m4s") == nil)
  }

  @Test func keepsFoldersWithOtherFiles() async throws {
    let folder = try Folder()
    let other = folder.url.appending(path: "list")
    try FileManager.default.createDirectory(at: other, withIntermediateDirectories: false)
    try folder.write("list/precious", Data("precious".utf8))
    let refused = try await repack("--force", in: folder)
    #expect(refused.status == 1 && refused.said.contains("such as precious"), "\(refused.said)")
    #expect(folder.names == ["list"] && folder.bytes("list/precious") == Data("precious".utf8))
    try FileManager.default.removeItem(at: other)
    // The input is in the folder.
    #expect(try await repack(in: folder).status == 0)
    try FileManager.default.removeItem(at: other.appending(path: "video-init.mp4"))
    try FileManager.default.copyItem(atPath: Self.clip, toPath: other.appending(path: "video-init.mp4").path)
    let own = try await Program.run(
      ["repack", "list/video-init.mp4", "-o", "list.m3u8", "--force"], in: folder.url)
    #expect(own.status == 1 && own.said.contains("the input itself"), "\(own.said)")
    #expect(folder.bytes("list/video-init.mp4") == (try Data(contentsOf: URL(filePath: Self.clip))))
  }

  @Test(arguments: [
    (["-o", "-"], "no known suffix"), (["-o", "nowhere/list.m3u8"], "nowhere/list.m3u8: cannot be written"),
    (["-o", ".m3u8"], "suffix"), (["-o", "list.mp4", "--segment-duration", "4"], "needs -o OUT.m3u8"),
    (["-o", "list.m3u8", "--segment-duration", "0"], "0.1 seconds to an hour"),
    (["-o", "-", "--format", "hls"], "--format"),
    (["-o", "list.m3u8", "--cut", "hidden", "--start", "1"], "edit list"),
    (["-o", "list.m3u8", "--streams", "7"], "no stream 7"),
  ]) func refusesUnsuitableOutputs(arguments: [String], said: String) async throws {
    let folder = try Folder()
    let run = try await Program.run(["repack", Self.clip] + arguments, in: folder.url)
    #expect(run.status != 0 && run.said.contains(said), "\(run.status) \(run.said)")
    #expect(folder.names.isEmpty)
  }

  @Test func onlyRepackWritesPlaylists() async throws {
    let folder = try Folder()
    let run = try await Program.run(["edit", Self.clip, "-o", "list.m3u8", "--range", "full"], in: folder.url)
    #expect(run.status == 64 && run.said.contains("no known suffix") && folder.names.isEmpty, "\(run.said)")
  }

  /// The segments so far are in complete playlists.
  @Test func completesPlaylistsWhenInterrupted() async throws {
    let folder = try Folder()
    let once = try Data(contentsOf: Program.media.appending(path: "clip.h264"))
    try folder.write("long", (0..<1000).reduce(into: Data()) { bytes, _ in bytes += once })
    let isLong = Program.Signal(number: SIGINT) { _ in
      folder.names.filter { $0.hasSuffix(".part") }.contains { name in
        (try? FileManager.default.contentsOfDirectory(atPath: folder.url.appending(path: name).path))?.count ?? 0 > 4
      }
    }
    let run = try await Program.run(["repack", "long", "-o", "list.m3u8"], in: folder.url, signal: isLong)
    #expect(run.status == 130, "\(run.said)")
    let said = try #require(
      run.said.firstMatch(of: /incomplete, interrupted after ([0-9]+) access units/), "\(run.said)")
    #expect(folder.names == ["list", "list.m3u8", "long"])
    let video = try StreamingFiles("list.m3u8", in: folder).video
    let count = try #require(Int(said.1))
    // Pictures in front of the last one may be missing.
    #expect(0...160_000_000 ~= video.total - count * 40_000_000 && video.segments.count > 3, "\(video.total) \(count)")
  }
}
