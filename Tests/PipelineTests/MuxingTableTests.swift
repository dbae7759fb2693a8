// SPDX-License-Identifier: MPL-2.0
import Foundation
import H26x
import Testing

/// Containers that say only when pictures are shown, into MP4, which says when they are decoded too.
@Suite(
  .enabled(if: PluginUnderTest.isBuilt, Comment(rawValue: PluginUnderTest.missing)))
struct MuxingTableTests {
  static let structures = [
    (name: "IPP", options: "bframes=0 key-int-max=12"),
    (name: "IBP", options: "bframes=1 b-adapt=false key-int-max=12"),
    (name: "pyramid", options: "bframes=3 b-pyramid=true b-adapt=false ref=4 key-int-max=12"),
    (name: "fields", options: "bframes=2 b-adapt=false interlaced=true key-int-max=12"),
  ]
  private static let count = 50

  /// A raw stream, with or without VUI.
  private func stream(_ options: String, hasVUI: Bool, in scratch: Scratch) async throws -> String {
    let raw = scratch.path("raw.h264")
    let encoded = try await Command.launch(
      """
      videotestsrc num-buffers=\(Self.count) ! video/x-raw,format=I420,width=96,height=64,framerate=25/1 \
      ! x264enc threads=1 rc-lookahead=5 \(options) ! video/x-h264,profile=high,stream-format=byte-stream \
      ! filesink location=\(raw)
      """)
    try #require(encoded.status == 0, "\(encoded)")
    guard !hasVUI else { return raw }
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: raw)))
    var result = Data()
    var nalUnits = AnnexB.NALUnits(bytes.span)
    while let unit = nalUnits.next() {
      let nalUnit = Array(bytes[unit.range])
      result += [0, 0, 0, 1]
      if nalUnit[0] & 31 == 7, var sps = try? H264.SequenceParameterSet(nalUnit: nalUnit.span) {
        sps.vui = nil
        result += sps.nalUnit()
      } else {
        result += nalUnit
      }
    }
    return try scratch.file("without.h264", result)
  }

  /// The times that `identity` printed for each buffer, in milliseconds.
  private func times(_ run: Command, _ kind: String) -> [Int] {
    run.output.matches(of: /(pts|dts): ([0-9]+):([0-9]+):([0-9]+)\.([0-9]{3})/).compactMap { match in
      guard match.1 == kind, let minutes = Int(match.3), let seconds = Int(match.4), let part = Int(match.5) else {
        return nil
      }
      return (minutes * 60 + seconds) * 1000 + part
    }
  }

  @Test(arguments: structures.map(\.name), [("matroskamux", "mkv"), ("flvmux", "flv")])
  func everyPictureIsInTheMP4(name: String, container: (muxer: String, suffix: String)) async throws {
    let options = try #require(Self.structures.first { $0.name == name }).options
    for hasVUI in [true, false] {
      let scratch = try Scratch()
      let raw = try await stream(options, hasVUI: hasVUI, in: scratch)
      let middle = scratch.path("middle.\(container.suffix)")
      let muxed = try await Command.launch(
        "filesrc location=\(raw) ! swifth264parse framerate=25/1 ! \(container.muxer) ! filesink location=\(middle)")
      try #require(muxed.status == 0 && muxed.busError == nil, "\(muxed)")
      let end = scratch.path("end.mp4")
      let remuxed = try await Command.launch(
        "\(source(middle, container: container.suffix)) ! swifth264parse ! mp4mux ! filesink location=\(end)")
      try #require(remuxed.status == 0 && remuxed.busError == nil, "\(remuxed)")

      let packets = try await Command.launch("-v \(source(end, container: "mp4")) ! identity silent=false ! fakesink")
      let decodingTimes = times(packets, "dts")
      #expect(decodingTimes.count == Self.count, "\(packets)")
      #expect(zip(decodingTimes, decodingTimes.dropFirst()).allSatisfy { $0 < $1 }, "\(decodingTimes)")
      // As the source has them: from the first on, a picture every 40 ms.
      let shown = times(packets, "pts").sorted()
      #expect(shown.map { $0 - (shown.first ?? 0) } == (0..<Self.count).map { $0 * 40 }, "\(shown)")

      // Players that honour the edit list show all of them.
      let played = try await Command.launch(
        "-v \(source(end, container: "mp4")) ! avdec_h264 ! identity silent=false ! fakesink")
      #expect(times(played, "pts").count == Self.count, "\(name), VUI: \(hasVUI)")
      guard Self.hasProbe else { continue }
      let probed = try await Command.run([
        "ffprobe", "-v", "error", "-count_frames", "-show_entries", "stream=nb_read_frames", "-of", "csv=p=0", end,
      ])
      #expect(probed.output.prefix { $0.isNumber } == "\(Self.count)", "\(name), VUI: \(hasVUI): \(probed)")
    }
  }

  private static let hasProbe = FileManager.default.isExecutableFile(atPath: "/usr/bin/ffprobe")
}
