// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// Places in long files that have an index are found without reading earlier parts. Files that are not whole are read
/// as far as they go.
@Suite(.serialized, .enabled(if: Program.isBuilt)) struct PlaceTests {
  /// A hundred seconds, a keyframe every second, and 256 KiB of filler data every 2.48 seconds.
  private static func write(_ names: [String], in folder: Folder) async throws {
    let clip = try Data(contentsOf: Program.media.appending(path: "clip.h264"))
    let filler = Data([0, 0, 0, 1, 12]) + Data(repeating: 0xFF, count: 1 << 18) + Data([0x80])
    var stream = Data()
    for _ in 0..<40 { stream += clip + filler }
    try folder.write("long.h264", stream)
    for name in names {
      let run = try await Program.run(["repack", "long.h264", "-o", name], in: folder.url)
      #expect(run.status == 0, "\(run.said)")
    }
  }

  /// Runs a command, and counts the bytes that it has read.
  private static func bytesRead(_ command: String, in folder: Folder) async throws -> Int {
    let run = try await Program.shell("\(command) && cat /proc/$$/io", in: folder.url)
    #expect(run.status == 0, "\(command): \(run.said)")
    let line = try #require(run.text.split(separator: "\n").first { $0.hasPrefix("rchar: ") })
    return try #require(Int(line.dropFirst(7)))
  }

  private static func hash(_ name: String, _ options: String = "", in folder: Folder) async throws -> String {
    let run = try await Program.shell("h26x hash \(options) - < \(name)", in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    return run.text
  }

  @Test(arguments: ["mp4", "mkv"]) func readsOnlyNearTheStartOfACut(type: String) async throws {
    let folder = try Folder()
    try await Self.write(["long.\(type)"], in: folder)
    for target in ["mkv", "mp4"] {
      let count = try await Self.bytesRead(
        "h26x repack long.\(type) -o out.\(target) --start 0:01:30 --end 0:01:31", in: folder)
      #expect(count < 5 << 20, "\(type) to \(target): \(count) bytes")
      // A pipe is read from its beginning.
      let piped = try await Program.shell(
        "cat long.\(type) | h26x repack - -o piped.\(target) --start 0:01:30 --end 0:01:31", in: folder.url)
      #expect(piped.status == 0, "\(piped.said)")
      let pictures = try await Self.hash("piped.\(target)", in: folder)
      #expect(try await Self.hash("out.\(target)", in: folder) == pictures, "\(type) to \(target)")
    }
    let count = try await Self.bytesRead("h26x snapshot long.\(type) --at 0:01:30 -o out.png", in: folder)
    #expect(count < 5 << 20, "\(type): \(count) bytes")
  }

  /// Sound that an edit list moves is found where it is, however far from the video's samples.
  @Test func findsSoundThatAnEditListMoves() async throws {
    let folder = try Folder()
    try await Self.write(["long.mp4"], in: folder)
    let made = try await Program.shell(
      "gst-launch-1.0 -q mp4mux name=m movie-timescale=1000 ! filesink location=made.mp4 "
        + "audiotestsrc num-buffers=4690 ! audio/x-raw,rate=48000,channels=1 ! avenc_aac ! aacparse ! queue ! m. "
        + "filesrc location=long.mp4 ! qtdemux ! h264parse ! queue ! m.", in: folder.url)
    #expect(made.status == 0, "\(made.said)")
    var file = try #require(folder.bytes("made.mp4"))
    while let list = file.range(of: Data("edts".utf8)) { file.replaceSubrange(list, with: Data("free".utf8)) }
    let lists: [[(UInt64, Int64)]] = [
      [(20_000, -1), (60_000, 0)], [(60_000, 30 * 48_000)], [(60_000, 1 << 60)], [(60_000, .max)],
      [(1 << 62, -1), (1, 0)],
    ]
    for (number, list) in lists.enumerated() {
      try folder.write("in.mp4", AddedBoxes.add(AddedBoxes.edits(list), to: ["moov", "trak"], of: file))
      let cut = "--start 0:00:50 --end 0:00:51"
      let sought = try await Program.shell("h26x repack in.mp4 -o sought\(number).mkv \(cut)", in: folder.url)
      #expect(sought.status == 0, "\(list): \(sought.said)")
      let piped = try await Program.shell("cat in.mp4 | h26x repack - -o piped\(number).mkv \(cut)", in: folder.url)
      #expect(piped.status == 0, "\(list): \(piped.said)")
      #expect(folder.bytes("sought\(number).mkv") == folder.bytes("piped\(number).mkv"), "\(list)")
      if number < 2 { #expect(sought.said.contains("AAC"), "\(sought.said)") }
    }
  }

  /// A sample that is cut off is not copied, and nothing hangs.
  @Test(arguments: ["mkv", "ts", "flv", "fragments.mp4"]) func copiesCutOffFilesUpToTheLastWholeSample(
    name: String
  ) async throws {
    let folder = try Folder()
    let clip = Program.media.appending(path: "clip.mp4").path
    let made = try await Program.shell(
      name == "fragments.mp4"
        ? "h26x repack \(clip) -o - --format mp4 > whole" : "h26x repack \(clip) -o whole --format \(name)",
      in: folder.url)
    #expect(made.status == 0, "\(made.said)")
    try folder.write("cut", try #require(folder.bytes("whole")).dropLast(3000))
    let run = try await Program.run(["repack", "cut", "-o", "out.mkv"], in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    #expect(
      run.said.contains("left behind: everything beyond the end of the source, which is cut off"), "\(run.said)")
    let checked = try await Program.run(["check", "out.mkv"], in: folder.url)
    #expect(checked.text.contains(", 0 errors"), "\(checked.text)")
  }

  /// A file that becomes longer while it is read: what is there is copied, and the summary has a remark.
  @Test(arguments: ["mkv", "ts"]) func copiesGrowingFilesAndReportsTheGrowth(type: String) async throws {
    let folder = try Folder()
    try await Self.write(["whole.\(type)"], in: folder)
    // The output is a pipe, which nothing reads before the file has grown. The pipe holds less than the whole output.
    let run = try await Program.shell(
      """
      mkfifo out; head -c 5000000 whole.\(type) > growing.\(type)
      h26x repack growing.\(type) -o out --format mkv & exec 3< out
      tail -c +5000001 whole.\(type) >> growing.\(type); cat <&3 > out.mkv; wait $!
      """, in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    #expect(run.said.contains("; the source grew in the meantime, and may have more"), "\(run.said)")
    let checked = try await Program.run(["check", "out.mkv"], in: folder.url)
    #expect(checked.text.contains(", 0 errors"), "\(checked.text)")
  }
}
