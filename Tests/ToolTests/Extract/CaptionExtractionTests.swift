// SPDX-License-Identifier: MPL-2.0
import Foundation
import H26x
import TestSupport
import Testing

/// Captions leave a stream in the order of presentation, and come back.
@Suite(.enabled(if: Program.isBuilt)) struct CaptionExtractionTests {
  /// Reads a caption file.
  static func read(_ name: String, in folder: Folder) throws -> CaptionFile {
    var reader = CaptionFileReader()
    try reader.read([UInt8](try #require(folder.bytes(name))))
    return try reader.finish()
  }

  /// The NAL units of a byte stream.
  static func nalUnits(_ name: String, in folder: Folder) throws -> [[UInt8]] {
    let bytes = [UInt8](try #require(folder.bytes(name)))
    return NALPackaging.annexB.nalUnits(of: bytes.span).map { Array(bytes[$0]) }
  }

  private static func run(_ line: String, in folder: Folder) async throws -> Program {
    let run = try await Program.shell(line, in: folder.url)
    #expect(run.status == 0, "\(line): \(run.said)")
    return run
  }

  @Test(arguments: ["in.h264", "in.h265"]) func comeBackThroughMCC(name: String) async throws {
    let folder = try Folder()
    try await CaptionStream.makeCaptioned(name, in: folder)
    _ = try await Self.run("h26x extract \(name) --captions out.mcc", in: folder)
    let (file, rate) = (try Self.read("out.mcc", in: folder), try #require(CaptionRate(code: 4)))
    #expect(file.timeCode == CaptionTimeCode(base: 30, dropsFrames: true) && file.track.last?.frame == 179)
    for frame in 0..<180 {
      let messages = try file.messages(ofFrame: frame, at: rate)
      #expect(try messages.map { $0?.triplets } == [CaptionStream.triplets(frame)], "\(frame)")
    }
    _ = try await Self.run("h26x edit \(name) -o bare-\(name) --remove-sei user_data_registered_itu_t_t35", in: folder)
    let insertion = try await Self.run("h26x edit bare-\(name) -o back-\(name) --insert-captions out.mcc", in: folder)
    #expect(!insertion.said.contains("replaces"), "\(insertion.said)")
    #expect(try Self.nalUnits("back-\(name)", in: folder) == Self.nalUnits(name, in: folder))
    #expect(try Self.nalUnits("bare-\(name)", in: folder).count == Self.nalUnits(name, in: folder).count - 180)
    // In place of captions that are there, and changing nothing.
    let again = try await Self.run("h26x edit \(name) -o again-\(name) --insert-captions out.mcc", in: folder)
    #expect(again.said.contains("out.mcc: replaces the captions of 180 pictures\n"), "\(again.said)")
    #expect(folder.bytes("again-\(name)") == folder.bytes(name))
    let trial = try await Self.run("h26x edit bare-\(name) --dry-run --insert-captions out.mcc", in: folder)
    #expect(trial.text == "captions: inserted in 180 pictures\n", "\(trial.text)")
  }

  @Test func areTheSameInEachContainer() async throws {
    let folder = try Folder()
    try await CaptionStream.makeCaptioned("in.h264", in: folder)
    _ = try await Self.run("h26x extract in.h264 --captions out.mcc", in: folder)
    let expected = try #require(folder.bytes("out.mcc"))
    _ = try await Self.run("h26x edit in.h264 -o bare.h264 --remove-sei user_data_registered_itu_t_t35", in: folder)
    for suffix in ["mp4", "mov", "mkv", "ts"] {
      for name in ["in", "bare"] { _ = try await Self.run("h26x repack \(name).h264 -o \(name).\(suffix)", in: folder) }
      _ = try await Self.run(
        "h26x extract in.\(suffix) --captions \(suffix).mcc && h26x edit bare.\(suffix) -o back.\(suffix) "
          + "--insert-captions out.mcc && h26x extract back.\(suffix) --captions back-\(suffix).mcc", in: folder)
      #expect(folder.bytes("\(suffix).mcc") == expected, "\(suffix)")
      #expect(folder.bytes("back-\(suffix).mcc") == expected, "\(suffix)")
    }
    // A pipe is read once.
    _ = try await Self.run("cat in.ts | h26x extract - --captions pipe.mcc", in: folder)
    #expect(folder.bytes("pipe.mcc") == expected)
    let pipe = try await Program.shell("cat bare.ts | h26x edit - -o x.ts --insert-captions out.mcc", in: folder.url)
    #expect(pipe.status == 1 && pipe.said.contains("a pipe does not allow"), "\(pipe.said)")
  }

  @Test func comeBackThroughSCC() async throws {
    let folder = try Folder()
    try await CaptionStream.makeCaptioned("in.h264", in: folder, hasPackets: false)
    let run = try await Self.run(
      "h26x extract in.h264 --captions out.scc && h26x edit in.h264 -o bare.h264 --remove-sei 4 "
        + "&& h26x edit bare.h264 -o back.h264 --insert-captions out.scc", in: folder)
    #expect(!run.said.contains("left out"), "\(run.said)")
    #expect(try Self.nalUnits("back.h264", in: folder) == Self.nalUnits("in.h264", in: folder))
    let text = String(decoding: try #require(folder.bytes("out.scc")), as: UTF8.self)
    #expect(
      text.hasPrefix(
        "Scenarist_SCC V1.0\n\n00:00:00;10\t9420 9420 94ae 94ae 9470 9470 c845 4c4c 4f20 574f 524c c480\n\n"
          + "00:00:01;10\t942f 942f\n\n00:00:02;00\t"), "\(text)")
  }

  @Test func subtitlesHaveTheTimesOfTheContainer() async throws {
    let folder = try Folder()
    try await CaptionStream.makeCaptioned("in.h264", in: folder)
    let run = try await Self.run(
      "h26x repack in.h264 -o in.mp4 && h26x extract in.mp4 --captions out.srt && h26x extract in.h264 --captions raw.srt",
      in: folder)
    #expect(run.said.contains("out.srt: service 1 of CTA-708 left out"), "\(run.said)")
    let cues = Self.cues(try #require(folder.bytes("out.srt")))
    #expect(
      cues.map(\.text).count == 2 && cues.allSatisfy { $0.text.contains("HELLO WORLD") || $0.text.contains("SECOND") })
    #expect(cues.map(\.times) == ["00:00:01,335 --> 00:00:02,670", "00:00:03,670 --> 00:00:05,338"], "\(cues)")
    #expect(folder.bytes("raw.srt") == folder.bytes("out.srt"))
    guard FileManager.default.isExecutableFile(atPath: "/usr/bin/ffmpeg") else { return }
    _ = try await Self.run(
      "ffmpeg -v error -f lavfi -i 'movie=in.mp4[out+subcc]' -map 0:s reference.srt", in: folder)
    #expect(Self.cues(try #require(folder.bytes("reference.srt"))) == cues)
  }

  /// libavcodec's decoder logs characters behind the 32nd of a row.
  @Test func subtitlesOfLongRowsAreExtractedSilently() async throws {
    let folder = try Folder()
    try await CaptionStream.make("in.h264", in: folder)
    let row = [String](repeating: "c1c1", count: 20).joined(separator: " ")
    try folder.write("in.scc", Data("Scenarist_SCC V1.0\n\n00:00:00:00\t9425 9425 94ad 94ad \(row) 94ad 94ad\n".utf8))
    let run = try await Self.run(
      "h26x edit in.h264 -o out.h264 --insert-captions in.scc && h26x extract out.h264 --captions out.srt", in: folder)
    #expect(!run.said.contains("@ 0x"), "\(run.said)")
    #expect(Self.cues(try #require(folder.bytes("out.srt"))).contains { $0.text.contains("AAAA") })
  }

  private struct Cue: Equatable { let times, text: String }

  private static func cues(_ file: Data) -> [Cue] {
    let lines = String(decoding: file, as: UTF8.self).split(separator: "\n").map { $0.filter { $0 != "\r" } }
    return lines.indices.filter { lines[$0].contains(" --> ") }.map { index in
      let text = lines[(index + 1)...].prefix { Int($0) == nil }.filter { !$0.isEmpty }
      return Cue(times: lines[index], text: text.joined(separator: "\n"))
    }
  }

  /// GStreamer's own parser and decoder put captions on pictures, and its element collects them.
  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/gst-launch-1.0")))
  func areThoseOfGStreamer() async throws {
    let folder = try Folder()
    try await CaptionStream.makeCaptioned("in.h264", in: folder)
    let run = try await Program.shell(
      "gst-inspect-1.0 --exists ccextractor || exit 77; gst-launch-1.0 -q filesrc location=in.h264 ! h264parse "
        + "! avdec_h264 ! ccextractor name=cc ! fakesink cc. ! queue ! filesink location=cc.bin", in: folder.url)
    guard run.status != 77 else { return }
    try #require(run.status == 0, "\(run.said)")
    _ = try await Self.run("h26x extract in.h264 --captions out.mcc", in: folder)
    let (file, rate) = (try Self.read("out.mcc", in: folder), try #require(CaptionRate(code: 4)))
    var bytes: [UInt8] = []
    for frame in 0..<180 {
      bytes += try file.messages(ofFrame: frame, at: rate).flatMap { $0?.triplets.flatMap(\.bytes) ?? [] }
    }
    #expect(folder.bytes("cc.bin") == Data(bytes))
  }

  /// Fields are access units of their own, and their frame has one time code.
  @Test(arguments: [[0], [1], [0, 1]]) func fieldsShareATimeCode(fields: [Int]) async throws {
    let folder = try Folder()
    try folder.write("plain.h264", FieldStream.make(frames: 24))
    try await CaptionStream.insert("plain.h264", as: "in.h264", in: folder) { place in
      fields.contains(place & 1) ? [try CaptionStream.payload([CaptionTriplet(.field1, 0xC1, UInt8(place))])] : []
    }
    _ = try await Self.run(
      "h26x extract in.h264 --captions out.mcc && h26x edit in.h264 -o bare.h264 --remove-sei 4 "
        + "&& h26x edit bare.h264 -o back.h264 --insert-captions out.mcc", in: folder)
    let (file, rate) = (try Self.read("out.mcc", in: folder), try #require(CaptionRate(code: 3)))
    for frame in 0..<24 {
      let found = try file.messages(ofFrame: frame, at: rate).map { $0?.triplets.map(\.second) }
      #expect(found == (0..<(fields.max() ?? 0) + 1).map { fields.contains($0) ? [UInt8(2 * frame + $0)] : nil })
    }
    #expect(try Self.nalUnits("back.h264", in: folder) == Self.nalUnits("in.h264", in: folder))
    _ = try await Self.run("h26x repack in.h264 -o in.mp4 && h26x extract in.mp4 --captions mp4.mcc", in: folder)
    #expect(folder.bytes("mp4.mcc") == folder.bytes("out.mcc"))
  }

  /// In decoding order, other fields are between those of a frame.
  @Test(arguments: TestScope.rows([0, 1, 2, 3], usually: 2)) func fieldsOfH265PairInTheOrderOfPresentation(bFrames: Int)
    async throws
  {
    let folder = try Folder()
    // Fields of 25 frames a second.
    _ = try await Self.run(
      "gst-launch-1.0 -q videotestsrc num-buffers=48 ! video/x-raw,format=I420,width=64,height=64,framerate=50/1 "
        + "! x265enc option-string=interlace=tff:bframes=\(bFrames):b-adapt=0:keyint=20 ! h265parse "
        + "! video/x-h265,stream-format=byte-stream ! filesink location=plain.h265", in: folder)
    try await CaptionStream.insert("plain.h265", as: "in.h265", in: folder) { place in
      [try CaptionStream.payload([CaptionTriplet(.field1, 0xC1, UInt8(place))])]
    }
    _ = try await Self.run(
      "h26x extract in.h265 --captions out.mcc && h26x edit in.h265 -o bare.h265 --remove-sei 4 "
        + "&& h26x edit bare.h265 -o back.h265 --insert-captions out.mcc", in: folder)
    let (file, rate) = (try Self.read("out.mcc", in: folder), try #require(CaptionRate(code: 3)))
    #expect(file.track.last?.frame == 23)
    for frame in 0..<24 {
      let found = try file.messages(ofFrame: frame, at: rate).map { $0?.triplets.map(\.second) }
      #expect(found == [[UInt8(2 * frame)], [UInt8(2 * frame + 1)]])
    }
    #expect(try Self.nalUnits("back.h265", in: folder) == Self.nalUnits("in.h265", in: folder))
    // One message for both fields of a frame.
    try folder.write(
      "in.scc", Data("Scenarist_SCC V1.0\n\n00:00:00:00\t9420 9420 942c 942c\n".utf8))
    _ = try await Self.run("h26x edit bare.h265 -o ntsc.h265 --frame-rate 30000/1001 --level auto", in: folder)
    let trial = try await Self.run("h26x edit ntsc.h265 --dry-run --insert-captions in.scc", in: folder)
    #expect(trial.text == "captions: inserted in 24 pictures\n", "\(trial.text)")
    for suffix in ["mp4", "mov", "mkv", "ts"] {
      _ = try await Self.run(
        "h26x repack in.h265 -o in.\(suffix) && h26x extract in.\(suffix) --captions \(suffix).mcc", in: folder)
      #expect(folder.bytes("\(suffix).mcc") == folder.bytes("out.mcc"), "\(suffix)")
    }
  }

  /// Open groups, fields, two sequences, and messages of other forms.
  @Test(arguments: [
    "open-gop.h264", "open-gop.h265", "interlaced.h264", "interlaced.h265", "twice.h265", "telephone.h264",
  ])
  func otherStreamsComeBack(name: String) async throws {
    let folder = try Folder()
    let suffix = name.split(separator: ".").last ?? ""
    let source = name == "twice.h265" ? "clip.h265" : name == "telephone.h264" ? "clip.h264" : name
    var bytes = try Data(contentsOf: Program.media.appending(path: source))
    if name == "twice.h265" { bytes += bytes }
    try folder.write("plain.\(suffix)", bytes)
    if name == "interlaced.h265" {
      // It has 25 fields a second.
      _ = try await Self.run("mv plain.h265 slow.h265 && h26x edit slow.h265 -o plain.h265 --frame-rate 25", in: folder)
    }
    try await CaptionStream.insert("plain.\(suffix)", as: "in.\(suffix)", in: folder) { place in
      var payload = try CaptionStream.payload([CaptionTriplet(.field1, 0xC1, UInt8(place & 0x7F))])
      // Telephones have neither emergency data nor a reserved 0xFF.
      if name == "telephone.h264" { payload.replaceSubrange(8..<10, with: [0x41, 0x00]) }
      return place % 3 == 1 ? [] : [payload]
    }
    _ = try await Self.run(
      "h26x extract in.\(suffix) --captions out.mcc && h26x edit in.\(suffix) -o bare.\(suffix) --remove-sei 4 "
        + "&& h26x edit bare.\(suffix) -o back.\(suffix) --insert-captions out.mcc", in: folder)
    #expect(try Self.nalUnits("back.\(suffix)", in: folder) == Self.nalUnits("in.\(suffix)", in: folder))
  }

  // MARK: Refusals

  @Test func refusesCaptionsThatTheFormatLacks() async throws {
    let folder = try Folder()
    try await CaptionStream.makeCaptioned("digital.h264", in: folder, hasPairs: false)
    for suffix in ["scc", "srt"] {
      let run = try await Program.run(["extract", "digital.h264", "--captions", "out.\(suffix)"], in: folder.url)
      #expect(
        run.status == 1 && run.said.contains("digital.h264: captions of CTA-708 alone (service 1), but"), "\(run.said)")
    }
    try folder.write("plain.h264", FieldStream.make(frames: 24))
    try await CaptionStream.insert("plain.h264", as: "fields.h264", in: folder) { place in
      [try CaptionStream.payload([CaptionTriplet(.field1, 0xC1, UInt8(place))])]
    }
    let media = Program.media.appending(path: "clip.h264").path
    for (arguments, reason) in [
      (["fields.h264", "--captions", "out.scc"], "fields.h264: 25 frames a second, but SCC has 29.97 alone"),
      ([media, "--captions", "out.mcc"], "clip.h264: no captions"),
      (
        ["fields.h264", "--captions", "out.txt"], "--captions out.txt has no known suffix: expected .mcc, .scc or .srt"
      ),
      (["fields.h264"], "expected --captions OUT"),
    ] {
      let run = try await Program.run(["extract"] + arguments, in: folder.url)
      #expect(run.status != 0 && run.said.contains(reason), "\(run.said)")
    }
    #expect(!folder.names.contains { $0.hasPrefix("out.") || $0.hasPrefix(".out") }, "\(folder.names)")
  }

  @Test func damagedMessagesNeedForce() async throws {
    let folder = try Folder()
    try folder.write("plain.h264", try Data(contentsOf: Program.media.appending(path: "clip.h264")))
    try await CaptionStream.insert("plain.h264", as: "in.h264", in: folder) { place in
      let payload = try CaptionStream.payload([CaptionTriplet(.field1, 0xC1, 0xC2)])
      return [place == 7 ? payload.dropLast(2) : payload]
    }
    let run = try await Program.run(["extract", "in.h264", "--captions", "out.mcc"], in: folder.url)
    #expect(run.status == 1 && run.said.contains("in.h264: picture 7 ") && run.said.contains("--force"), "\(run.said)")
    #expect(folder.bytes("out.mcc") == nil)
    let forced = try await Program.run(["extract", "in.h264", "--captions", "out.mcc", "--force"], in: folder.url)
    #expect(forced.status == 0 && forced.said.contains("1 message cannot be read, and is left out"), "\(forced.said)")
    let file = try Self.read("out.mcc", in: folder)
    #expect(file.track.messages(ofFrame: 7).isEmpty && file.track.last?.frame == 61)
  }
}
