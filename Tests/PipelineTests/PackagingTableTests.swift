// SPDX-License-Identifier: MPL-2.0
import Foundation
import TestSupport
import Testing

/// Every packaging, alignment and length size through repackager, parser and decoder.
///
/// The clip's slices have 200 bytes at most, so that a length of one byte holds them. As two bytes or four, their
/// lengths look like start codes to a search.
@Suite(.enabled(if: PluginUnderTest.isBuilt, Comment(rawValue: PluginUnderTest.missing)))
struct PackagingTableTests {
  /// A packaging between two elements.
  struct Form: Sendable, CustomTestStringConvertible {
    var format: String
    var alignment: String
    var caps: String { "video/x-h264,stream-format=\(format),alignment=\(alignment)" }
    var testDescription: String { "\(format)/\(alignment)" }

    static let all = ["avc", "avc3", "byte-stream"].flatMap { format in
      ["au", "nal"].map { Form(format: format, alignment: $0) }
    }
  }

  /// FFmpeg's own decoder: all pictures in presentation order, planar, no padding.
  private static let checksums = [
    "clip.h264": ClipTests.checksum, "small-slices.h264": "588fb46fc2c7779e443e521d5639d3ea",
  ]

  private func decode(_ chain: String, _ clip: String) async throws {
    let path = PluginUnderTest.media.appending(path: clip).path
    let run = try await Command.launch("filesrc location=\(path) ! swifth264parse ! \(chain) ! videocodectestsink")
    #expect(run.status == 0, "\(run)")
    #expect(run.pictureChecksum == Self.checksums[clip], "\(run)")
  }

  /// From the parser right into the decoder.
  @Test(arguments: Form.all, ["clip.h264", "small-slices.h264"])
  func decodesEachPackagingOfTheParser(form: Form, clip: String) async throws {
    try await decode("\(form.caps) ! swifth264dec", clip)
  }

  /// Length prefixes of every size into the parser, which writes four bytes where there is no codec_data.
  @Test(arguments: [1, 2, 4], TestScope.rows(Form.all, usually: 2))
  func parsesLengthsOfEverySize(size: Int, form: Form) async throws {
    for format in ["avc", "avc3"] {
      for clip in size == 1 ? ["small-slices.h264"] : ["small-slices.h264", "clip.h264"] {
        try await decode(
          """
          swifth264repack nal-length-size=\(size) ! video/x-h264,stream-format=\(format) ! swifth264parse \
          ! \(form.caps) ! swifth264dec
          """, clip)
      }
    }
  }

  /// Lengths of every size right into the decoder, from one NAL unit a buffer and from one access unit.
  @Test(arguments: [1, 2, 4], ["au", "nal"])
  func decodesLengthsOfEverySize(size: Int, alignment: String) async throws {
    for format in ["avc", "avc3"] {
      try await decode(
        """
        video/x-h264,stream-format=byte-stream,alignment=\(alignment) ! swifth264repack nal-length-size=\(size) \
        ! video/x-h264,stream-format=\(format) ! swifth264dec
        """, "small-slices.h264")
    }
  }

  /// There and back again through the repackager.
  @Test(arguments: [1, 2, 4], ["au", "nal"])
  func repackagesThereAndBack(size: Int, alignment: String) async throws {
    for format in ["avc", "avc3"] {
      try await decode(
        """
        swifth264repack nal-length-size=\(size) ! video/x-h264,stream-format=\(format) ! swifth264repack \
        ! video/x-h264,stream-format=byte-stream,alignment=\(alignment) ! swifth264dec
        """, "small-slices.h264")
    }
  }
}
