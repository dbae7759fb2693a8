// SPDX-License-Identifier: MPL-2.0
import Foundation

/// Bad files, made of the clips.
enum BadFiles {
  /// The result that a subcommand must have.
  enum Verdict: Sendable {
    /// Status 1, and a line with these words.
    case useless(String)
    /// Status 0, 1 or 2.
    case damaged
    /// Status 0: the file is good.
    case fine
  }

  struct Kind: Sendable {
    var name: String
    var verdict: Verdict
    /// `nil` for a special file, or one that does not exist.
    var bytes: Data?
  }

  static func kinds() throws -> [Kind] {
    let mp4 = try clip("mp4")
    let stream = try clip("h264")
    var kinds = [
      Kind(name: "missing", verdict: .useless("no such file")),
      Kind(name: "folder", verdict: .useless("a folder")),
      Kind(name: "under/missing", verdict: .useless("no such file")),
      Kind(name: "text/below", verdict: .useless("Not a directory")),
      Kind(name: "empty", verdict: .useless("an empty file"), bytes: Data()),
      Kind(name: "one", verdict: .useless("one"), bytes: Data([7])),
      Kind(name: "text", verdict: .useless("text"), bytes: Data("Not a video.\n".utf8)),
      Kind(
        name: "playlist", verdict: .useless("an HLS playlist"), bytes: Data("#EXTM3U\n#EXTINF:2,\nx0.ts\n".utf8)),
      // The names of segments lead nowhere. A program that opened them would wait or report an error.
      Kind(
        name: "manifest.mpd", verdict: .useless("a DASH manifest"),
        bytes: Data(
          """
          <?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" \
          mediaPresentationDuration="PT0.3S"><Period><AdaptationSet mimeType="video/mp4"><Representation id="0" \
          codecs="avc1.6e001f" bandwidth="4049875"><SegmentTemplate timescale="12800" initialization="init.m4s" \
          media="chunk.m4s"><SegmentTimeline><S t="0" d="4096"/></SegmentTimeline></SegmentTemplate></Representation>\
          </AdaptationSet></Period></MPD>
          """.utf8)),
      Kind(
        name: "smooth.mp4", verdict: .useless("a Smooth Streaming manifest"),
        bytes: Data([0xFF, 0xFE])
          + Data(
            """
            <?xml version="1.0" encoding="utf-16"?><SmoothStreamingMedia MajorVersion="2" Duration="20000000">\
            <StreamIndex Type="video" Url="QualityLevels({bitrate})/Fragments(video={start time})"/>\
            </SmoothStreamingMedia>
            """.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] })),
      Kind(
        name: "stream.sdp", verdict: .useless("a session description"),
        bytes: Data("v=0\nc=IN IP4 127.0.0.1\nm=video 5004 RTP/AVP 96\na=rtpmap:96 H264/90000\n".utf8)),
      Kind(
        name: "concat.h264", verdict: .useless("a concat script"), bytes: Data("ffconcat version 1.0\nfile clip\n".utf8)
      ),
      Kind(
        name: "essence.mxf", verdict: .useless("MXF"), bytes: Data([6, 0x0E, 0x2B, 0x34, 2, 5, 1, 1]) + stream),
      Kind(
        name: "mpeg2.h264", verdict: .useless("MPEG-1 or MPEG-2 video"),
        bytes: Data(
          (0..<50).flatMap { _ in [0, 0, 1, 0xB3, 20, 0, 0xF0, 0x13, 0, 0, 1, 0x27] + Array(stream[5..<90]) })),
      Kind(name: "zeros", verdict: .useless("zeros"), bytes: Data(count: 100_000)),
      Kind(
        name: "noise", verdict: .useless("no H.264"),
        bytes: Data((0..<4000).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 7 | 0x80) })),
      Kind(
        name: "picture.h264", verdict: .useless("a PNG picture"), bytes: Data([0x89, 0x50, 0x4E, 0x47, 0, 0, 1, 13])),
      Kind(name: "sound.wav", verdict: .useless("RIFF"), bytes: Data("RIFF\u{24}\0\0\0WAVEfmt ".utf8)),
      Kind(name: "starts.h264", verdict: .useless("no H.264"), bytes: Data((0..<400).flatMap { _ in [0, 0, 1, 31] })),
      Kind(name: "sets.h264", verdict: .damaged, bytes: sets(of: stream)),
      Kind(name: "no-sets.h264", verdict: .damaged, bytes: withoutSets(stream)),
      Kind(
        name: "zero-units.h264", verdict: .damaged,
        bytes: stream.prefix(3000) + Data((0..<50).flatMap { _ in [0, 0, 0, 1] }) + stream.dropFirst(3000)),
      Kind(
        name: "garbage.h264", verdict: .damaged,
        bytes: stream.prefix(20_000) + Data((0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 193 >> 3) })
          + stream.dropFirst(20_000)),
      Kind(name: "junk-in-front.h264", verdict: .damaged, bytes: Data(repeating: 0x55, count: 500) + stream),
      Kind(name: "mp4-in-truth.mkv", verdict: .fine, bytes: mp4),
      Kind(name: "stream-in-truth.mp4", verdict: .fine, bytes: stream),
      Kind(
        name: "no-video.mp4", verdict: .useless("MP4 without H.264 or H.265 video"), bytes: patched(mp4, "avc1", "xxxx")
      ),
    ]
    for size in [8, 30, 1000, 60_000, mp4.count - 10] {
      kinds.append(Kind(name: "cut\(size).mp4", verdict: .useless("cut off"), bytes: mp4.prefix(size)))
    }
    for suffix in ["mkv", "ts", "flv"] {
      kinds.append(Kind(name: "begun.\(suffix)", verdict: .useless("begun"), bytes: try clip(suffix).prefix(60)))
      kinds.append(Kind(name: "cut.\(suffix)", verdict: .damaged, bytes: try clip(suffix).prefix(30_001)))
    }
    // Fields of boxes, by their distance from the box's type.
    let fields: [(name: String, box: String, distance: Int, bytes: [UInt8])] = [
      ("moov-too-long", "moov", -4, [255, 255, 255, 255]), ("moov-too-short", "moov", -4, [0, 0, 0, 7]),
      ("track-too-short", "trak", -4, [0, 0, 0, 1]), ("samples-without-end", "stsz", 12, [255, 255, 255, 255]),
      ("chunks-nowhere", "stco", 12, [255, 255, 255, 255]), ("no-description", "stsd", 4, [0, 0, 0, 0, 0, 0, 0, 0]),
      ("no-sets", "avcC", 5, [UInt8](repeating: 0, count: 20)), ("no-tables", "stbl", 0, Array("xxxx".utf8)),
      ("no-time", "mdhd", 16, [0, 0, 0, 0]),
    ]
    for field in fields {
      var bytes = mp4
      if let box = mp4.range(of: Data(field.box.utf8), options: .backwards) {
        let start = box.lowerBound + field.distance
        bytes.replaceSubrange(start..<start + field.bytes.count, with: field.bytes)
      }
      kinds.append(Kind(name: "\(field.name).mp4", verdict: .damaged, bytes: bytes))
    }
    return kinds
  }

  /// Names with characters that are special to shells, terminals and GStreamer.
  static let names = [
    "a b", "it's \"so\"", #"back\slash"#, "new\nline", "-o", "%d", "ünï", "a,b;c=d!e", "*", "tab\there",
    String(repeating: "x", count: 200), "$(x)",
  ]

  private static func clip(_ suffix: String) throws -> Data {
    try Data(contentsOf: Program.media.appending(path: "clip.\(suffix)"))
  }

  private static func patched(_ data: Data, _ old: String, _ new: String) -> Data {
    var bytes = data
    if let place = data.range(of: Data(old.utf8), options: .backwards) {
      bytes.replaceSubrange(place, with: Data(new.utf8))
    }
    return bytes
  }

  /// The NAL units of a stream whose start codes have four bytes or three.
  private static func units(_ stream: Data) -> [Data] {
    var units: [Data] = []
    var start = stream.startIndex
    while let code = stream.range(of: Data([0, 0, 1]), in: start..<stream.endIndex) {
      if code.lowerBound > start { units.append(stream[start..<code.lowerBound]) }
      start = code.upperBound
    }
    return units + [stream[start...]]
  }

  private static func joined(_ units: [Data]) -> Data { units.reduce(into: Data()) { $0 += Data([0, 0, 1]) + $1 } }
  private static func isSet(_ unit: Data) -> Bool { [7, 8].contains(unit.first.map { $0 & 31 }) }
  private static func sets(of stream: Data) -> Data { joined(units(stream).filter(isSet)) }
  private static func withoutSets(_ stream: Data) -> Data { joined(units(stream).filter { !isSet($0) }) }
}
