// SPDX-License-Identifier: MPL-2.0
import Foundation
import H26x
import Testing

@testable import Containers

/// The kind of a file by its first bytes. Start codes alone make no byte stream, and known kinds are named.
@Suite struct InputKindTests {
  private static func clip(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: Program.media.appending(path: name)))
  }

  /// Bytes by a linear congruential generator.
  private static func noise(_ count: Int, seed: UInt32 = 1) -> [UInt8] {
    var state = seed
    return (0..<count).map { _ in
      state = state &* 1_664_525 &+ 1_013_904_223
      return UInt8(truncatingIfNeeded: state >> 24)
    }
  }

  /// Start codes with these bytes behind them, and noise that has no others.
  private static func stream(_ codes: [[UInt8]], _ count: Int = 90) -> [UInt8] {
    codes.enumerated().flatMap { index, code in
      [0, 0, 1] + code + noise(count, seed: UInt32(index + 7)).map { $0 | 0x10 }
    }
  }

  // MARK: Other files

  /// Beginnings of files, by words of what is said about them.
  static let signatures: [(bytes: [UInt8], name: String)] = [
    ([0x06, 0x0E, 0x2B, 0x34, 2, 5, 1, 1, 13, 1, 2, 1, 1, 2, 4, 0], "MXF"),
    ([0, 0, 0, 0, 1, 0xBC, 0, 0, 1, 0x18, 0, 0, 0, 0, 0xE1, 0xE2], "GXF"),
    ([0xB7, 0xD8, 0, 0x20, 0x37, 0x49, 0xDA, 0x11], "WTV"), (Array("DHAV\u{1}\0\0\0".utf8), "Dahua"),
    (Array("HXVS\0\0\0\0".utf8), "Xiongmai"), (Array("#!rtpplay1.0 127.0.0.1/5004\n".utf8), "RTP dump"),
    ([0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0], "capture"), ([0x0A, 0x0D, 0x0D, 0x0A, 0x1C, 0, 0, 0], "capture"),
    (Array("nut/multimedia container\0".utf8), "NUT"), (Array("RIFF\0\0\0\0CDXA".utf8), "RIFF"),
    ([0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11], "ASF"), ([0x7F, 0x45, 0x4C, 0x46, 2, 1, 1, 0], "a program"),
    ([0xFF, 0xD8, 0xFF, 0xE1, 0, 0, 1, 0x65], "JPEG"), (Array("PK\u{3}\u{4}\0\0\0\0".utf8), "ZIP"),
    ([0x1F, 0x8B, 8, 0], "gzip"), (Array("OggS\0\0\0\0".utf8), "Ogg"),
    ([UInt8](repeating: 0x61, count: 257) + Array("ustar\0".utf8), "tar"),
    (Array("IMKH\u{1}\u{1}\0\0".utf8), "Hikvision"), (Array(".RMF\0\0\0\u{12}".utf8), "RealMedia"),
  ]

  /// Though there is a whole byte stream behind it.
  @Test(arguments: signatures) func identifiesFilesBySignature(bytes: [UInt8], name: String) throws {
    for stream in [try Self.clip("clip.h264"), try Self.clip("clip.h265")] {
      guard case .other(let found) = InputFile.Kind(bytes + stream) else {
        Issue.record("\(name): \(InputFile.Kind(bytes + stream))")
        continue
      }
      #expect(found.contains(name), "\(found)")
    }
  }

  /// Video of other codecs that have start codes, too.
  static let videos: [(bytes: [UInt8], name: String)] = [
    (stream([[0xB3], [0xB5], [0xB8], [0x00]] + (1...45).map { [$0] }), "MPEG-2"),
    (
      stream([[0xB0, 1], [0xB5, 9], [0x00]]) + [0, 0, 1, 0x20] + stream(Array(repeating: [0xB6], count: 9)), "MPEG-4"
    ),
    ([0, 0, 1, 0, 0, 0, 1, 0x20, 0] + stream(Array(repeating: [0xB6], count: 9)), "MPEG-4"),
    ([0, 0, 1, 0x20, 0] + stream(Array(repeating: [0xB6], count: 9)), "MPEG-4"),
    (stream([[0x0F, 0xCA], [0x0E]] + Array(repeating: [0x0D], count: 20)), "VC-1"),
    (stream([[0x00, 0x79], [0x00, 0x81]] + Array(repeating: [0x00, 0x01], count: 9)), "H.266"),
  ]

  @Test(arguments: videos) func namesOtherVideoCodecs(bytes: [UInt8], name: String) {
    guard case .other(let found) = InputFile.Kind([0] + bytes) else {
      Issue.record("\(name): \(InputFile.Kind([0] + bytes))")
      return
    }
    #expect(found.contains(name), "\(found)")
    // Behind a header of any kind they are no byte streams either, and it is not known what they are. Slices of H.266 have
    // the header of some of H.265.
    guard name != "H.266" else { return }
    for header in [Array("header, 16 bytes".utf8), Self.noise(64)] {
      #expect(InputFile.Kind(header + bytes) == .unknown, "\(name)")
    }
  }

  /// An SPS by chance, such as a slice of MPEG-2 in row 39, makes no byte stream.
  @Test func ignoresParameterSetsByChance() throws {
    let sps = try Self.clip("clip.h264").prefix(30)
    let rows = Self.stream((1...45).map { [$0] })
    for header in [[], Self.noise(100)] {
      #expect(InputFile.Kind(header + rows + sps + rows) == .unknown)
    }
  }

  /// Tables of numbers, in which three bytes are those of a start code.
  @Test(arguments: 0..<4) func ignoresNumbersThatLookLikeStartCodes(kind: Int) {
    let numbers: [UInt8] = (0..<3000).flatMap { number -> [UInt8] in
      switch kind {
      case 0: [0, 0, 1, UInt8(truncatingIfNeeded: number)]
      case 1: [UInt8(truncatingIfNeeded: number), 0, 0, 1]
      case 2: [0, 0, 1, 0]
      default: [0, 0, 0, 1, 0, UInt8(truncatingIfNeeded: number), 0, 0]
      }
    }
    for front in [[], Array("DATA".utf8)] {
      let kind = InputFile.Kind(front + numbers)
      if case .byteStream = kind { Issue.record("\(kind)") }
    }
  }

  static let texts: [(text: String, name: String)] = [
    ("<?xml version=\"1.0\"?>\n<!-- made by hand -->\n<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\"></MPD>\n", "DASH"),
    ("<MPD/>", "DASH"), ("<?xml version=\"1.0\"?><SmoothStreamingMedia MajorVersion=\"2\"/>", "Smooth Streaming"),
    ("#EXTM3U\n#EXTINF:2,\nx0.ts\n", "HLS"), ("v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\n", "SDP"),
    ("ffconcat version 1.0\nfile '/etc/passwd'\n", "concat"), ("[playlist]\nFile1=a.mp4\n", "playlist"),
    ("<?xml version=\"1.0\"?><playlist xmlns=\"http://xspf.org/ns/0/\"/>", "playlist"),
    ("<asx><entry/></asx>", "playlist"),
    ("rtsp://127.0.0.1/stream\n", "address"), ("file 'a.mp4'\nfile 'b.mp4'\n", "text"), ("/etc/passwd\n", "text"),
  ]

  /// In any encoding that their readers take.
  @Test(arguments: texts) func namesPlaylistsAndOtherText(text: String, name: String) throws {
    let utf16 = try #require(text.data(using: .utf16LittleEndian))
    let big = try #require(text.data(using: .utf16BigEndian))
    for bytes in [Array(text.utf8), [0xEF, 0xBB, 0xBF] + Array(text.utf8), [0xFF, 0xFE] + utf16, [0xFE, 0xFF] + big] {
      guard case .other(let found) = InputFile.Kind(bytes) else {
        Issue.record("\(text): \(InputFile.Kind(bytes))")
        continue
      }
      #expect(found.contains(name), "\(found)")
    }
  }

  // MARK: Byte streams

  static let streams = [
    "clip.h264", "interlaced.h264", "open-gop.h264", "clip.h265", "interlaced.h265", "ten-bit.h265",
  ]

  private static func codec(_ name: String) -> FormatDescription.Codec { name.hasSuffix("4") ? .h264 : .h265 }

  /// Whatever is in front of the first start code.
  @Test(arguments: streams) func findsByteStreamsBehindOtherBytes(name: String) throws {
    let stream = try Self.clip(name)
    let noise = Self.noise(40_000)
    let fronts: [[UInt8]] = [
      [], [0], [UInt8](repeating: 0, count: 1000), [UInt8](repeating: 0x55, count: 500), noise,
      // A start code by chance.
      Array(noise.prefix(100)) + [0, 0, 1, 0xE0, 0x12, 0x34] + noise.suffix(100), Array("a header of a camera".utf8),
      // A delimiter, filler data, and the end of a sequence.
      Self.codec(name) == .h264 ? [0, 0, 0, 1, 9, 0xF0] : [0, 0, 0, 1, 0x46, 1, 0x50],
      Self.codec(name) == .h264 ? [0, 0, 1, 12, 0xFF, 0xFF, 0x80] : [0, 0, 1, 0x4C, 1, 0xFF, 0xFF, 0x80],
      Self.codec(name) == .h264 ? [0, 0, 1, 10] : [0, 0, 1, 0x48, 1],
    ]
    for (index, front) in fronts.enumerated() {
      let kind = InputFile.Kind(front + stream)
      #expect(kind == .byteStream(Self.codec(name), isEvident: true), "\(index): \(kind)")
    }
  }

  /// A recording that was cut anywhere, also behind its last parameter sets.
  @Test(arguments: streams) func findsByteStreamsThatBeginAnywhere(name: String) throws {
    let stream = try Self.clip(name)
    var starts = stream.indices.dropLast(3).filter { stream[$0..<$0 + 3].elementsEqual([0, 0, 1]) }
    // Enough slices are left to be no chance.
    starts.removeLast(min(12, starts.count))
    for start in starts {
      for place in [start, start + 1, max(0, start - 5), start + 40] {
        guard case .byteStream(Self.codec(name), _) = InputFile.Kind(Array(stream[place...])) else {
          Issue.record("from \(place) on: \(InputFile.Kind(Array(stream[place...])))")
          continue
        }
      }
    }
  }
}

