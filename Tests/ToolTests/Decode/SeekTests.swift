// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// `--start`, `--duration` and `--at` choose the same pictures of a stream, whatever it is in.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct SeekTests {
  /// 100 pictures of 96x64 at 25 a second, with leading pictures before most keyframes.
  private static func stream(_ codec: String) -> URL { Program.media.appending(path: "open-gop.\(codec)") }
  private static let pictureSize = 96 * 64 * 3 / 2
  /// Of `ContainerTests.untimed`.
  private static let smallSize = 32 * 32 * 3 / 2

  /// Fragments of 0.3 s, so that most begin with other pictures than keyframes.
  private static func fragmented(_ codec: String) -> String {
    "gst-launch-1.0 -q filesrc location=\(stream(codec).path) ! swift\(codec)parse ! mp4mux fragment-duration=300 "
      + "! filesink location=fragmented.mp4"
  }

  /// The stream with sound, whose first timestamps are others.
  private static func withSound(_ codec: String, _ muxer: String, _ name: String) -> String {
    "gst-launch-1.0 -q \(muxer) name=m ! filesink location=\(name) filesrc location=\(stream(codec).path) "
      + "! swift\(codec)parse ! queue ! m. "
      + "audiotestsrc num-buffers=200 ! audio/x-raw,rate=48000 ! avenc_aac ! aacparse ! queue ! m."
  }

  private static func pictures(_ data: Data, _ range: Range<Int>) -> Data {
    Data(data[range.lowerBound * pictureSize..<min(range.upperBound * pictureSize, data.count)])
  }

  @Test func beginsAtTheSamePictureInEachContainer() async throws {
    let folder = try Folder()
    let codec = "h264"
    let stream = Self.stream(codec).path
    let suffixes = ["mp4", "mov", "mkv", "ts", "flv"]
    let made = try await Program.shell(
      "set -e; for suffix in \(suffixes.joined(separator: " ")); do h26x repack \(stream) -o clip.$suffix; done; "
        + "\(Self.fragmented(codec)); \(Self.withSound(codec, "mpegtsmux", "sound.ts")); "
        + Self.withSound(codec, "matroskamux", "sound.mkv"), in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    let whole = try await Program.run(["decode", stream, "-o", "-"], in: folder.url).output
    try #require(whole.count == 100 * Self.pictureSize)
    let files = suffixes.map { "clip.\($0)" } + ["fragmented.mp4", "sound.ts", "sound.mkv", stream]
    // Between two pictures: among the leading pictures of a keyframe, and just before a keyframe.
    let starts = [(2.37, 59), (3.59, 89)]
    let runs = files.flatMap { file in starts.map { (file, $0.0, $0.1) } }
    try await Crowd.each(runs) { file, start, first in
      // Runs of one folder would share their output files.
      let own = try Folder()
      let path = file.hasPrefix("/") ? file : folder.url.appending(path: file).path
      let run = try await Program.run(
        ["decode", path, "-o", "-", "--start", "\(start)", "--duration", "0.2"], in: own.url)
      let isBetween = Double(first) / 25 < start - 0.001
      let expected = Self.pictures(whole, first..<first + (isBetween ? 6 : 5))
      #expect(run.output == expected, "\(file) from \(start): \(run.said)")
    }
  }

  /// A file at standard input ends, and begins at the same picture.
  @Test func beginsAtTheSamePictureOfStandardInput() async throws {
    let folder = try Folder()
    let stream = Self.stream("h264").path
    try #require(try await Program.run(["repack", stream, "-o", "clip.flv"], in: folder.url).status == 0)
    let whole = try await Program.run(["decode", stream, "-o", "-"], in: folder.url).output
    let run = try await Program.shell(
      "timeout 600 h26x decode - -o - --start 1 --frames 2 < clip.flv", in: folder.url)
    #expect(run.status == 0 && run.output == Self.pictures(whole, 25..<27), "\(run.said)")
    // What another program has read before is not there any more.
    let rest = try await Program.shell(
      "{ printf 'not this'; cat clip.flv; } > both; "
        + "{ dd bs=8 count=1 of=/dev/null status=none; h26x decode - -o - --start 1 --frames 2; } < both",
      in: folder.url)
    #expect(rest.output == run.output, "\(rest.said)")
  }

  /// The last picture before a long pause is shown at any time in it.
  @Test func showsThePictureBeforeAPause() async throws {
    let folder = try Folder()
    try folder.write("raw.h264", ContainerTests.untimed)
    let made = try await Program.run(["repack", "raw.h264", "-o", "clip.mkv", "--framerate", "25"], in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    var bytes = try #require(folder.bytes("clip.mkv"))
    // The third block of track 1: its time after the cluster's becomes 1000 ms instead of 80.
    let block = try #require(bytes.range(of: Data([0x81, 0, 80]), options: .backwards))
    bytes.replaceSubrange(block, with: [0x81, 3, 0xE8])
    try folder.write("pause.mkv", bytes)
    let whole = try await Program.run(["decode", "pause.mkv", "-o", "-"], in: folder.url).output
    try #require(whole.count == 3 * Self.smallSize)
    let run = try await Program.run(["decode", "pause.mkv", "-o", "-", "--start", "0.5"], in: folder.url)
    #expect(run.output == Data(whole.dropFirst(Self.smallSize)), "\(run.said)")
  }

  @Test func refusesTimesInAStreamWithoutTimes() async throws {
    let folder = try Folder()
    try folder.write("raw.h264", ContainerTests.untimed)
    let run = try await Program.run(["decode", "raw.h264", "-o", "out.yuv", "--start", "0.04"], in: folder.url)
    #expect(run.status == 1 && run.said.contains("--framerate"), "\(run.said)")
    let shot = try await Program.run(["snapshot", "raw.h264", "-o", "out.png", "--at", "0.04"], in: folder.url)
    #expect(shot.status == 1 && shot.said.contains("--framerate") && folder.names == ["raw.h264"], "\(shot.said)")
    let timed = try await Program.run(
      ["decode", "raw.h264", "-o", "-", "--start", "0.04", "--framerate", "25"], in: folder.url)
    #expect(timed.output.count == 2 * Self.smallSize, "\(timed.said)")
  }

  /// A fragmented file that is cut off has as many pictures as through a pipe, and a message reports that it is cut off.
  @Test func decodesACutOffFileToItsEnd() async throws {
    let folder = try Folder()
    let made = try await Program.shell(
      "\(Self.fragmented("h264")); head -c 20000 fragmented.mp4 > cut.mp4; cat cut.mp4 | h26x decode - -o -",
      in: folder.url)
    let piped = made.output
    try #require(piped.count > 20 * Self.pictureSize, "\(made.said)")
    let run = try await Program.run(["decode", "cut.mp4", "-o", "-", "--strict"], in: folder.url)
    #expect(run.status == 2 && run.said.contains("cut off"), "\(run.said)")
    #expect(run.output == piped, "\(run.output.count / Self.pictureSize) pictures: \(run.said)")
  }
}
