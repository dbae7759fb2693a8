// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import Testing

@testable import Elements

private typealias Stream = RepackStream

/// Reading the caps of a compressed stream.
@Suite(.serialized) struct CompressedCapsTests {
  private static let record = RepackStream.avcC([RepackStream.sps()], pps: [RepackStream.pps()], size: 2)

  init() { Harness.initialise() }

  private func read(_ text: String) throws -> CompressedCaps<H264> {
    guard let caps = Caps(parsing: text) else { throw Harness.Failure.noCaps }
    return CompressedCaps<H264>(caps)
  }

  @Test func readsEveryPackaging() throws {
    for alignment in [StreamAlignment.accessUnit, .nalUnit] {
      for format in [StreamFormat<H264>.outOfBand, .inBand] {
        let caps = try read(Stream.caps(format.rawValue, alignment.rawValue, codecData: Self.record))
        #expect(caps.streamFormat == format && caps.alignment == alignment)
        #expect(caps.codecData == Self.record && caps.record?.sequenceParameterSets == [Stream.sps()])
        #expect(caps.packaging == .lengthPrefixed(.two) && caps.problems == [])
      }
      let bytes = try read(Stream.caps("byte-stream", alignment.rawValue))
      #expect(bytes.streamFormat == .byteStream && bytes.alignment == alignment)
      #expect(bytes.packaging == .annexB && bytes.record == nil && bytes.codecData == [] && bytes.problems == [])
    }
  }

  @Test func infersMissingFields() throws {
    let bare = try read("video/x-h264")
    #expect(bare.streamFormat == .byteStream && bare.alignment == nil && bare.problems == [] && bare.fields == [])
    let described = try read("video/x-h264, codec_data=(buffer)\(Stream.hexadecimal(Self.record))")
    #expect(described.streamFormat == .outOfBand && described.alignment == nil && described.record != nil)
    #expect(described.problems == [])
  }

  /// One field of the caps stands for nothing but itself.
  @Test(
    arguments: [
      ("colorimetry=bt709", .colorimetry), ("chroma-site=mpeg2", .chromaSite),
      ("pixel-aspect-ratio=(fraction)1/1", .pixelAspectRatio), ("interlace-mode=mixed", .interlaceMode),
      ("multiview-mode=mono", .multiviewMode), ("mastering-display-info=(string)any", .masteringDisplay),
      ("content-light-level=(string)any", .contentLight), ("width=16", []),
    ] as [(String, CompressedCaps<H264>.Fields)])
  func eachFieldStandsForItselfOnly(_ text: String, _ field: CompressedCaps<H264>.Fields) throws {
    let fields = try read("video/x-h264, stream-format=byte-stream, \(text)").fields
    #expect(fields == field && fields.rawValue.nonzeroBitCount == (field == [] ? 0 : 1))
  }

  private static let problems: [(String, [CompressedCaps<H264>.Problem])] = [
    ("video/x-h265", [.otherMediaType("video/x-h265")]),
    ("video/x-h264, stream-format=mp4", [.unknownStreamFormat("mp4")]),
    ("video/x-h264, alignment=frame", [.unknownAlignment("frame")]),
    ("video/x-h264, stream-format=avc", [.missingCodecData]),
    ("video/x-h264, stream-format=avc3", [.missingCodecData]),
    ("video/x-h264, stream-format=byte-stream, codec_data=(buffer)01", [.unexpectedCodecData]),
    ("video/x-h264, stream-format=avc, codec_data=nothing", [.unreadableCodecData(byteCount: 0, nil)]),
    (
      "audio/mpeg, stream-format=raw, alignment=none, codec_data=(buffer)0164",
      [
        .otherMediaType("audio/mpeg"), .unknownStreamFormat("raw"), .unknownAlignment("none"),
        .unreadableCodecData(byteCount: 2, BitstreamError(.truncated, "profile_compatibility", bitOffset: 16)),
      ]
    ),
  ]

  @Test(arguments: problems) func listsProblems(text: String, expected: [CompressedCaps<H264>.Problem]) throws {
    let caps = try read(text)
    #expect(caps.problems == expected)
    #expect(caps.record == nil)
  }

  /// Unreadable codec_data is kept, with a length size of four.
  @Test func keepsUnreadableCodecData() throws {
    let caps = try read("video/x-h264, stream-format=avc, codec_data=(buffer)0164")
    #expect(caps.codecData == [1, 0x64] && caps.packaging == .lengthPrefixed(.four))
  }

  @Test func aFrameRateOfZeroIsNone() throws {
    let rates: [(String, Fraction?)] = [
      ("25/1", Fraction(25, 1)), ("30000/1001", Fraction(30000, 1001)), ("0/1", nil),
    ]
    for (text, expected) in rates {
      #expect(try read("video/x-h264, framerate=\(text)").frameRate == expected)
    }
  }

  private static let fields: [(String, CompressedCaps<H264>.Fields)] = [
    ("colorimetry=bt709", .colorimetry), ("chroma-site=mpeg2", .chromaSite),
    ("pixel-aspect-ratio=1/1", .pixelAspectRatio), ("interlace-mode=mixed", .interlaceMode),
    ("multiview-mode=mono", .multiviewMode), ("content-light-level=(string)\"1:2\"", .contentLight),
    ("mastering-display-info=(string)\"1:2:3:4:5:6:7:8:9:10\"", .masteringDisplay),
  ]

  @Test(arguments: fields) func listsFields(text: String, field: CompressedCaps<H264>.Fields) throws {
    #expect(try read("video/x-h264, \(text)").fields == field)
  }
}
