// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import TestSupport
import Testing

/// The output for a file in pull mode is the recorded one, from its beginning and after a seek.
@Suite struct FileRecordTests {
  struct Play: Sendable, CustomTestStringConvertible {
    var clip: String
    var properties = ""
    /// The caps behind the parser.
    var filter = ""
    /// The target of the seek in nanoseconds.
    var start: Int64?

    var testDescription: String {
      [clip, properties, filter, start.map { "\($0 / 1_000_000)" } ?? ""].filter { !$0.isEmpty }.joined(separator: " ")
    }
  }

  private static let plays: [Play] = [
    "clip.h264", "interlaced.h264", "open-gop.h264", "small-slices.h264", "intra-refresh.h264", "clip.h265",
    "interlaced.h265", "open-gop.h265", "ten-bit.h265",
  ].flatMap { clip in
    let codec: StreamCodec = clip.hasSuffix("5") ? .h265 : .h264
    let nalUnits = "\(codec.mediaType),stream-format=byte-stream,alignment=nal"
    let packets = "\(codec.mediaType),stream-format=\(codec.outOfBand)"
    return [
      Play(clip: clip), Play(clip: clip, filter: nalUnits), Play(clip: clip, filter: packets),
      Play(clip: clip, properties: "config-interval=-1"), Play(clip: clip, start: 800_000_000),
      Play(clip: clip, filter: nalUnits, start: 1_200_000_000),
    ]
  }

  @Test(arguments: plays) func playedFilesMatchTheRecord(_ play: Play) throws {
    _ = Harness.registered
    let element = play.clip.hasSuffix("5") ? "swifth265parse" : "swifth264parse"
    let filter = play.filter.isEmpty ? "" : " ! \(play.filter)"
    let pipeline = try RecordedPipeline("\(element) name=parser \(play.properties)\(filter)")
    let run =
      if let start = play.start { try pipeline.play(Clip.path(play.clip), from: start) } else {
        try pipeline.play(Clip.path(play.clip))
      }
    let buffers = run.entries.filter { !$0.isCaps }
    let stats = pipeline.text("stats", of: "parser").replacing("\\", with: "")
    let times = buffers.map { entry in
      [entry.attributes.pts, entry.attributes.dts, entry.attributes.duration]
        .map { time in time.map { "\($0.nanoseconds)" } ?? "" }.joined(separator: "/")
    }
    try RecordFile.files.expect(
      play.testDescription,
      [
        "\(buffers.count) buffers", HarnessRecording.checksum(buffers.flatMap(\.content)).short,
        times.first ?? "", Self.sum(times), Self.sum(buffers.map { "\($0.attributes.flags.rawValue)" }),
        "\(run.entries.count - buffers.count) caps",
        Self.sum(run.entries.filter(\.isCaps).map { String(decoding: $0.content, as: UTF8.self) }),
        // Base classes send tags at any time; after a seek they depend on what was read before.
        play.start == nil ? run.tags.joined(separator: ";") : "", play.start == nil ? Self.sum([stats]) : "",
      ])
  }

  private static func sum(_ texts: [String]) -> String {
    HarnessRecording.checksum(Array(texts.joined(separator: "\n").utf8)).short
  }
}
