// SPDX-License-Identifier: MPL-2.0
import H26x
import Testing

@testable import VideoDecoding

@Suite struct DecodedPictureTests {
  /// A crop of which nothing would be left counts for nothing.
  @Test(arguments: [
    (0, 0, 0, 0, true), (1, 2, 3, 4, true), (15, 0, 0, 0, true), (16, 0, 0, 0, false), (0, 15, 0, 0, true),
    (0, 16, 0, 0, false), (8, 7, 0, 0, true), (8, 8, 0, 0, false), (0, 0, 7, 0, true), (0, 0, 8, 0, false),
    (0, 0, 0, 7, true), (0, 0, 0, 8, false), (0, 0, 4, 3, true), (0, 0, 4, 4, false), (-1, 0, 0, 0, false),
    (0, -1, 0, 0, false), (0, 0, -1, 0, false), (0, 0, 0, -1, false), (.max, .max, .max, .max, false),
  ])
  func ignoresACropThatLeavesNothing(_ left: Int, _ right: Int, _ top: Int, _ bottom: Int, _ isKept: Bool) {
    let crop = PictureCrop(left: left, right: right, top: top, bottom: bottom)
    #expect(crop.bounded(width: 16, height: 8) == (isKept ? crop : PictureCrop()))
  }

  @Test(arguments: [-1, 3]) func missingPlanesAreEmpty(_ index: Int) throws {
    let picture = try #require(try decodeAll(Array(mediaAccessUnits("clip.h264").prefix(1))).frames.first)
    let plane = picture.plane(index)
    #expect(plane.stride == 0 && plane.rowByteCount == 0 && plane.rowCount == 0 && plane.row(0).isEmpty)
    #expect(unsafe picture.contiguousPlane(index) == nil)
    #expect(unsafe picture.withUnsafeCodedPlane(index) { _, stride in stride } == nil)
    let luma = picture.plane(0)
    #expect(luma.row(-1).isEmpty && luma.row(luma.rowCount).isEmpty)
    #expect(luma.row(luma.rowCount - 1).count == picture.width)
  }

  /// The first picture of a clip whose SPS has this VUI.
  private func picture(_ vui: H264.VUI) throws -> DecodedPicture {
    let nalUnits = try H265Stream.nalUnits(mediaAccessUnits("clip.h264")[0]).map { nalUnit in
      guard nalUnit[0] & 31 == 7 else { return nalUnit }
      var sps = try H264.SequenceParameterSet(nalUnit: nalUnit.span)
      sps.vui = vui
      return sps.nalUnit()
    }
    return try #require(try decodeAll([H265Stream.joined(nalUnits)], .threadings[0]).frames.first)
  }

  /// Code points of H.273; 2 is "unspecified".
  @Test(arguments: [
    (true, UInt8(9), UInt8(16), UInt8(9), UInt8(2)), (false, 1, 1, 1, 0), (false, 2, 13, 2, 5), (true, 6, 2, 5, 1),
  ])
  func readsColoursOfTheVUI(
    _ isFullRange: Bool, _ primaries: UInt8, _ transfer: UInt8, _ matrix: UInt8, _ location: UInt8
  ) throws {
    var vui = H264.VUI()
    vui.videoSignal = VideoSignal(
      isFullRange: isFullRange,
      colour: ColourDescription(primaries: primaries, transfer: transfer, matrix: matrix))
    vui.chromaLocation = ChromaLocation(topField: location, bottomField: location)
    let colour = try picture(vui).colour
    #expect(colour.isFullRange == isFullRange)
    #expect(colour.primaries == (primaries == 2 ? nil : primaries))
    #expect(colour.transfer == (transfer == 2 ? nil : transfer))
    #expect(colour.matrix == (matrix == 2 ? nil : matrix))
    #expect(colour.chromaSampleLocation == location)
  }

  @Test func samplesMayNotBeSquare() throws {
    var vui = H264.VUI()
    #expect(try picture(vui).sampleAspectRatio == nil)
    vui.aspectRatioIDC = 255
    (vui.sampleAspectRatioWidth, vui.sampleAspectRatioHeight) = (7, 3)
    let ratio = try picture(vui).sampleAspectRatio
    #expect(ratio?.width == 7 && ratio?.height == 3)
  }

  @Test func latencyIsOfReorderingAndThreads() {
    #expect(SessionLatency(reorderDepth: 2, threadDelay: 5).frames == 7)
  }
}
