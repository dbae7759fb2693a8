// SPDX-License-Identifier: MPL-2.0
import AVFormat
import Foundation
import TestSupport
import Testing

@testable import Containers

/// The pictures that an MP4 file's edit list shows are decoded, and shown by copies of the file.
@Suite(.enabled(if: Program.isBuilt)) struct EditListTests {
  /// An edit: how long it lasts and where it begins in the media, in pictures; no beginning is a pause.
  typealias Edit = (length: Double, start: Double?)

  /// The clip has 62 pictures. Its first picture is shown when two have been decoded. Its keyframes are 0, 20 and 42 in
  /// H.264, and 0, 25 and 50 in H.265.
  static let lists: [(name: String, edits: [Edit], shown: [Range<Int>])] = [
    ("an end that is hidden", [(25, 0)], [0..<25]),
    ("pre-roll", [(31, 31)], [31..<62]),
    ("pre-roll, and an end that is hidden", [(9, 31)], [31..<40]),
    ("a pause", [(10, nil), (62, 0)], [0..<62]),
    ("a pause and pre-roll", [(10, nil), (10, 31)], [31..<41]),
    ("a long pause and pre-roll", [(200, nil), (10, 31)], [31..<41]),
    ("two parts", [(10, 0), (10, 31)], [0..<10, 31..<41]),
    ("two parts and a pause", [(10, 0), (20, nil), (10, 31)], [0..<10, 31..<41]),
    ("two parts in another order", [(10, 31), (10, 0)], [31..<41, 0..<10]),
    ("a part twice", [(5, 3), (5, 3)], [3..<8, 3..<8]),
  ]

  @Test(arguments: ["h264", "h265"]) func showsThePicturesThatEditsList(codec: String) async throws {
    let base = try Folder()
    let source = Program.media.appending(path: "clip.\(codec)").path
    let made = try await Program.run(["repack", source, "-o", "base.mp4"], in: base.url)
    try #require(made.status == 0, "\(made.said)")
    let movie = try MovieFileTests.withMovieBehind(try #require(base.bytes("base.mp4")))
    let all = try await Program.run(["decode", source, "-o", "-"], in: base.url).output
    let size = 320 * 180 * 3 / 2
    try #require(all.count == 62 * size)
    try await Crowd.each(TestScope.rows(Self.lists, usually: 4)) { list in
      let folder = try Folder()
      try folder.write("in.mp4", try Self.edited(movie, list.edits))
      let expected = list.shown.reduce(into: Data()) { $0 += all[$1.lowerBound * size..<$1.upperBound * size] }
      let decoded = try await Program.run(["decode", "in.mp4", "-o", "-"], in: folder.url)
      // Compared first: a failing comparison of this size would be printed.
      let isShown = decoded.output == expected
      #expect(isShown, "\(list.name): \(decoded.output.count / size) pictures, \(decoded.said)")
      for target in ["mp4", "mov", "mkv"] {
        let run = try await Program.run(["repack", "in.mp4", "-o", "out.\(target)"], in: folder.url)
        #expect(run.status == 0, "\(list.name), \(target): \(run.said)")
        let copy = try await Program.run(["decode", "out.\(target)", "-o", "-"], in: folder.url)
        let isSame = copy.output == expected
        let what: Comment = "\(list.name), \(target): \(copy.output.count / size) pictures, \(run.said)"
        if target == "mkv" {
          // Matroska hides no picture. A copy of one part may have more at its ends; of several parts, it has all.
          let front = CutTests.number(in: run.said, before: "before the shown part of the source")
          let behind = CutTests.number(in: run.said, before: "after the shown part of the source")
          let isPart = copy.output.dropFirst(front * size).dropLast(behind * size) == expected
          let isWhole = copy.output == all && run.said.contains("all pictures are shown once")
          #expect(list.shown.count == 1 ? isPart : isWhole, what)
        } else {
          #expect(isSame && !run.said.contains("left behind"), what)
        }
      }
    }
  }

  /// How long a sample lasts by the file is a distance of decoding times, which some writers make uneven. A picture is
  /// shown until the next one in order of presentation, wherever an edit begins and ends. In half pictures.
  static let inside: [(start: Int, length: Int, shown: Range<Int>)] = [
    (0, 40, 0..<20), (20, 20, 10..<20), (21, 19, 10..<20), (22, 18, 11..<20), (23, 18, 11..<21), (25, 4, 12..<15),
    (27, 30, 13..<29), (31, 93, 15..<62), (33, 2, 16..<18), (34, 1, 17..<18), (121, 3, 60..<62), (123, 1, 61..<62),
  ]

  @Test(arguments: ["h264", "h265"]) func showsPicturesUntilTheNextOneBegins(codec: String) async throws {
    let base = try Folder()
    let source = Program.media.appending(path: "clip.\(codec)").path
    let made = try await Program.run(["repack", source, "-o", "base.mp4"], in: base.url)
    try #require(made.status == 0, "\(made.said)")
    let plain = try MovieFileTests.withMovieBehind(try #require(base.bytes("base.mp4")))
    let all = try await Self.pictures(source, in: base)
    try #require(all.count == 62)
    for movie in [plain, try UnevenSamples.made(of: plain)] {
      try await Crowd.each(TestScope.rows(Self.inside, usually: 3)) { edit in
        let folder = try Folder()
        try folder.write("in.mp4", try Self.edited(movie, [(Double(edit.length) / 2, Double(edit.start) / 2)]))
        let expected = Array(all[edit.shown])
        #expect(try await Self.pictures("in.mp4", in: folder) == expected, "\(edit)")
        for target in ["mp4", "mov"] {
          let run = try await Program.run(["repack", "in.mp4", "-o", "out.\(target)"], in: folder.url)
          #expect(try await Self.pictures("out.\(target)", in: folder) == expected, "\(edit): \(run.said)")
        }
        // A hidden cut of it, by a picture at each end.
        guard expected.count > 2 else { return }
        let offset = edit.start % 2 == 0 ? 0.0 : 0.02
        let cut = try await Program.run(
          [
            "repack", "in.mp4", "-o", "cut.mp4", "--cut", "hidden", "--start", "\(0.05 - offset)", "--end",
            "\(Double(expected.count - 1) * 0.04 - offset)",
          ], in: folder.url)
        #expect(
          try await Self.pictures("cut.mp4", in: folder) == Array(expected[1...].dropLast()), "\(edit): \(cut.said)")
      }
    }
  }

  private static func pictures(_ name: String, in folder: Folder) async throws -> [String] {
    let run = try await Program.run(["hash", "--each", name], in: folder.url)
    return run.text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { String($0.suffix(32)) }
  }

  /// An edit of another rate than 1 is shown at that rate, and named.
  @Test func reportsEditsWithOtherRates() async throws {
    let folder = try Folder()
    var clip = try Data(contentsOf: Program.media.appending(path: "clip.mp4"))
    let list = try #require(clip.range(of: Data("elst".utf8))).upperBound
    clip.replaceSubrange(list + 16..<list + 20, with: [0, 0, 0x80, 0])
    try folder.write("in.mp4", clip)
    for arguments in [
      ["hash"], ["decode", "-o", "out.yuv"], ["repack", "-o", "out.mkv"], ["repack", "-o", "out.mp4"],
    ] {
      let run = try await Program.run(arguments + ["in.mp4"], in: folder.url)
      #expect(run.status == 0 && run.said.contains("an edit with media rate 0.50 is shown at rate 1"), "\(run.said)")
    }
    let info = try await Program.run(["info", "in.mp4"], in: folder.url)
    #expect(info.text.contains("an edit with media rate 0.50, shown at rate 1"), "\(info.text)")
    let check = try await Program.run(["check", "in.mp4"], in: folder.url)
    #expect(check.text.contains("container-edit-rate") && check.text.contains("media_rate 500/1000"), "\(check.text)")
  }

  /// Several edits of the sound are not in a copy, and are listed.
  @Test(arguments: ["mp4", "mkv"]) func listsSeveralEditsOfSound(target: String) async throws {
    let folder = try Folder()
    // Its first half second, and the last.
    try await Self.writeMovie("edited.mov", sound: [(0.5, 0), (0.5, 24_000)], in: folder)
    let run = try await Program.run(["repack", "edited.mov", "-o", "out.\(target)"], in: folder.url)
    #expect(run.status == 0 && run.said.contains("left behind: 2 edits of stream 1, "), "\(run.said)")
    let whole = try await Program.run(["repack", "in.mov", "-o", "whole.\(target)"], in: folder.url)
    #expect(whole.status == 0 && !whole.said.contains("edits"), "\(whole.said)")
  }

  /// What an edit hides of the end of the sound is not heard: 25 packets and a half of 1024 samples, or whole packets.
  @Test(arguments: ["mp4", "mov", "mkv"], [0.544, 0.512]) func keepsTheEndOfSoundHidden(
    target: String, seconds: Double
  ) async throws {
    let folder = try Folder()
    try await Self.writeMovie("edited.mov", sound: [(seconds, 0)], in: folder)
    let run = try await Program.run(["repack", "edited.mov", "-o", "out.\(target)"], in: folder.url)
    #expect(run.status == 0 && !run.said.contains("left behind"), "\(run.said)")
    let sound = try CutCompanionTests.Contents(folder.url.appending(path: "out.\(target)").path).packets[.audio] ?? []
    let last = try #require(sound.last)
    #expect(sound.count == (seconds == 0.512 ? 24 : 26))
    #expect(last.time < seconds)
    // Other containers do not hold a part of a packet.
    if ["mp4", "mov"].contains(target) { #expect(abs(last.time + last.duration - seconds) < 0.001, "\(last.time)") }
  }

  /// Containers without edit lists do not get the sound that an edit hides in front of the pictures: half a second.
  @Test(arguments: [("cut", "mkv"), ("cut", "ts"), ("cut", "flv"), ("join", "mkv"), ("join", "ts")])
  func leavesOutTheHiddenStartOfSound(command: String, target: String) async throws {
    let folder = try Folder()
    try await Self.writeMovie("edited.mov", sound: [(0.75, 24_000)], in: folder)
    let rest = command == "cut" ? ["--range", "#0-#20"] : ["edited.mov"]
    let run = try await Program.run([command, "edited.mov", "-o", "out.\(target)"] + rest, in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    // Of MPEG-TS, libavformat gives not every frame a time.
    let copied = try await Program.run(["repack", "out.\(target)", "-o", "copy.mkv"], in: folder.url)
    #expect(copied.status == 0, "\(copied.said)")
    let sound = try CutCompanionTests.Contents(folder.url.appending(path: "copy.mkv").path).packets[.audio] ?? []
    let (first, packet) = (try #require(sound.first).time, 1024.0 / 48_000)
    // The packet that is heard first may begin earlier, and its decoder begins with the packet in front of it.
    #expect(first > -2 * packet && first < packet, "\(first): \(run.said)")
  }

  /// Sound in front of a range does not delay the range.
  @Test func beginsFlashVideoWithItsRange() async throws {
    let folder = try Folder()
    try await Self.writeMovie("edited.mov", sound: [(0.75, 0)], in: folder)
    let run = try await Program.run(["cut", "in.mov", "-o", "out.flv", "--range", "#20-#42"], in: folder.url)
    #expect(run.status == 0, "\(run.said)")
    let input = try CutCompanionTests.open(folder.url.appending(path: "out.flv").path)
    var times: [Double] = []
    var packet = try MediaPacket()
    while times.count < 8, try input.read(into: &packet) {
      guard let stream = input.stream(packet.stream), let time = packet.presentation else { continue }
      times.append(Double(stream.timeBase.nanoseconds(time)) / 1e9)
    }
    #expect(try #require(times.min()) < 0.2, "\(times): \(run.said)")
  }

  /// Writes a movie with sound of 48,000 samples a second, and a movie whose sound has other edits. An edit has its
  /// duration in seconds and its start in samples.
  private static func writeMovie(
    _ name: String, sound edits: [(seconds: Double, start: Int)], in folder: Folder
  ) async throws {
    let video = Program.media.appending(path: "clip.mp4").path
    let made = try await Program.shell(
      "gst-launch-1.0 -q qtmux name=m ! filesink location=in.mov filesrc location=\(video) ! qtdemux ! h264parse ! queue ! m. "
        + "audiotestsrc num-buffers=60 ! audio/x-raw,rate=48000 ! avenc_aac ! queue ! m.", in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    var file = try #require(folder.bytes("in.mov"))
    func number(_ place: Int) -> Int { file[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
    func four(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
    // The list of the track with a sound header.
    let header = try #require(file.range(of: Data("smhd".utf8))).lowerBound
    let track = try #require(file.range(of: Data("trak".utf8), options: .backwards, in: 0..<header)).lowerBound - 4
    let movie = try #require(file.range(of: Data("moov".utf8), options: .backwards)).lowerBound - 4
    let scale = number(try #require(file.range(of: Data("mvhd".utf8), in: movie..<file.count)).lowerBound + 16)
    var entries: [UInt8] = []
    for edit in edits {
      entries += four(Int((Double(scale) * edit.seconds).rounded())) + four(edit.start) + [0, 1, 0, 0]
    }
    let elst = four(entries.count + 16) + Array("elst".utf8) + [0, 0, 0, 0] + four(edits.count) + entries
    let edts = four(elst.count + 8) + Array("edts".utf8) + elst
    let list = try #require(file.range(of: Data("edts".utf8), in: track..<track + number(track))).lowerBound - 4
    let growth = edts.count - number(list)
    file.replaceSubrange(list..<list + number(list), with: edts)
    for parent in [movie, track] { file.replaceSubrange(parent..<parent + 4, with: four(number(parent) + growth)) }
    try folder.write(name, file)
  }

  /// The file, which ends with its movie box, with another edit list.
  static func edited(_ file: Data, _ edits: [Edit]) throws -> Data {
    var movie = try #require(file.range(of: Data("moov".utf8), options: .backwards)).lowerBound - 4
    var bytes = [UInt8](file)
    movie -= file.startIndex
    func place(_ type: String, after start: Int) throws -> Int {
      let found = try #require(Data(bytes[start...]).range(of: Data(type.utf8)))
      return start + found.lowerBound - 4
    }
    func number(_ place: Int) -> Int { bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
    func four(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
    let track = try place("trak", after: movie)
    let list = try place("edts", after: track)
    let header = try place("mdhd", after: track)
    let (movieScale, mediaScale) = (number(try place("mvhd", after: movie) + 20), number(header + 20))
    var entries: [UInt8] = []
    for edit in edits {
      // 25 pictures a second; the first is composed at the time of the third.
      let start = edit.start.map { Int(($0 + 2) * Double(mediaScale) / 25) } ?? -1
      entries += four(Int(edit.length * Double(movieScale) / 25)) + four(start) + [0, 1, 0, 0]
    }
    let elst = four(entries.count + 16) + Array("elst".utf8) + [0, 0, 0, 0] + four(edits.count) + entries
    let edts = four(elst.count + 8) + Array("edts".utf8) + elst
    let growth = edts.count - number(list)
    bytes.replaceSubrange(list..<list + number(list), with: edts)
    for parent in [movie, track] { bytes.replaceSubrange(parent..<parent + 4, with: four(number(parent) + growth)) }
    return Data(bytes)
  }
}
