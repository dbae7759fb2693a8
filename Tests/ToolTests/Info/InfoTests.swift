// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// `h26x info`: format, duration, frame rate and rotation.
@Suite(.enabled(if: Program.isBuilt)) struct InfoTests {
  private static let clip = Program.media.appending(path: "clip.h264").path

  @Test(arguments: Program.clipSuffixes) func describesTheFile(suffix: String) async throws {
    let folder = try Folder()
    let run = try await Program.run(
      ["info", "--count", "--json", Program.media.appending(path: "clip.\(suffix)").path], in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    let files = try #require(try JSONSerialization.jsonObject(with: run.output) as? [[String: Any]])
    let video = try #require(files.first?["video"] as? [String: Any])
    #expect(video["codec"] as? String == "H.264")
    #expect(video["width"] as? Int == 320 && video["height"] as? Int == 180)
    #expect(video["profile"] as? String == "high" && video["framerate"] as? String == "25/1")
    #expect(video["pictures"] as? Int == 62 && video["groups"] as? Int == 3)
    #expect(files.first?["duration"] as? Double == 2.48)
  }

  /// The duration of the movie header, of which all ones mean that it is unknown. The video lasts 2.48 s.
  @Test(arguments: [0, UInt8.max]) func findsTheDurationIfTheHeaderHasNone(byte: UInt8) async throws {
    let folder = try Folder()
    let clip = try Data(contentsOf: Program.media.appending(path: "clip.mp4"))
    let header = try #require(clip.range(of: Data("mvhd".utf8)))
    var short = clip
    short.replaceSubrange(header.upperBound + 16..<header.upperBound + 20, with: Data(repeating: byte, count: 4))
    try folder.write("short.mp4", short)
    // Version 1 has 12 bytes more: the box becomes shorter at its end, which is reserved.
    var long = clip
    let times = Data([1, 0, 0, 0]) + Data(count: 16) + Data([0, 0, 3, 0xE8]) + Data(repeating: byte, count: 8)
    long.replaceSubrange(header.upperBound..<header.upperBound + times.count, with: times)
    try folder.write("long.mp4", long)
    let run = try await Program.run(["info", "short.mp4", "long.mp4"], in: folder.url)
    let durations = run.text.split(separator: "\n").filter { $0.hasPrefix("Duration") }
    #expect(run.status == 0 && durations.count == 2, "\(run.status) \(run.said)")
    #expect(durations.allSatisfy { $0.hasSuffix(" 0:00:02.480") }, "\(run.text)")
  }

  /// The movie header of a fragmented file has the duration of its first fragment, or none.
  @Test func findsTheDurationOfFragments() async throws {
    let folder = try Folder()
    let made = try await Program.shell(
      "gst-launch-1.0 -q filesrc location=\(Program.media.appending(path: "clip.mp4").path) ! qtdemux ! h264parse "
        + "! mp4mux fragment-duration=500 ! filesink location=in.mp4", in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    var bytes = try #require(folder.bytes("in.mp4"))
    let header = try #require(bytes.range(of: Data("mvhd".utf8)))
    // A tenth of a second.
    let timescale = bytes[header.upperBound + 12..<header.upperBound + 16].reduce(0) { $0 << 8 | Int($1) }
    let tenth = timescale / 10
    bytes.replaceSubrange(
      header.upperBound + 16..<header.upperBound + 20, with: [24, 16, 8, 0].map { UInt8(tenth >> $0 & 255) })
    try folder.write("in.mp4", bytes)
    let run = try await Program.run(["info", "in.mp4"], in: folder.url)
    #expect(run.status == 0 && run.text.contains("Duration            0:00:02.480"), "\(run.text)\(run.said)")
    // In a part of a stream, times do not begin with 0.
    let part = try #require(bytes.range(of: Data("moof".utf8), options: .backwards))
    let front = try #require(bytes.range(of: Data("moof".utf8)))
    try folder.write("part.mp4", bytes[..<(front.lowerBound - 4)] + bytes[(part.lowerBound - 4)...])
    let last = try await Program.run(["info", "part.mp4"], in: folder.url)
    #expect(last.status == 0 && last.text.contains("Duration            0:00:00.360"), "\(last.text)\(last.said)")
  }

  @Test func reportsTruncationAndVariableFrameRates() async throws {
    let folder = try Folder()
    let made = try await Program.shell(
      "h26x repack \(Self.clip) -o in.mp4 && gst-launch-1.0 -q filesrc location=in.mp4 ! qtdemux ! h264parse "
        + "! qtmux faststart=true ! filesink location=fast.mov", in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    var bytes = try #require(folder.bytes("fast.mov"))
    try folder.write("cut.mov", bytes.dropLast(10_000))
    let cut = try await Program.run(["info", "--count", "cut.mov"], in: folder.url)
    #expect(cut.status == 0 && cut.text.contains(" beyond the end of the file, which is cut off"), "\(cut.text)")
    let whole = try await Program.run(["info", "fast.mov"], in: folder.url)
    #expect(whole.text.contains("Frame rate          25\n"), "\(whole.text)")
    #expect(!whole.text.contains("cut off"), "\(whole.text)")
    // The first picture is shown four times as long as the others, and its duration is split off the table's one run.
    let times = try #require(bytes.range(of: Data("stts".utf8)))
    let delta = Array(bytes[times.upperBound + 12..<times.upperBound + 16])
    #expect(Array(bytes[times.upperBound + 4..<times.upperBound + 8]) == [0, 0, 0, 1])
    bytes.replaceSubrange(times.upperBound + 8..<times.upperBound + 12, with: [0, 0, 0, 40])
    let boxes: [(name: String, growth: Int)] = ["stts", "stbl", "minf", "mdia", "trak", "moov"].map { ($0, 8) }
    for box in boxes {
      let place = try #require(bytes.range(of: Data(box.name.utf8))).lowerBound - 4
      let size = bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } + box.growth
      bytes.replaceSubrange(place..<place + 4, with: [24, 16, 8, 0].map { UInt8(size >> $0 & 255) })
    }
    bytes.replaceSubrange(times.upperBound + 4..<times.upperBound + 8, with: [0, 0, 0, 2])
    let long = delta.reduce(0) { $0 << 8 | Int($1) } * 4
    bytes.insert(
      contentsOf: [0, 0, 0, 22] + [24, 16, 8, 0].map { UInt8(long >> $0 & 255) }, at: times.upperBound + 16)
    try folder.write("variable.mov", bytes)
    let variable = try await Program.run(["info", "variable.mov"], in: folder.url)
    // 62 pictures in 40 + 88 times the duration of one.
    #expect(variable.text.contains("Frame rate          variable, 12.109 on average\n"), "\(variable.text)")
  }

  /// The matrix of the track header: a, b, c and d in 1/65536.
  @Test(
    arguments: [
      ([-1, 0, 0, 1], "0 degrees clockwise, flipped"), ([1, 0, 0, -1], "180 degrees clockwise, flipped"),
      ([0, 1, 1, 0], "90 degrees clockwise, flipped"), ([0, 1, -1, 0], "90 degrees clockwise"),
      ([1, 1, -1, 1], "unknown: the track's matrix does more than rotate and mirror"),
    ] as [([Int32], String)])
  func reportsRotation(matrix: [Int32], said: String) async throws {
    let folder = try Folder()
    var clip = try Data(contentsOf: Program.media.appending(path: "clip.mp4"))
    let header = try #require(clip.range(of: Data("tkhd".utf8)))
    for (index, value) in zip([0, 1, 3, 4], matrix) {
      let place = header.upperBound + 40 + 4 * index
      let entry = UInt32(bitPattern: value << 16)
      clip.replaceSubrange(place..<place + 4, with: [24, 16, 8, 0].map { UInt8(entry >> $0 & 255) })
    }
    try folder.write("in.mp4", clip)
    let run = try await Program.run(["info", "in.mp4"], in: folder.url)
    #expect(run.text.contains("Rotation            \(said)\n"), "\(run.text)\(run.said)")
  }
}
