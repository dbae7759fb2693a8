// SPDX-License-Identifier: MPL-2.0
import Foundation
import H26x
import TestSupport
import Testing

/// Byte streams into containers, and containers with presentation times only into MP4, which has decoding
/// times too: each picture keeps the encoder's presentation time.
@Suite(
  .enabled(if: PluginUnderTest.isBuilt, Comment(rawValue: PluginUnderTest.missing)))
struct MuxingTableTests {
  /// A GOP structure of an encoder.
  struct Structure: Sendable, CustomTestStringConvertible {
    var codec: String
    var name: String
    var options: String

    var testDescription: String { "\(codec) \(name)" }

    /// As on a gst-launch-1.0 line.
    var encoder: String {
      codec == "h264"
        ? "x264enc threads=1 rc-lookahead=5 key-int-max=12 \(options) ! video/x-h264,profile=high,stream-format=byte-stream"
        : """
        x265enc \
        option-string=\(options):keyint=12:min-keyint=12:scenecut=0:b-adapt=0:ctu=16:pools=none:frame-threads=1 ! video/x-h265,stream-format=byte-stream
        """
    }

    static let all =
      [
        ("IPP", "bframes=0"), ("IBP", "bframes=1 b-adapt=false"),
        ("pyramid", "bframes=3 b-pyramid=true b-adapt=false ref=4"),
        ("fields", "bframes=2 b-adapt=false interlaced=true"),
      ].map { Structure(codec: "h264", name: $0.0, options: $0.1) }
      + [
        ("IPP", "bframes=0:open-gop=0"), ("IBP", "bframes=1:b-pyramid=0:open-gop=0"),
        ("pyramid", "bframes=3:open-gop=0"), ("open groups", "bframes=3:open-gop=1"),
        ("fields", "bframes=2:interlace=tff:open-gop=0"),
        ("fields in open groups", "bframes=2:interlace=bff:open-gop=1"),
      ].map { Structure(codec: "h265", name: $0.0, options: $0.1) }
  }

  private static let count = 50