/// The program, with such files.
@Suite(.enabled(if: Program.isBuilt)) struct InputKindProgramTests {
  /// A program stream behind a camera's header, or cut off at its beginning, is one.
  @Test func readsProgramStreamsBehindOtherBytes() async throws {
    let folder = try Folder()
    let made = try await Program.shell(
      "gst-launch-1.0 -q filesrc location=\(Program.media.appending(path: "clip.mp4").path) ! qtdemux ! h264parse "
        + "! mpegpsmux ! filesink location=in.mpg && h26x hash in.mpg", in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    let stream = try #require(folder.bytes("in.mpg"))
    try folder.write("camera.mp4", Data("IMKH\u{1}\u{1}".utf8) + Data(count: 34) + stream)
    try folder.write("unknown.dat", Data(repeating: 0x55, count: 700) + stream)
    // Without the first pack header, and from the middle of a packet on.
    let second = try #require(stream.range(of: Data([0, 0, 1, 0xBA]), in: 4..<stream.count)).lowerBound
    try folder.write("later.mpg", stream[second...])
    try folder.write("cut.mpg", stream[(second - 300)...])
    for name in ["camera.mp4", "unknown.dat"] {
      for line in ["h26x hash \(name)", "cat \(name) | h26x hash -"] {
        let run = try await Program.shell(line, in: folder.url)
        #expect(run.status == 0 && run.output == made.output, "\(line): \(run.said)")
      }
    }
    for name in ["camera.mp4", "unknown.dat", "later.mpg", "cut.mpg"] {
      let info = try await Program.run(["info", name], in: folder.url)
      #expect(info.text.contains("Container           MPEG program stream"), "\(name): \(info.text)\(info.said)")
    }
  }

  /// A segment of a fragmented file without what describes it, which is no damage; and pictures in the same boxes.
  @Test func reportsFilesWithoutAMovieBox() async throws {
    let folder = try Folder()
    let made = try await Program.shell(
      "h26x repack \(Program.media.appending(path: "clip.mp4").path) -o - --format mp4 > in.mp4", in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    let bytes = try #require(folder.bytes("in.mp4"))
    let fragment = try #require(bytes.range(of: Data("moof".utf8))).lowerBound - 4
    try folder.write("lone.m4s", bytes[fragment...])
    try folder.write("styp.m4s", Data([0, 0, 0, 16]) + Data("stypmsdh\0\0\0\0".utf8) + bytes[fragment...])
    try folder.write(
      "picture.heic", Data([0, 0, 0, 16]) + Data("ftypheic\0\0\0\0".utf8) + Data([0, 0, 0, 8]) + Data("meta".utf8))
    for (name, said) in [
      ("lone.m4s", "without the initialization segment"), ("styp.m4s", "without the initialization segment"),
      ("picture.heic", "HEIF"),
    ] {
      for reader in BadInputTests.readers {
        let run = try await Program.run(reader + [name], in: folder.url)
        #expect(run.status == 1 && run.said.contains(said), "\(reader) \(name): \(run.said)")
      }
    }
    let joined = try await Program.shell(
      "cat in.mp4 > joined.mp4 && h26x hash joined.mp4 && h26x hash in.mp4", in: folder.url)
    #expect(joined.status == 0, "\(joined.said)")
  }

  /// What the video is comes before what its container lacks.
  @Test(arguments: ["out.mp4", "out.mkv", "out.ts", "out.h264"]) func namesOtherVideoInAVI(target: String) async throws
  {
    let folder = try Folder()
    let made = try await Program.shell(
      "gst-launch-1.0 -q videotestsrc num-buffers=5 ! video/x-raw,width=64,height=48 ! jpegenc ! avimux "
        + "! filesink location=in.avi", in: folder.url)
    try #require(made.status == 0, "\(made.said)")
    for line in ["h26x repack in.avi -o \(target)", "cat in.avi | h26x repack - -o \(target)"] {
      let run = try await Program.shell(line, in: folder.url)
      #expect(run.status == 1 && run.said.contains("AVI without H.264 or H.265 video (it has: mjpeg)"), "\(run.said)")
    }
  }

  /// H.265 in FLV, by its number or its code: where libavformat does not read it, that is the reason.
  @Test(arguments: [false, true]) func reportsH265InFLV(isEnhanced: Bool) async throws {
    let folder = try Folder()
    let head: [UInt8] = isEnhanced ? [0x90] + Array("hvc1".utf8) : [0x1C, 0, 0, 0, 0]
    func tag(_ body: [UInt8]) -> [UInt8] {
      let size = [16, 8, 0].map { UInt8(body.count >> $0 & 255) }
      let whole = [9] + size + [0, 0, 0, 0, 0, 0, 0] + body
      return whole + [24, 16, 8, 0].map { UInt8(whole.count >> $0 & 255) }
    }
    let body = head + [UInt8](repeating: 1, count: 60)
    let header: [UInt8] = Array("FLV".utf8) + [1, 1, 0, 0, 0, 9, 0, 0, 0, 0]
    try folder.write("in.flv", Data(header + (0..<9).flatMap { _ in tag(body) }))
    for line in ["h26x info in.flv", "h26x hash in.flv", "cat in.flv | h26x check -", "h26x repack in.flv -o out.mp4"] {
      let run = try await Program.shell(line, in: folder.url)
      #expect(run.status == 1 && run.said.contains("H.265"), "\(line): \(run.said)")
      #expect(!run.said.contains("none"), "\(line): \(run.said)")
    }
  }
}
