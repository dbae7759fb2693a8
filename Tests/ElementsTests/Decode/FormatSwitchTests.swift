// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import TestSupport
import Testing

/// Downstream requests another format in the middle of a stream. Decoding must continue with its references: the
/// pictures are the same as from a decoder that had the format from the start.
@Suite(.serialized) struct FormatSwitchTests {
  /// Streams with a colour description (the clips) and without, of frames and of fields.
  static let eightBits = [
    "clip.h264", "open-gop.h264", "interlaced.h264", "clip.h265", "open-gop.h265", "interlaced.h265",
  ]
  static let eightBitFormats = ["I420", "NV12", "YV12", "NV21", "Y42B", "Y444", "YUY2", "BGRx", "P010_10LE"]
  static let tenBitFormats = ["I420_10LE", "P010_10LE", "I420", "NV12", "Y444_10LE", "BGRx"]

  @Test(arguments: TestScope.rows(eightBits, usually: 1)) func switchesBetweenEightBitFormatsExactly(clip: String)
    throws
  {
    try switchFormats(of: clip, among: Self.eightBitFormats)
  }

  @Test func switchesBetweenTenBitFormatsExactly() throws {
    try switchFormats(of: "ten-bit.h265", among: Self.tenBitFormats)
  }

  private func switchFormats(of clip: String, among formats: [String]) throws {
    let isH265 = clip.hasSuffix("265")
    let all = isH265 ? try Clip.accessUnits(clip, of: H265.self) : try Clip.accessUnits(clip)
    let units = Array(all.prefix(24))
    var references: [String: [Picture]] = [:]
    for format in formats {
      let harness = try decoder(isH265, format)
      for (index, unit) in units.enumerated() { #expect(harness.push(unit, pts: Clip.time(index)) == 0) }
      harness.endOfStream()
      references[format] = try harness.takePictures()
    }
    for first in formats {
      for second in formats where second != first {
        let (old, new) = (references[first] ?? [], references[second] ?? [])
        let harness = try decoder(isH265, first)
        var pictures: [Picture] = []
        for (index, unit) in units.enumerated() {
          if index == 8 {
            harness.setOutputCaps("video/x-raw, format=\(second)")
            harness.pushUpstream(.reconfigure())
          }
          #expect(harness.push(unit, pts: Clip.time(index)) == 0)
          pictures += try harness.takePictures()
        }
        harness.endOfStream()
        pictures += try harness.takePictures()
        #expect(pictures.count == new.count && !new.isEmpty, "\(first) to \(second)")
        let wrong = pictures.indices.filter { index in
          pictures[index].bytes != new[index].bytes
            && (index > new.count - 8 || pictures[index].bytes != old[index].bytes)
        }
        #expect(wrong.isEmpty, "\(first) to \(second)")
      }
    }
  }

  private func decoder(_ isH265: Bool, _ format: String) throws -> Harness {
    try Harness.decoder(
      "\(isH265 ? "swifth265dec" : "swifth264dec") thread-type=none",
      input: isH265 ? H265DecodeTests.byteStream : Harness.byteStream, output: "video/x-raw, format=\(format)")
  }
}
