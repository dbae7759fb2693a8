// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// Files of other programs, with features that this project's clips lack.
@Suite(.enabled(if: Program.isBuilt)) struct ForeignFileTests {
  private static let clip = Program.media.appending(path: "clip.h264").path

  /// A recording whose beginning, with the first keyframe, was cut off.
  @Test(arguments: [["info"], ["decode", "-o", "out.yuv"]]) func reportsMissingParameterSets(
    command: [String]
  ) async throws {
    let folder = try Folder()
    let stream = try Data(contentsOf: URL(filePath: Self.clip))
    let end = try #require(stream.range(of: Data([0, 0, 1, 0x41]))).lowerBound
    try folder.write("late.h264", stream[end...].prefix(3000))
    let run = try await Program.run(command + ["late.h264"], in: folder.url)
    #expect(run.status == 1 && run.said.contains("no parameter sets"), "\(run.said)")
    #expect(folder.names == ["late.h264"])
  }

  /// A file that was cut without encoding anew has pictures before its edit that are needed but not shown.
  @Test(arguments: ["cut.h264", "cut.mkv", "cut.ts", "cut-again.mp4"])
  func carriesWhatTheFirstShownPictureNeeds(target: String) async throws {
    let folder = try Folder()
    var clip = try Data(contentsOf: Program.media.appending(path: "clip.mp4"))
    let list = try #require(clip.range(of: Data("elst".utf8))).upperBound
    // From the 31st picture on, ten after a keyframe: media_time in ticks, a hundred a picture.
    clip.replaceSubrange(list + 8..<list + 16, with: [0, 0, 0x0C, 0x80, 0, 0, 0x0C, 0x80])
    try folder.write("cut.mp4", clip)
    let repacked = try await Program.run(["repack", "cut.mp4", "-o", target], in: folder.url)
    #expect(repacked.status == 0, "\(repacked.said)")
    let all = try await Program.run(
      ["decode", Self.clip, "-o", "-", "--pixel-format", "I420"], in: folder.url)
    let cut = try await Program.run(["decode", target, "-o", "-", "--pixel-format", "I420"], in: folder.url)
    let size: Int = 320 * 180 * 3 / 2
    // An edit list hides the ten again; other containers cannot.
    let hides = target.hasSuffix(".mp4")
    #expect(cut.output.count == (hides ? 32 : 42) * size, "\(cut.said)")
    #expect(all.output.suffix(cut.output.count) == cut.output)
    // Transport and byte streams have no place for the time of recording.
    let isTimeless = target.hasSuffix(".ts") || target.hasSuffix(".h264")
    let lost = isTimeless ? ["h26x: \(target): left behind: metadata (creation_time)"] : []
    #expect(
      repacked.said.split(separator: "\n").filter { $0.contains("left behind") } == lost.map { $0[...] },
      "\(repacked.said)")
    #expect(repacked.said.contains("; 10 pictures before the shown part of the source") == !hides, "\(repacked.said)")
    let piped = try await Program.shell("cat cut.mp4 | h26x repack - -o piped-\(target)", in: folder.url)
    #expect(piped.status == 0 && folder.bytes("piped-\(target)") == folder.bytes(target), "\(piped.said)")
  }

  /// The duration of the movie header, of which all ones mean that it is unknown. The video lasts 2.48 s.
  @Test(arguments: [0, UInt8.max]) func findsTheDurationWhereTheHeaderHasNone(byte: UInt8) async throws {
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

  @Test func reportsTruncationAndVariation() async throws {
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

  @Test func inspectListsTheFindingsOfTheLastAccessUnit() async throws {
    let folder = try Folder()
    // The forbidden bytes are in the payload of the first picture's last slice.
    var stream = try Data(contentsOf: URL(filePath: Self.clip))
    stream.replaceSubrange(1200..<1203, with: [0, 0, 2])
    try folder.write("in.h264", stream)
    let whole = try await Program.run(["inspect", "in.h264"], in: folder.url)
    let run = try await Program.run(["inspect", "--range", "0", "in.h264"], in: folder.url)
    func findings(_ run: Program) -> [Substring] {
      run.text.split(separator: "\n").filter { $0.contains("emulation-prevention") }
    }
    #expect(run.status == 0 && findings(run).count == 1 && findings(run) == findings(whole), "\(run.text)")
    #expect(!run.text.contains("access unit 1 "), "\(run.text)")
    // A pipe is not read to its end, which does not come.
    let piped = try await Program.shell(
      """
      mkfifo pipe; { for copy in $(seq 40); do cat in.h264; done; exec sleep 1000; } > pipe & writer=$!
      timeout 600 h26x inspect --range 0 pipe; echo "status $?"; kill $writer
      """, in: folder.url)
    #expect(piped.text.hasSuffix("status 0\n") && findings(piped) == findings(run), "\(piped.text)")
  }

  @Test func reportsOtherProgrammes() async throws {
    let folder = try Folder()
    let made = try await Program.shell(
      "gst-launch-1.0 -q mpegtsmux name=m prog-map=program_map,sink_65=1,sink_66=7 ! filesink location=two.ts "
        + "filesrc location=\(Self.clip) ! h264parse ! queue ! m.sink_65 "
        + "filesrc location=\(Self.clip) ! h264parse ! queue ! m.sink_66", in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    let info = try await Program.run(["info", "two.ts"], in: folder.url)
    #expect(info.status == 0 && info.text.contains("Programs            2, of which one is read"), "\(info.text)")
    let document = try await Program.run(["info", "--json", "two.ts"], in: folder.url)
    let files = try #require(try JSONSerialization.jsonObject(with: document.output) as? [[String: Any]])
    #expect(files.first?["programs"] as? [Int] == [1, 7])
    let run = try await Program.run(["repack", "two.ts", "-o", "one.mp4"], in: folder.url)
    #expect(run.status == 0 && run.said.contains("left behind: program 7\n"), "\(run.said)")
  }

  @Test func inspectReportsWhatItDoesNotFind() async throws {
    let folder = try Folder()
    let unknown = try await Program.run(["inspect", "--type", "SPS,banana", Self.clip], in: folder.url)
    #expect(unknown.status == 64 && unknown.said.contains("--type banana"), "\(unknown.said)")
    let beyond = try await Program.run(["inspect", "--range", "5000-", Self.clip], in: folder.url)
    #expect(beyond.status == 1 && beyond.said.contains("no access unit 5000; it has 62"), "\(beyond.said)")
    let idr = try await Program.run(["inspect", "--type", "idr", "--range", "0", Self.clip], in: folder.url)
    #expect(idr.status == 0 && idr.text.contains("IDR slice (5)"), "\(idr.text)")
    #expect(!idr.text.contains("  SPS"), "\(idr.text)")
  }

  /// After a change of size, matroskamux of GStreamer 1.22 ends with an error.
  @Test func namesContainersThatSupportAChangeOfFormat() async throws {
    let folder = try Folder()
    var stream = try Data(contentsOf: URL(filePath: Self.clip))
    let made = try await Program.shell(
      "gst-launch-1.0 -q videotestsrc num-buffers=5 ! video/x-raw,width=64,height=48 ! x264enc ! h264parse "
        + "! video/x-h264,stream-format=byte-stream ! filesink location=small.h264", in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    stream.append(try #require(folder.bytes("small.h264")))
    try folder.write("two.h264", stream)
    let matroska = try await Program.run(["repack", "two.h264", "-o", "two.mkv"], in: folder.url)
    if matroska.status == 0 {
      // matroskamux of GStreamer 1.26 continues: then every picture must be there.
      let whole = try await Program.run(["info", "--count", "two.mkv"], in: folder.url)
      #expect(whole.text.contains("Pictures            67"), "\(whole.text)")
    } else {
      #expect(matroska.status == 1 && matroska.said.contains(".ts and .mp4 can"), "\(matroska.said)")
    }
    let taken = try await Program.run(["repack", "two.h264", "-o", "two.ts"], in: folder.url)
    #expect(taken.status == 0, "\(taken.said)")
  }

  @Test func checkNamesEachOfSeveralFiles() async throws {
    let folder = try Folder()
    let files = [Self.clip, Program.media.appending(path: "clip.h265").path]
    let run = try await Program.run(["check", "--json"] + files, in: folder.url)
    var (names, summaries) = ([String](), 0)
    for line in run.text.split(separator: "\n") {
      let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      if object["kind"] as? String == "file" { names.append(object["name"] as? String ?? "") }
      if object["kind"] as? String == "summary" { summaries += 1 }
      #expect(names.count >= summaries)
    }
    #expect(names == files && summaries == 2, "\(run.text)")
  }

  /// Output into a pipe that nobody reads cannot be finished: a message explains how to end the program.
  @Test func explainsThatASecondSignalEnds() async throws {
    let folder = try Folder()
    let program = Program.executable.path
    let run = try await Program.shell(
      """
      mkfifo pipe; sleep 1000 < pipe & reader=$!; trap "kill $reader" EXIT
      '\(program)' decode '\(Self.clip)' -o - > pipe 2> said & program=$!
      for try in $(seq 50); do [ $(ls /proc/$program/task | wc -l) -gt 6 ] && break; sleep 0.2; done; sleep 1
      kill -TERM $program
      for try in $(seq 300); do grep -q 'second signal' said && break; sleep 0.2; done
      kill -TERM $program; wait $program; echo "status $?"
      """, in: folder.url)
    #expect(run.text.contains("status 143"), "\(run.text) \(run.said)")
    let said = String(decoding: folder.bytes("said") ?? Data(), as: UTF8.self)
    #expect(said.contains("a second signal ends the program immediately"), "\(said)")
  }

  /// Of a shorter stream, the pictures that exist are compared, and the result is printed.
  @Test func compareReportsTheShorterFile() async throws {
    let folder = try Folder()
    let stream = try Data(contentsOf: URL(filePath: Self.clip))
    try folder.write("short.h264", stream.prefix(30_000))
    let run = try await Program.run(["compare", Self.clip, "short.h264"], in: folder.url)
    #expect(run.status == 2 && run.said.contains("has more than the "), "\(run.said)")
    #expect(run.text.contains(" of them different; PSNR Y"), "\(run.text)")
  }

  /// Slices before the first parameter sets never reach the decoder.
  @Test func reportsWhatPrecedesParameterSets() async throws {
    let folder = try Folder()
    let stream = try Data(contentsOf: Program.media.appending(path: "open-gop.h264"))
    let slice = try #require(stream.firstRange(of: Data([0, 0, 1, 0x41])))
    try folder.write("cut.h264", stream[slice.lowerBound...])
    let run = try await Program.run(["decode", "cut.h264", "-o", "/dev/null", "--strict"], in: folder.url)
    #expect(run.status == 2 && run.said.contains(" slices unreadable"), "\(run.said)")
  }

  /// A slice with other contents that can still be decoded: only the hash that the stream has of the picture differs.
  @Test(arguments: [false, true]) func verifiesPictureHashes(isChanged: Bool) async throws {
    let folder = try Folder()
    var stream = try Data(contentsOf: Program.media.appending(path: "open-gop.h265"))
    if isChanged { stream[572] ^= 0x10 }
    try folder.write("hash.h265", stream)
    let decoded = try await Program.run(["decode", "hash.h265", "-o", "/dev/null"], in: folder.url)
    #expect(decoded.status == 0 && !decoded.said.contains("damage"), "\(decoded.said)")
    let strict = try await Program.run(["decode", "hash.h265", "-o", "/dev/null", "--strict"], in: folder.url)
    #expect(strict.status == (isChanged ? 2 : 0), "\(strict.said)")
    #expect(strict.said.contains("damaged") == isChanged, "\(strict.said)")
    // Both decode to the same wrong picture.
    for second in [["hash.h265"], ["--decoder", "avdec_h265"]] {
      let compared = try await Program.run(["compare", "hash.h265"] + second, in: folder.url)
      #expect(compared.status == (isChanged ? 2 : 0), "\(compared.said)")
      #expect(compared.text.contains(", 0 of them different") && compared.said.contains("damaged") == isChanged)
    }
  }
}
