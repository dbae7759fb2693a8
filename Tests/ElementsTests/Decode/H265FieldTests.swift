// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import Testing

/// Streams of fields (`field_seq_flag`): each is an output buffer.
@Suite(.serialized) struct H265FieldTests {
  private static let count = 25

  /// FFmpeg's checksum of all fields of the clip.
  private func expectedChecksum() throws -> String {
    let table = String(decoding: try Clip.read("checksums-h265.md5"), as: UTF8.self)
    return String(try #require(table.split(separator: "\n").first { $0.hasSuffix("  interlaced.h265") }).prefix(32))
  }

  private func decode(
    _ output: String?, input: String = H265DecodeTests.byteStream
  ) throws -> (caps: String, pictures: [Picture]) {
    let harness = try Harness.decoder("swifth265dec", input: input, output: output)
    for (index, unit) in try Clip.accessUnits("interlaced.h265", of: H265.self).enumerated() {
      #expect(harness.push(unit, pts: Clip.time(index)) == 0)
    }
    harness.endOfStream()
    return (try harness.outputCapsText(), try harness.takePictures())
  }

  /// As from stock's decoder, where downstream accepts fields: caps describe frames, flags the parity of each field.
  @Test(arguments: [nil, "video/x-raw(format:Interlaced), interlace-mode=alternate", "ANY"] as [String?])
  func outputsAlternatingFieldsIfDownstreamAcceptsThem(_ output: String?) throws {
    let (caps, pictures) = try decode(output)
    #expect(caps.hasPrefix("video/x-raw(format:Interlaced)"))
    for field in ["height=(int)128,", "interlace-mode=(string)alternate,", "pixel-aspect-ratio=(fraction)1/1,"] {
      #expect(caps.contains(field), "\(caps)")
    }
    #expect(pictures.count == Self.count)
    for (index, picture) in pictures.enumerated() {
      #expect(picture.flags.isSuperset(of: [.interlaced, .oneField]))
      #expect(picture.flags.contains(.topFieldFirst) == (index % 2 == 0))
    }
    #expect(try checksum(pictures) == expectedChecksum())
  }

  /// Elsewhere each field is a picture of half the height, with the aspect ratio for it.
  @Test(arguments: ["I420", "NV12"]) func outputsFieldsAsPicturesOtherwise(_ format: String) throws {
    let (caps, pictures) = try decode("video/x-raw, format=\(format)")
    #expect(caps.hasPrefix("video/x-raw, "))
    for field in ["height=(int)64,", "interlace-mode=(string)progressive,", "pixel-aspect-ratio=(fraction)1/2,"] {
      #expect(caps.contains(field), "\(caps)")
    }
    #expect(pictures.count == Self.count)
    #expect(pictures.allSatisfy { $0.flags.isDisjoint(with: [.interlaced, .oneField, .topFieldFirst]) })
    if format == "I420" { #expect(try checksum(pictures) == expectedChecksum()) }
  }

  /// Sample aspect ratios of the caps that cannot be doubled or halved.
  @Test(arguments: ["2147483647/1", "1/2147483647", "2147483647/2147483645"], ["I420", nil])
  func extremeAspectRatiosDoNotCrash(_ ratio: String, _ format: String?) throws {
    let (_, pictures) = try decode(
      format.map { "video/x-raw, format=\($0)" },
      input: H265DecodeTests.byteStream + ", pixel-aspect-ratio=(fraction)\(ratio)")
    #expect(pictures.count == Self.count)
  }

  /// Frames are output as frames although downstream accepts fields.
  @Test func framesStayFrames() throws {
    let harness = try Harness.decoder("swifth265dec", input: H265DecodeTests.byteStream, output: "ANY")
    for (index, unit) in try Clip.accessUnits("open-gop.h265", of: H265.self).prefix(6).enumerated() {
      #expect(harness.push(unit, pts: Clip.time(index)) == 0)
    }
    harness.endOfStream()
    #expect(try harness.outputCapsText().hasPrefix("video/x-raw, "))
  }
}
