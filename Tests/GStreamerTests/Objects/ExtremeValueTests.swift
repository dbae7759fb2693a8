// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

/// Values that an application can pass, and that GStreamer has nothing for.
@Suite struct ExtremeValueTests {
  @Test func durationsBeyondSecondsOf64BitsSaturate() {
    #expect(ClockTime(Duration(attoseconds: .max)) == ClockTime(nanoseconds: .max))
    #expect(ClockTime(Duration(attoseconds: .min)) == .zero)
    #expect(ClockTime(.seconds(Int64.max) + .seconds(Int64.max)) == ClockTime(nanoseconds: .max))
  }

  @Test(arguments: [0, 9_999, UInt32.max]) func unknownFormatsHaveNoDescription(_ number: UInt32) {
    Harness.initialise()
    let format = VideoFormat(rawValue: number)
    #expect(format.name == "UNKNOWN" && format.bitDepth == 0 && format.kind == .other)
    let info = VideoInfo(format: format, width: 16, height: 16)
    #expect(info == nil)
  }
}
