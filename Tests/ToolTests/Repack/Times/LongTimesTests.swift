// SPDX-License-Identifier: MPL-2.0
import AVFormat
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Containers

/// Times that 32 or 33 bits do not hold, and files of very many fragments.
@Suite(.enabled(if: Program.isBuilt && FormatLibrary.isAvailable)) struct LongTimesTests {
  private static func media(_ name: String) -> String { Program.media.appending(path: name).path }

  /// The hashes of all pictures of a file.
  private static func pictures(_ name: String, in folder: Folder) async throws -> [String] {
    let run = try await Program.run(["hash", "--each", name], in: folder.url)
    return run.text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { String($0.suffix(32)) }
  }

  /// The clip with sound in MPEG-TS.
  ///
  /// - Parameter encoder: of the sound, and its parser.
  static func transportStream(
    _ folder: Folder, encoder: String = "avenc_aac ! aacparse"
  ) async throws -> [UInt8] {
    let made = try await Program.shell(
      "gst-launch-1.0 -q mp4mux name=m ! filesink location=in.mp4 filesrc location=\(media("clip.mp4")) ! qtdemux "
        + "! h264parse ! queue ! m. audiotestsrc num-buffers=116 wave=saw ! audio/x-raw,rate=48000,channels=2 "
        + "! \(encoder) ! queue ! m. && h26x repack in.mp4 -o in.ts", in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    return [UInt8](try #require(folder.bytes("in.ts")))
  }

  // MARK: 33 bits

  /// The clock of MPEG-TS begins anew after 26 hours and a half: within the first second of the clip, or in front of sound
  /// that precedes the video.
  @Test(arguments: TestScope.rows([90_000, 300, 200_000], usually: 1)) func continuesTimesWhenTheTransportClockWraps(
    after ticks: UInt64
  )
    async throws
  {
    let folder = try Folder()
    let stream = try await Self.transportStream(folder)
    let first = try #require(TransportStreamTimes(stream).first)
    try folder.write("wrapped.ts", Data(TransportStreamTimes.moved(stream, by: (1 << 33) - ticks &- first)))
    let all = try await Self.pictures(Self.media("clip.mp4"), in: folder)
    let (plain, wrapped) = (
      try await Program.run(["info", "--json", "--count", "in.ts"], in: folder.url),
      try await Program.run(["info", "--json", "--count", "wrapped.ts"], in: folder.url)
    )
    #expect(wrapped.text.replacing("wrapped.ts", with: "in.ts") == plain.text, "\(wrapped.said)")
    #expect(try await Self.pictures("wrapped.ts", in: folder) == all)
    for target in ["mp4", "mkv", "ts"] {
      var contents: [CutCompanionTests.Contents] = []
      for source in ["in", "wrapped"] {
        let run = try await Program.run(["repack", "\(source).ts", "-o", "\(source)-out.\(target)"], in: folder.url)
        #expect(run.status == 0 && !run.said.contains("left behind"), "\(run.said)")
        contents.append(try CutCompanionTests.Contents(folder.url.appending(path: "\(source)-out.\(target)").path))
      }
      #expect(try await Self.pictures("wrapped-out.\(target)", in: folder) == all, "\(target)")
      let isSame = contents[0].packets == contents[1].packets
      #expect(isSame, "\(target)")
    }
    let cut = try await Program.run(
      ["repack", "wrapped.ts", "-o", "cut.mp4", "--start", "1", "--end", "2.2", "--cut", "hidden"], in: folder.url)
    #expect(cut.status == 0, "\(cut.said)")
    #expect(try await Self.pictures("cut.mp4", in: folder) == Array(all[25..<55]))
  }

  // MARK: 64 bits

  /// Headers and edit lists of version 1, whose times have 64 bits.
  @Test func readsBoxesOfVersionOne() async throws {
    let folder = try Folder()
    let made = try await Program.run(["repack", Self.media("clip.mkv"), "-o", "base.mp4"], in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    let file = try MovieFileTests.withMovieBehind(try #require(folder.bytes("base.mp4")))
    let long = LongBoxes.converted([UInt8](file))
    #expect(long.count == file.count + 3 * 12)
    try folder.write("in.mp4", Data(long))
    let (base, info) = (
      try await Program.run(["info", "--json", "--count", "base.mp4"], in: folder.url),
      try await Program.run(["info", "--json", "--count", "in.mp4"], in: folder.url)
    )
    let all = try await Self.pictures("base.mp4", in: folder)
    func lines(_ run: Program) -> [Substring] {
      run.text.split(separator: "\n").filter {
        !$0.contains("\"file\"") && !$0.contains("\"size\"") && !$0.contains("\"bitrate\"")
      }
    }
    #expect(lines(info) == lines(base) && !lines(base).isEmpty, "\(info.text)")
    #expect(try await Self.pictures("in.mp4", in: folder) == all && all.count == 62)
    for target in ["mp4", "mkv"] {
      let run = try await Program.run(["repack", "in.mp4", "-o", "out.\(target)"], in: folder.url)
      #expect(run.status == 0, "\(run.said)")
      #expect(try await Self.pictures("out.\(target)", in: folder) == all, "\(target)")
    }
    let checked = try await Program.run(["check", "in.mp4"], in: folder.url)
    #expect(checked.status == 0 && checked.text.contains(" 0 errors"), "\(checked.text)")
  }

  /// Fragments far behind the beginning, as a camera that has run for years writes them: their decoding times have more than
  /// 32 bits.
  @Test func readsFragmentTimesBeyond32Bits() async throws {
    let folder = try Folder()
    try Self.writeFragments(2, of: 62, from: Self.media("clip.mp4"), to: folder.url.appending(path: "base.mp4").path)
    let all = try await Self.pictures("base.mp4", in: folder)
    try #require(all.count == 62)
    var bytes = [UInt8](try #require(folder.bytes("base.mp4")))
    #expect(LongBoxes.moveFragments(&bytes, by: 1 << 40) == 31)
    try folder.write("in.mp4", Data(bytes))
    #expect(try await Self.pictures("in.mp4", in: folder) == all)
    for target in ["mp4", "mkv", "ts"] {
      let run = try await Program.run(["repack", "in.mp4", "-o", "out.\(target)"], in: folder.url)
      #expect(run.status == 0, "\(run.said)")
      #expect(try await Self.pictures("out.\(target)", in: folder) == all, "\(target): \(run.said)")
    }
    let info = try await Program.run(["info", "in.mp4"], in: folder.url)
    #expect(info.text.contains("Duration            0:00:02.480\n"), "\(info.text)")
  }

  // MARK: Fragments

  /// Writes samples of a file over and over, as a file of fragments.
  static func writeFragments(_ length: Int, of count: Int, from source: String, to target: String) throws {
    let input = try CutCompanionTests.open(source)
    let file = try OutputFile(FilePath(target), force: false)
    let output = try OutputContext(try OutputBytes(file), format: "mp4")
    let stream = try #require(input.streams.first { $0.kind == .video })
    _ = try output.addStream(like: stream, of: input, extradata: nil, timeBase: stream.timeBase)
    // A fragment for each group of samples, by their durations, which are equal.
    var samples: [(bytes: [UInt8], presentation: Int64, decoding: Int64, isKey: Bool)] = []
    var packet = try MediaPacket()
    while try input.read(into: &packet) {
      guard packet.stream == stream.index, let decoding = packet.decoding, let presentation = packet.presentation else {
        continue
      }
      samples.append((packet.copiedBytes(), presentation, decoding, packet.isKey))
    }
    let step = samples[1].decoding - samples[0].decoding
    let base = try #require(TimeBase(1, 1_000_000))
    _ = try output.writeHeader(
      MetadataDictionary([
        "movflags": "+empty_moov+default_base_moof",
        "frag_duration": "\(base.rescaled(step * Int64(length), from: stream.timeBase))",
      ]))
    let target = try #require(output.timeBase(of: 0))
    for number in 0..<count {
      let sample = samples[number % samples.count]
      let shift = Int64(number / samples.count) * step * Int64(samples.count) - samples[0].decoding
      var copy = try MediaPacket(copying: sample.bytes.span)
      copy.presentation = target.rescaled(sample.presentation + shift, from: stream.timeBase)
      copy.decoding = target.rescaled(sample.decoding + shift, from: stream.timeBase)
      copy.duration = target.rescaled(step, from: stream.timeBase)
      copy.isKey = sample.isKey
      try output.write(copy)
    }
    try output.finish()
    try file.commit()
  }

  /// A recording of hours in 10,000 fragments of one picture each.
  @Test func copiesTenThousandFragments() async throws {
    let folder = try Folder()
    try folder.write("raw.h264", ContainerTests.untimed)
    let made = try await Program.run(
      ["repack", "raw.h264", "-o", "short.mp4", "--framerate", "25"], in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    try Self.writeFragments(
      1, of: 10_000, from: folder.url.appending(path: "short.mp4").path, to: folder.url.appending(path: "in.mp4").path)
    let file = try #require(folder.bytes("in.mp4"))
    #expect(LongBoxes.count("moof", in: [UInt8](file)) == 10_000)
    for target in ["mp4", "mkv"] {
      let run = try await Program.run(["repack", "in.mp4", "-o", "out.\(target)"], in: folder.url)
      #expect(run.status == 0, "\(run.said)")
    }
    let cut = try await Program.run(
      ["repack", "in.mp4", "-o", "cut.mp4", "--start", "6:00", "--end", "6:20"], in: folder.url)
    #expect(cut.status == 0, "\(cut.said)")
    let info = try await Program.run(
      ["info", "--json", "--count", "in.mp4", "out.mp4", "out.mkv", "cut.mp4"], in: folder.url)
    let files = try #require(try JSONSerialization.jsonObject(with: info.output) as? [[String: Any]], "\(info.said)")
    #expect(files.map { ($0["video"] as? [String: Any])?["pictures"] as? Int } == [10_000, 10_000, 10_000, 500])
    #expect(files.map { $0["duration"] as? Double } == [400, 400, 400, 20])
    let late = try await Program.run(["hash", "in.mp4", "--start", "399.6"], in: folder.url)
    let same = try await Program.run(["hash", "out.mkv", "--start", "399.6"], in: folder.url)
    #expect(late.text.hasPrefix("MD5=") && late.text == same.text, "\(late.said)\(same.said)")
  }
}
