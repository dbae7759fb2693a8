// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import Testing

/// Every sample format of H.265, and conversions that downstream may ask for.
@Suite(.serialized) struct SampleFormatTests {
  /// GStreamer's names of FFmpeg's formats. It has none for monochrome of more than 8 bits, which is output with
  /// neutral chroma.
  static let formats: [(clip: String, format: String)] = [
    ("gray", "GRAY8"), ("gray10le", "I420_10LE"), ("gray12le", "I420_12LE"), ("yuv422p", "Y42B"),
    ("yuv422p10le", "I422_10LE"), ("yuv422p12le", "I422_12LE"), ("yuv444p", "Y444"), ("yuv444p10le", "Y444_10LE"),
    ("yuv444p12le", "Y444_12LE"), ("yuv420p12le", "I420_12LE"), ("gbrp10le", "GBR_10LE"),
  ]

  private static let lumaCount = 64 * 48

  /// A decoder that has been given all of a clip.
  private func decode(_ clip: String, as format: String? = nil) throws -> Harness {
    let units = try Clip.accessUnits("formats/\(clip).h265", of: H265.self)
    let output = format.map { "video/x-raw, format=\($0)" }
    let harness = try Harness.decoder("swifth265dec", input: H265DecodeTests.byteStream, output: output)
    for (index, unit) in units.enumerated() { #expect(harness.push(unit, pts: Clip.time(index)) == 0) }
    harness.endOfStream()
    return harness
  }

  /// FFmpeg's checksum of the samples; of monochrome the luma alone.
  @Test(arguments: formats.map(\.clip)) func outputsTheStreamsFormatUnchanged(_ clip: String) throws {
    let format = try #require(Self.formats.first { $0.clip == clip }).format
    let harness = try decode(clip)
    #expect(try harness.outputCapsText().contains("format=(string)\(format),"))
    var pictures = try harness.takePictures()
    #expect(pictures.count == 3 && pictures.allSatisfy { !$0.flags.contains(.corrupted) })
    if clip.hasPrefix("gray1") {
      let middle: [UInt8] = clip == "gray10le" ? [0, 2] : [0, 8]
      for index in pictures.indices {
        let chroma = Array(pictures[index].bytes.dropFirst(Self.lumaCount * 2))
        #expect(chroma == Array(repeating: middle, count: Self.lumaCount / 2).flatMap { $0 })
        pictures[index].bytes.removeLast(chroma.count)
      }
    }
    let table = String(decoding: try Clip.read("checksums-h265.md5"), as: UTF8.self)
    let line = try #require(table.split(separator: "\n").first { $0.hasSuffix("  formats/\(clip).h265") })
    #expect(checksum(pictures) == String(line.prefix(32)))
  }

  @Test(arguments: formats.map(\.clip), ["NV12", "P010_10LE", "P012_LE", "GRAY8", "GRAY16_LE", "I420"])
  func convertsToTheRequestedFormat(_ clip: String, _ format: String) throws {
    let harness = try decode(clip, as: format)
    #expect(try harness.outputCapsText().contains("format=(string)\(format),"))
    let pictures = try harness.takePictures()
    #expect(pictures.count == 3 && pictures.allSatisfy { !$0.flags.contains(.corrupted) })
  }

  /// P010 and P012 have the decoded samples in their high bits, Cb in front of Cr.
  @Test(arguments: [("gray10le", "P010_10LE", 6), ("yuv420p12le", "P012_LE", 4)])
  func packsIntoHighBits(_ clip: String, _ format: String, _ shift: Int) throws {
    func samples(_ bytes: [UInt8]) -> [UInt16] {
      stride(from: 0, to: bytes.count, by: 2).map { UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8 }
    }
    let planar = try decode(clip).takePictures().map { samples($0.bytes) }
    let packed = try decode(clip, as: format).takePictures().map { samples($0.bytes) }
    #expect(planar.count == 3 && packed.count == 3)
    for (planar, packed) in zip(planar, packed) {
      let luma = planar.prefix(Self.lumaCount)
      let (cb, cr) = (
        planar.dropFirst(Self.lumaCount).prefix(Self.lumaCount / 4), planar.suffix(Self.lumaCount / 4)
      )
      #expect(packed == (luma + zip(cb, cr).flatMap { [$0, $1] }).map { $0 << UInt16(shift) })
    }
  }
}
