// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

@Suite struct VideoInfoTests {
  init() { Harness.initialise() }

  @Test func impossibleSizesAreNil() {
    #expect(VideoInfo(format: .nv12, width: -1, height: 2) == nil)
    #expect(VideoInfo(format: .nv12, width: 2, height: 1 << 40) == nil)
    #expect(VideoInfo(format: .nv12, width: 4, height: 2)?.size == 12)
  }

  @Test(arguments: [
    (VideoFormat.i420, "I420"), (.nv12, "NV12"), (.p010, "P010_10LE"), (.gray8, "GRAY8"), (.rgb, "RGB"),
    (.rgba, "RGBA"), (.bgra, "BGRA"),
  ])
  func formatsHaveTheirNames(format: VideoFormat, name: String) { #expect(format.name == name) }

  @Test func describesOnlyKnownValues() throws {
    var info = try #require(VideoInfo(format: .i420, width: 176, height: 144))
    info.clearViews()
    info.setChromaSampleLocation(nil)
    info.setColorimetry(isFullRange: nil, primaries: 2, transfer: 2, matrix: 2)
    #expect(
      info.caps().description
        == "video/x-raw, format=(string)I420, width=(int)176, height=(int)144, interlace-mode=(string)progressive, "
        + "pixel-aspect-ratio=(fraction)1/1, framerate=(fraction)0/1")
    info.setColorimetry(isFullRange: true, primaries: 1, transfer: 1, matrix: 1)
    info.setChromaSampleLocation(0)
    info.interlaceMode = .mixed
    info.setFrameRate(Fraction(30000, 1001))
    info.pixelAspectRatio = Fraction(4, 3)
    var other = try #require(VideoInfo(format: .i420, width: 176, height: 144))
    other.copyDescription(from: info)
    #expect(other.isEqual(to: info))
    let caps = other.caps()
    #expect(caps.first.string("colorimetry") == "1:3:5:1")
    #expect(caps.first.string("chroma-site") == "mpeg2")
    #expect(caps.first.string("interlace-mode") == "mixed")
    #expect(caps.first.fraction("framerate") == Fraction(30000, 1001))
    #expect(caps.first.fraction("pixel-aspect-ratio") == Fraction(4, 3))
  }
}
