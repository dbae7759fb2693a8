// SPDX-License-Identifier: MPL-2.0
import Foundation
import StreamReport
import SystemPackage
import Testing

@testable import Containers

/// The changes of an MP4 file after libavformat has written it.
@Suite(.enabled(if: Program.isBuilt)) struct MovieFileTests {
  private static func number(_ bytes: Data) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

  /// The boxes of the file, in their order.
  private static func boxes(_ file: Data) -> [String] {
    var (names, offset): ([String], Int) = ([], 0)
    while file.count - offset >= 8 {
      names.append(String(decoding: file[offset + 4..<offset + 8], as: UTF8.self))
      offset += max(8, number(file[offset..<offset + 4]))
    }
    return names
  }

  /// All samples of the video, by their places in the file.
  private static func samples(_ path: String) throws -> [[UInt8]] {
    var samples = try MP4.VideoSamples(try InputBytes(try InputFile(FilePath(path))))
    var found: [[UInt8]] = []
    while let sample = try samples.next() { found.append(samples.bytes(of: sample)) }
    return found
  }

  /// Files begin with their description, whether the media were moved by the file system or copied.
  @Test(arguments: ["mp4", "mov"]) func writesTheDescriptionFirst(type: String) async throws {
    let folder = try Folder()
    let source = Program.media.appending(path: "clip.mkv").path
    let run = try await Program.run(["repack", source, "-o", "out.\(type)"], in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    let file = try #require(folder.bytes("out.\(type)"))
    #expect(Self.boxes(file).prefix(2) == ["ftyp", "moov"])
    let path = folder.url.appending(path: "out.\(type)").path
    let samples = try Self.samples(path)
    #expect(samples.count == 62)
    // Back to how libavformat leaves it, and completed once more, with room from the file system where it has any.
    for roomSize: Int64 in [.max, 0] {
      try folder.write("again.\(type)", try Self.withMovieBehind(file))
      let again = folder.url.appending(path: "again.\(type)").path
      var movie = try #require(try MovieFile(FilePath(again), name: again))
      try movie.finish(roomSize: roomSize)
      let names = Self.boxes(try #require(folder.bytes("again.\(type)")))
      #expect(names.filter { !["free", "wide"].contains($0) } == ["ftyp", "moov", "mdat"])
      let isSame = try Self.samples(again) == samples
      #expect(isSame, "\(roomSize)")
    }
  }

  /// Media stay where they are if there is room for the description in front of them. The room is enough, exactly as
  /// much, too little for a box that fills it up, too little, or beyond 32 bits.
  @Test(arguments: [65_536, 0, 4, -100, 1 << 32] as [Int64], [0, .max] as [Int64])
  func writesTheDescriptionIntoReservedRoom(excess: Int64, roomSize: Int64) async throws {
    let folder = try Folder()
    let source = Program.media.appending(path: "clip.mkv").path
    _ = try await Program.run(["repack", source, "-o", "out.mp4"], in: folder.url)
    let file = try #require(folder.bytes("out.mp4"))
    let path = folder.url.appending(path: "room.mp4").path
    let behind = try Self.withMovieBehind(file)
    let type = Self.number(file[..<4])
    let size = Self.number(file[type..<type + 4])
    // Beyond 4 GiB, each of the offsets takes four bytes more.
    let room = excess == 1 << 32 ? excess : Int64(size) + excess
    let open = try FileDescriptor.open(
      FilePath(path), .writeOnly, options: .create, permissions: .ownerReadWrite)
    try open.writeAll(toAbsoluteOffset: room, behind)
    try open.close()
    var movie = try #require(try MovieFile(FilePath(path), name: path, room: room))
    try movie.finish(roomSize: roomSize)
    let isSame = try Self.samples(path) == Self.samples(folder.url.appending(path: "out.mp4").path)
    #expect(isSame)
    let bytes = try InputBytes(try InputFile(FilePath(path)))
    let (names, end) = try Self.boxes(bytes)
    #expect(names.filter { $0 != "free" } == ["ftyp", "moov", "mdat"], "\(names)")
    #expect(end == bytes.size)
    let run = try await Program.run(["check", "room.mp4"], in: folder.url)
    #expect(run.status == 0, "\(run.said)")
  }

  /// The boxes of a file that may be too large to be read in one piece, and the end of the last box.
  private static func boxes(_ bytes: InputBytes) throws -> (names: [String], end: UInt64) {
    var (names, offset): ([String], UInt64) = ([], 0)
    while bytes.size - offset >= 8 {
      let header = try MP4.BoxHeader(
        bytes.read(at: offset, count: Int(min(16, bytes.size - offset))).span, at: 0, limit: bytes.size - offset)
      names.append(header.type.name)
      offset += header.size
    }
    return (names, offset)
  }

  /// The file with `moov` behind the media.
  static func withMovieBehind(_ file: Data) throws -> Data {
    let type = Self.number(file[..<4])
    let size = Self.number(file[type..<type + 4])
    var movie = MovieBox([UInt8](file[type..<type + size]))
    movie.moveMedia(by: Int64(-size))
    return file[..<type] + file[(type + size)...] + Data(movie.bytes)
  }

  /// Offsets that are out of reach of 32 bits get 64.
  @Test func writesOffsetsBeyondFourGigabytes() async throws {
    let folder = try Folder()
    let source = Program.media.appending(path: "clip.mkv").path
    _ = try await Program.run(["repack", source, "-o", "out.mp4"], in: folder.url)
    let file = try #require(folder.bytes("out.mp4"))
    let type = Self.number(file[..<4])
    let size = Self.number(file[type..<type + 4])
    var movie = MovieBox([UInt8](file[type..<type + size]))
    movie.makeRoom(forMediaMovedBy: 1 << 32)
    movie.moveMedia(by: 1 << 32)
    let data = Data(movie.bytes)
    #expect(data.range(of: Data("co64".utf8)) != nil)
    #expect(data.range(of: Data("stco".utf8)) == nil)
    #expect(Self.number(data.prefix(4)) == data.count)
    // The media follow 4 GiB behind, in a file with a hole.
    let path = FilePath(folder.url.appending(path: "large.mp4").path)
    let large = try FileDescriptor.open(path, .writeOnly, options: .create, permissions: .ownerReadWrite)
    let media = file[(type + size)...]
    // The hole is a box, too, of a size that its header has in 64 bits.
    let start = Int64(type + movie.bytes.count)
    let end = Int64(type + size) + (1 << 32)
    var hole: [UInt8] = [0, 0, 0, 1] + Array("free".utf8)
    hole += (0..<8).map { UInt8(truncatingIfNeeded: (end - start) >> (56 - 8 * $0)) }
    try large.writeAll(toAbsoluteOffset: 0, Array(file[..<type]) + movie.bytes + hole)
    try large.writeAll(toAbsoluteOffset: end, Array(media))
    try large.close()
    let samples = try Self.samples(path.string)
    let isSame = try samples == Self.samples(folder.url.appending(path: "out.mp4").path)
    #expect(isSame && samples.count == 62)
    let decoded = try await Program.run(["decode", "large.mp4", "-o", "-"], in: folder.url)
    let pictureSize = 320 * 180 * 3 / 2
    #expect(decoded.output.count == 62 * pictureSize, "\(decoded.said)")
    let copy = try await Program.run(["repack", "large.mp4", "-o", "small.mp4"], in: folder.url)
    #expect(copy.status == 0, "\(copy.said)")
    let isCopied = try Self.samples(folder.url.appending(path: "small.mp4").path) == samples
    #expect(isCopied)
  }

  /// The last sample of sound lasts as long as the others. In MP4 no later sample states that, and sound is not the
  /// first stream that is read.
  @Test func keepsTheEndOfSound() async throws {
    let folder = try Folder()
    let video = Program.media.appending(path: "clip.mp4").path
    let made = try await Program.shell(
      "gst-launch-1.0 -q qtmux name=m ! filesink location=in.mov filesrc location=\(video) ! qtdemux ! h264parse ! queue ! m. "
        + "audiotestsrc num-buffers=60 ! audio/x-raw,rate=48000 ! avenc_aac ! queue ! m.", in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    var sizes: [Int] = []
    for (from, to) in [("in.mov", "a.mp4"), ("a.mp4", "b.mp4"), ("b.mp4", "c.mov"), ("c.mov", "d.mp4")] {
      let run = try await Program.run(["repack", from, "-o", to], in: folder.url)
      #expect(run.status == 0 && run.said.contains("AAC"), "\(run.said)")
      let file = try #require(folder.bytes(to))
      if to.hasSuffix("mp4") { sizes.append(file.count) }
    }
    #expect(Set(sizes).count == 1, "\(sizes)")
  }
}
