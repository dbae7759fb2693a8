// SPDX-License-Identifier: MPL-2.0
import HarnessSupport
import TestSupport
import Testing

/// The decoders' output for undamaged streams: samples, times, flags, caps, latency, messages and statistics. None of
/// it depends on the version of libavcodec.
@Suite struct DecoderRecordTests {
  private static let eightBits = ["clip.h264", "interlaced.h264", "clip.h265", "interlaced.h265"]

  private static let packagings: [RecordedRun] = eightBits.flatMap { clip in
    RecordedInput.allCases.filter { $0 != .pieces }.flatMap { input in
      ["format=I420", "format=NV12"].map { format in
        RecordedRun(element: "dec", clip: clip, input: input, output: format, properties: "thread-type=none")
      }
    }
  }

  private static let formats: [RecordedRun] = [
    ("open-gop.h264", "I420"), ("small-slices.h264", "NV12"), ("wide.h264", "I420"), ("open-gop.h265", "NV12"),
    ("wide.h265", "I420"), ("ten-bit.h265", "I420_10LE"), ("ten-bit.h265", "P010_10LE"),
    ("formats/yuv420p12le.h265", "I420_12LE"), ("formats/yuv420p12le.h265", "P012_LE"),
    ("formats/gbrp10le.h265", "GBR_10LE"), ("formats/gray.h265", "GRAY8"), ("formats/yuv422p.h265", "Y42B"),
    ("formats/yuv422p10le.h265", "I422_10LE"), ("formats/yuv422p12le.h265", "I422_12LE"),
    ("formats/yuv444p.h265", "Y444"), ("formats/yuv444p10le.h265", "Y444_10LE"),
    ("formats/yuv444p12le.h265", "Y444_12LE"),
  ].map { clip, format in
    RecordedRun(
      element: "dec", clip: clip, input: .accessUnits, output: "format=\(format)", properties: "thread-type=none")
  }

  private static let properties: [RecordedRun] = ["clip.h264", "clip.h265"].flatMap { clip in
    [
      "thread-type=slice max-threads=2", "thread-type=frame max-threads=2", "thread-type=none low-delay=true",
      "thread-type=none skip-frame=non-reference", "thread-type=none skip-frame=non-key",
      "thread-type=none direct-rendering=false", "thread-type=none std-compliance=normal",
    ].map { RecordedRun(element: "dec", clip: clip, input: .packets, output: "format=I420", properties: $0) }
  }

  private static let twists: [RecordedRun] = eightBits.flatMap { clip in
    [RecordedTwist.flush, .segment, .stream, .splice, .gaps, .reconfigure, .keyUnits].flatMap { twist in
      [RecordedInput.packets, .nalUnits].map { input in
        RecordedRun(
          element: "dec", clip: clip, input: input, output: "format=I420", properties: "thread-type=none",
          twist: twist)
      }
    }
  }

  @Test(arguments: packagings) func packagingsMatchTheRecord(_ run: RecordedRun) throws { try expect(run) }
  @Test(arguments: formats) func formatsMatchTheRecord(_ run: RecordedRun) throws { try expect(run) }
  @Test(arguments: properties) func propertiesMatchTheRecord(_ run: RecordedRun) throws { try expect(run) }
  @Test(arguments: twists) func eventsMatchTheRecord(_ run: RecordedRun) throws { try expect(run) }

  private func expect(_ run: RecordedRun) throws { try RecordFile.decoders.expect(run.name, run.columns()) }
}