  /// A byte stream with or without VUI, and the presentation times of its access units in milliseconds from the first.
  private func stream(
    _ structure: Structure, hasVUI: Bool, in scratch: Scratch
  ) async throws -> (path: String, times: [Int]) {
    let raw = scratch.path("raw")
    let encoded = try await Command.launch(
      """
      -v videotestsrc num-buffers=\(Self.count) ! video/x-raw,format=I420,width=96,height=64,framerate=25/1 \
      ! \(structure.encoder) ! identity silent=false ! filesink location=\(raw)
      """)
    try #require(encoded.status == 0, "\(encoded)")
    let given = fromZero(times(encoded, "pts"))
    try #require(given.count == Self.count)
    guard !hasVUI else { return (raw, given) }
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: raw)))
    var result = Data()
    var nalUnits = AnnexB.NALUnits(bytes.span)
    while let unit = nalUnits.next() {
      let nalUnit = Array(bytes[unit.range])
      result += [0, 0, 0, 1] + (withoutVUI(nalUnit, structure.codec) ?? nalUnit)
    }
    return (try scratch.file("without", result), given)
  }

  /// An SPS without its VUI; nil for another NAL unit.
  private func withoutVUI(_ nalUnit: [UInt8], _ codec: String) -> [UInt8]? {
    if codec == "h264" {
      guard nalUnit[0] & 31 == 7, var sps = try? H264.SequenceParameterSet(nalUnit: nalUnit.span) else { return nil }
      sps.vui = nil
      return sps.nalUnit()
    }
    guard H265.NALUnitType(headerByte: nalUnit[0]) == .sequenceParameterSet,
      var sps = try? H265.SequenceParameterSet(nalUnit: nalUnit.span)
    else { return nil }
    sps.vui = nil
    return sps.nalUnit()
  }

  /// The times that `identity` printed for each buffer, in milliseconds.
  private func times(_ run: Command, _ kind: String) -> [Int] {
    run.output.matches(of: /(pts|dts): ([0-9]+):([0-9]+):([0-9]+)\.([0-9]{3})/).compactMap { match in
      guard match.1 == kind, let hours = Int(match.2), let minutes = Int(match.3), let seconds = Int(match.4),
        let part = Int(match.5)
      else { return nil }
      return ((hours * 60 + minutes) * 60 + seconds) * 1000 + part
    }
  }

  private func fromZero(_ times: [Int]) -> [Int] {
    let first = times.min() ?? 0
    return times.map { $0 - first }
  }

  private func mux(
    _ reader: String, _ structure: Structure, _ properties: String = "", into muxer: String, _ path: String
  ) async throws {
    let run = try await Command.launch(
      "\(reader) ! swift\(structure.codec)parse \(properties) ! \(muxer) ! filesink location=\(path)")
    try #require(run.status == 0 && run.busError == nil, "\(run)")
  }

  /// Expects every access unit in the container, with ascending decoding times and the right presentation times.
  private func check(
    _ path: String, _ container: String, _ structure: Structure, shows given: [Int], _ comment: Comment
  ) async throws {
    let reader = source(path, container: container)
    let packets = try await Command.launch("-v \(reader) ! identity silent=false ! fakesink")
    // Containers may round to milliseconds or 90,000ths of a second.
    let shown = fromZero(times(packets, "pts"))
    #expect(shown.count == given.count && zip(shown, given).allSatisfy { abs($0 - $1) <= 1 }, "\(comment): \(shown)")
    guard container != "mkv" && container != "flv" else { return }
    let decoded = times(packets, "dts")
    #expect(decoded.count == Self.count, "\(comment): \(packets)")
    #expect(zip(decoded, decoded.dropFirst()).allSatisfy { $0 < $1 }, "\(comment): \(decoded)")
    guard container == "mp4" else { return }
    // Players that honour the edit list show all of them.
    let played = try await Command.launch(
      "-v \(reader) ! avdec_\(structure.codec) ! identity silent=false ! fakesink")
    #expect(times(played, "pts").count == Self.count, comment)
    guard Self.hasProbe else { return }
    let probed = try await Command.run([
      "ffprobe", "-v", "error", "-count_frames", "-show_entries", "stream=nb_read_frames", "-of", "csv=p=0", path,
    ])
    #expect(probed.output.prefix { $0.isNumber } == "\(Self.count)", "\(comment): \(probed)")
  }

  @Test(arguments: TestScope.rows(Structure.all, usually: 3), [true, false])
  func showsEveryPictureAtItsTime(_ structure: Structure, _ hasVUI: Bool) async throws {
    let scratch = try Scratch()
    let raw = try await stream(structure, hasVUI: hasVUI, in: scratch)
    let (reader, rate) = ("filesrc location=\(raw.path)", "framerate=25/1")
    let mp4 = scratch.path("direct.mp4")
    try await mux(reader, structure, rate, into: "mp4mux", mp4)
    try await check(mp4, "mp4", structure, shows: raw.times, "raw → mp4")
    var others = [("matroskamux", "mkv"), ("mpegtsmux", "ts")]
    // GStreamer's writes H.264 alone.
    if structure.codec == "h264" { others.append(("flvmux", "flv")) }
    for (muxer, container) in others {
      let middle = scratch.path("middle.\(container)")
      try await mux(reader, structure, rate, into: muxer, middle)
      try await check(middle, container, structure, shows: raw.times, "raw → \(container)")
      // Neither has the duration of the last picture: mp4mux does not count it in the edit list.
      guard hasVUI || container != "ts" else { continue }
      let end = scratch.path("\(container).mp4")
      try await mux(source(middle, container: container), structure, into: "mp4mux", end)
      try await check(end, "mp4", structure, shows: raw.times, "\(container) → mp4")
    }
  }

  private static let hasProbe = FileManager.default.isExecutableFile(atPath: "/usr/bin/ffprobe")
}
