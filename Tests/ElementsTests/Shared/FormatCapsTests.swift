// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import HarnessSupport
import TestSupport
import Testing

@testable import Elements

/// Caps fields of a format description.
@Suite struct FormatCapsTests {
  init() { Harness.initialise() }

  private static func format() throws -> FormatDescription {
    try FormatDescription(h265ParameterSets: [H265Stream.vps, H265Stream.sps(), H265Stream.pps()])
  }

  @Test func derivesColorimetryFromRangeAndColours() throws {
    var format = try Self.format()
    format.isFullRange = nil
    format.colour = ColourDescription(primaries: 1, transfer: 1, matrix: 1)
    #expect(format.colorimetry() == nil)
    format.isFullRange = false
    #expect(format.colorimetry() == "bt709")
    #expect(format.colorimetry(preferringTransfer: 18) == "2:3:15:1")
    format.colour = nil
    #expect(format.colorimetry() == "2:0:0:0")
    format.isFullRange = true
    #expect(format.colorimetry(preferringTransfer: 1) == "1:0:5:0")
  }

  /// Streams of fields with sample aspect ratio 1:2: with common frame sizes, square samples of frames are meant.
  @Test(
    arguments: [
      (720, 540, true, (1, 2), (1, 1)), (720, 270, false, (1, 2), (1, 2)), (1920, 1080, true, (1, 2), (1, 1)),
      (1920, 1080, true, (2, 1), (2, 1)), (1920, 1088, true, (1, 2), (1, 1)), (1920, 1096, true, (1, 2), (1, 2)),
      (1920, 1062, true, (1, 2), (1, 2)), (1920, 1070, true, (1, 2), (1, 1)), (720, 576, true, (1, 2), (1, 2)),
      (800, 606, true, (1, 2), (1, 1)), (800, 608, true, (1, 2), (1, 2)), (800, 594, true, (1, 2), (1, 1)),
      (800, 592, true, (1, 2), (1, 2)), (720, 540, true, nil, nil),
    ] as [(Int, Int, Bool, (UInt32, UInt32)?, (Int32, Int32)?)])
  func derivesThePixelAspectRatio(
    _ width: Int, _ height: Int, _ isFields: Bool, _ sent: (UInt32, UInt32)?, _ expected: (Int32, Int32)?
  ) throws {
    var format = try Self.format()
    format.isFieldSequence = isFields
    format.cropRectangle = CropRectangle(left: 0, top: 0, width: width, height: isFields ? height / 2 : height)
    format.pixelAspectRatio = sent.flatMap { Ratio($0.0, $0.1) }
    #expect(format.pixelAspectRatioOfCaps == expected.map { Fraction($0.0, $0.1) })
  }

  @Test func ignoresFrameRatesBeyondTwiceTheLevelsLimit() throws {
    var format = try Self.format()
    format.maximumFrameRate = 30
    for (rate, expected) in [
      (Ratio(60, 1), Fraction(60, 1)), (Ratio(60001, 1000), nil),
      (Ratio(119_999, 2000), Fraction(119_999, 2000)), (nil, nil),
    ] as [(Ratio?, Fraction?)] {
      format.frameRate = rate
      #expect(format.frameRateOfCaps == expected)
      #expect(format.isFrameRateBeyondLevel == (rate != nil && expected == nil))
    }
  }

  @Test func setsFieldsOfTheCoding() throws {
    var format = try Self.format()
    var caps = Caps(mediaType: "video/x-h265")
    format.setCodingFields(of: &caps)
    let text = caps.description
    #expect(
      text
        == "video/x-h265, chroma-format=(string)4:2:0, bit-depth-luma=(uint)8, bit-depth-chroma=(uint)8, tier=(string)main, level=(string)2.1, profile=(string)main"
    )
    format.chromaFormat = .monochrome
    (format.lumaBitDepth, format.chromaBitDepth) = (12, 10)
    (format.tierName, format.levelName, format.profileName) = (nil, nil, nil)
    (format.codec, format.isInterlacedAllowed) = (.h264, true)
    var plain = Caps(mediaType: "video/x-h264")
    format.setCodingFields(of: &plain)
    let rest = plain.description
    #expect(
      rest
        == "video/x-h264, coded-picture-structure=(string)field, chroma-format=(string)4:0:0, bit-depth-luma=(uint)12, bit-depth-chroma=(uint)0"
    )
  }

  /// Profile names, each with the profiles whose decoders can decode it too.
  @Test func conformingProfilesMatchTheRecord() throws {
    for (name, profiles) in [("h264", H264.conformingProfiles), ("h265", H265.conformingProfiles)] {
      let text = profiles.map { "\($0.name): \($0.others.joined(separator: " "))" }
      try RecordFile.elements.expect("profiles \(name)", [text.joined(separator: "; ")])
    }
  }

  // MARK: A part of a buffer

  @Test func keepsEntriesAndDamageOfEachPart() {
    let slices = (0..<3).map { RepackStream.slice(UInt32($0), isIDR: $0 == 0) }
    var found = FoundNALUnits<H264>()
    var history = LengthPrefixed.PacketHistory()
    let bytes = RepackStream.lengthPrefixed(slices) + [0, 1, 0, 0, 7]
    found.find(in: bytes.span, packaging: .lengthPrefixed(.four), &history)
    #expect(found.repackager.entries.count == 3 && found.damage != nil && found.misplacedStartCodes == 0)
    let origin = 4 + slices[0].count
    let (head, tail) = (found.part(0..<1, origin: 0), found.part(1..<3, origin: origin))
    #expect(head.damage == nil && tail.damage == found.damage)
    #expect(head.repackager.entries.map(\.range) == [4..<4 + slices[0].count])
    #expect(tail.repackager.entries.first?.range == 4..<4 + slices[1].count)
    // A byte stream in place of length prefixes: all start codes are misplaced, and counted in the first part.
    let stream = RepackStream.annexB(slices)
    found.find(in: stream.span, packaging: .lengthPrefixed(.four), &history)
    #expect(found.misplacedStartCodes == 3 && found.damage == nil && found.repackager.entries.count == 3)
    let front = found.part(0..<2, origin: 0)
    let back = found.part(2..<3, origin: found.repackager.entries[2].range.lowerBound - 4)
    #expect(front.misplacedStartCodes == 3 && back.misplacedStartCodes == 0)
    // The entries of the last scan are replaced.
    let garbage: [UInt8] = [1, 2, 3, 4, 5]
    found.find(in: garbage.span, packaging: .annexB, &history)
    #expect(found.damage != nil && found.misplacedStartCodes == 0 && found.repackager.entries.isEmpty)
    let nothing: [UInt8] = []
    found.find(in: nothing.span, packaging: .annexB, &history)
    #expect(found.damage == nil)
  }

  /// Slices are searched for start codes only on request.
  @Test func searchesSlicesOnlyOnRequest() {
    let slice = RepackStream.slice(0, isIDR: true) + [0, 0, 1] + RepackStream.slice(1)
    let sei: [UInt8] = [6, 5, 1, 1, 0x80, 0, 0, 1] + RepackStream.slice(2)
    for (nalUnit, searches, count) in [(slice, true, 1), (slice, false, 0), (sei, true, 1), (sei, false, 1)] {
      let bytes = RepackStream.lengthPrefixed([nalUnit])
      var found = FoundNALUnits<H264>()
      var history = LengthPrefixed.PacketHistory()
      found.find(in: bytes.span, packaging: .lengthPrefixed(.four), &history, searches ? .everywhere : .outsideSlices)
      #expect(found.misplacedStartCodes == count && found.repackager.entries.count == 1 + count)
    }
  }
}
