// SPDX-License-Identifier: MPL-2.0
import HarnessSupport
import TestSupport
import Testing

/// The output for a stream is the recorded one: bytes, times, flags, metas, caps, events, messages and statistics.
///
/// `RECORD_LINES=folder` writes the whole output, a file for each row, to be compared with that of another commit.
@Suite struct ElementRecordTests {
  private static let clips = ["clip.h264", "interlaced.h264", "clip.h265", "interlaced.h265"]

  /// Every packaging to every packaging.
  private static func conversions(_ element: String) -> [RecordedRun] {
    clips.flatMap { clip in
      RecordedInput.allCases.filter { element == "parse" || $0 != .pieces }.flatMap { input in
        RecordedRun.outputs(clip.hasSuffix("5") ? .h265 : .h264).map { output in
          RecordedRun(element: element, clip: clip, input: input, output: output)
        }
      }
    }
  }

  /// The other clips, as byte streams and as packets of a container.
  private static let others: [RecordedRun] = [
    "intra-refresh.h264", "open-gop.h264", "small-slices.h264", "wide.h264", "open-gop.h265", "ten-bit.h265",
    "wide.h265", "formats/gbrp10le.h265", "formats/gray12le.h265", "formats/yuv422p10le.h265",
    "formats/yuv444p12le.h265",
  ].flatMap { clip in
    let codec: StreamCodec = clip.hasSuffix("5") ? .h265 : .h264
    let (avc, bytes) = ("stream-format=\(codec.outOfBand), alignment=au", RecordedRun.bytes)
    return [
      RecordedRun(element: "parse", clip: clip, input: .pieces, output: bytes),
      RecordedRun(element: "parse", clip: clip, input: .packets, output: RecordedRun.nalUnits),
      RecordedRun(element: "repack", clip: clip, input: .accessUnits, output: avc),
    ]
  }

  /// Runs with a mishap.
  private static let twists: [RecordedRun] = ["clip.h264", "open-gop.h265"].flatMap { clip in
    let codec: StreamCodec = clip.hasSuffix("5") ? .h265 : .h264
    let avc = "stream-format=\(codec.outOfBand), alignment=au"
    return RecordedTwist.allCases.flatMap { twist in
      [
        RecordedRun(element: "parse", clip: clip, input: .pieces, output: RecordedRun.nalUnits, twist: twist),
        RecordedRun(element: "parse", clip: clip, input: .accessUnits, output: avc, twist: twist),
        RecordedRun(element: "parse", clip: clip, input: .markedNALUnits, output: RecordedRun.bytes, twist: twist),
        RecordedRun(element: "parse", clip: clip, input: .packets, output: avc, twist: twist),
        RecordedRun(element: "parse", clip: clip, input: .timedPackets, output: RecordedRun.bytes, twist: twist),
        RecordedRun(element: "repack", clip: clip, input: .accessUnits, output: avc, twist: twist),
        RecordedRun(element: "repack", clip: clip, input: .nalUnits, output: avc, twist: twist),
        RecordedRun(element: "repack", clip: clip, input: .packets, output: RecordedRun.bytes, twist: twist),
        RecordedRun(element: "repack", clip: clip, input: .timedPackets, output: RecordedRun.nalUnits, twist: twist),
      ]
    }
  }

  /// Runs with properties.
  private static let properties: [RecordedRun] = ["clip.h264", "open-gop.h264", "clip.h265"].flatMap { clip in
    let codec: StreamCodec = clip.hasSuffix("5") ? .h265 : .h264
    let inBand = "stream-format=\(codec.inBand), alignment=au"
    let parser = ["config-interval=-1", "config-interval=1", "update-timecode=true", "framerate=30/1"].flatMap { text in
      [
        RecordedRun(element: "parse", clip: clip, input: .pieces, output: RecordedRun.bytes, properties: text),
        RecordedRun(element: "parse", clip: clip, input: .packets, output: RecordedRun.nalUnits, properties: text),
      ]
    }
    let repackager = [
      "insert-aud=true", "insert-parameter-sets=keyframes", "insert-parameter-sets=changes",
      "insert-parameter-sets=never", "drop=aud+sei", "drop=parameter-sets+filler+end-of-sequence", "nal-length-size=2",
    ].flatMap { text in
      [
        RecordedRun(element: "repack", clip: clip, input: .packets, output: RecordedRun.bytes, properties: text),
        RecordedRun(element: "repack", clip: clip, input: .timedPackets, output: inBand, properties: text),
        RecordedRun(element: "repack", clip: clip, input: .nalUnits, output: RecordedRun.nalUnits, properties: text),
      ]
    }
    return parser + repackager
  }

  @Test(arguments: conversions("parse")) func parserConversionsMatchTheRecord(_ run: RecordedRun) throws {
    try expect(run)
  }
  @Test(arguments: conversions("repack")) func repackagerConversionsMatchTheRecord(_ run: RecordedRun) throws {
    try expect(run)
  }
  @Test(arguments: others) func otherClipsMatchTheRecord(_ run: RecordedRun) throws { try expect(run) }
  @Test(arguments: twists) func eventsMatchTheRecord(_ run: RecordedRun) throws { try expect(run) }
  @Test(arguments: properties) func propertiesMatchTheRecord(_ run: RecordedRun) throws { try expect(run) }

  private func expect(_ run: RecordedRun) throws { try RecordFile.elements.expect(run.name, run.columns()) }
}
