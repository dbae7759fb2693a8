// SPDX-License-Identifier: MPL-2.0

import TestSupport
import Testing

@testable import H26x

@Suite struct FormatDescriptionTests {
  @Test func describesTheParameterSets() throws {
    let description = try FormatDescription(h264ParameterSets: [Samples.highPPS, Samples.highSPS])
    #expect(description.codec == .h264)
    #expect(description.codedSize == VideoSize(width: 1280, height: 720))
    #expect(description.croppedSize == description.codedSize)
    #expect(description.profileName == "high" && description.levelName == "3.1")
    #expect(description.compatibleProfileNames == ["high-10", "high-4:2:2", "high-4:4:4"])
    #expect(description.frameRate == Ratio(30, 1))
    #expect(description.sentReorderFrames == 2 && description.maximumReorderFrames == 2)
    #expect(description.decodedPictureBufferFrames == 4)
    #expect(!description.isInterlacedAllowed)
    #expect(description.parameterSets.sequence == [Samples.highSPS])
    #expect(description.parameterSets.picture == [Samples.highPPS])
    #expect(description.nalLengthSize == nil)
    var other = description
    other.nalLengthSize = .four
    #expect(other != description && other.describesSameVideo(as: description))
  }

  /// More reordering than the buffer holds frames: the level's buffer counts, as where nothing is sent.
  @Test func impossibleReorderingIsIgnored() throws {
    var sps = try H264.SequenceParameterSet(bytes: Samples.highSPS)
    let sent = try #require(sps.vui?.bitstreamRestriction)
    for (reorder, buffer) in [(3, 4), (4, 4), (5, 4), (16, 0)] as [(UInt8, UInt8)] {
      sps.vui?.bitstreamRestriction = .inferred(reorder: reorder, buffer: buffer)
      let isPossible = reorder <= buffer
      #expect(sps.sentReorderFrames == (isPossible ? Int(reorder) : nil))
      #expect(sps.maximumReorderFrames == (isPossible ? Int(reorder) : sps.decodedPictureBufferFrames))
      let format = try FormatDescription(h264ParameterSets: [Samples.highPPS, sps.nalUnit()])
      #expect(format.sentReorderFrames == sps.sentReorderFrames)
    }
    sps.vui?.bitstreamRestriction = sent
    #expect(sps.sentReorderFrames == 2)
  }

  @Test func thePresentationSizeHasSquarePixels() throws {
    var description = try FormatDescription(h264ParameterSets: [Samples.highPPS, Samples.highSPS])
    let shapes: [(Ratio?, Int)] = [
      (nil, 1280), (Ratio(1, 1), 1280), (Ratio(4, 3), 1707), (Ratio(1, 2), 640), (Ratio(1, 1_000_000), 1),
    ]
    for (ratio, width) in shapes {
      description.pixelAspectRatio = ratio
      #expect(description.presentationSize == VideoSize(width: width, height: 720))
    }
    description.isFieldSequence = true
    description.pixelAspectRatio = Ratio(1, 2)
    #expect(description.presentationSize == VideoSize(width: 640, height: 1440))
    // A description that a program has changed.
    description.cropRectangle.width = .max
    description.pixelAspectRatio = Ratio(1 << 31 - 1, 1)
    #expect(description.presentationSize.width > 0)
  }

  @Test func namesTheMissingParameterSet() {
    func message(_ body: () throws(BitstreamError) -> FormatDescription) -> String? {
      do throws(BitstreamError) {
        _ = try body()
        return nil
      } catch { return "\(error)" }
    }
    #expect(
      message { () throws(BitstreamError) in try FormatDescription(h264ParameterSets: []) }
        == "missingParameterSet in an empty list at bit 0")
    #expect(
      message { () throws(BitstreamError) in try FormatDescription(h265ParameterSets: []) }
        == "missingParameterSet in an empty list at bit 0")
    #expect(
      message { () throws(BitstreamError) in try FormatDescription(h265ParameterSets: [H265Samples.layeredVPS]) }
        == "missingParameterSet in a list without an SPS at bit 0")
  }

  /// The format description of a record has all its parameter sets, and gives the same record.
  @Test func descriptionOfARecordHasItsParameterSets() throws {
    var second = try H264.PictureParameterSet(bytes: Samples.highPPS)
    second.id = 1
    let record = try H264.DecoderConfigurationRecord(
      sequenceParameterSets: [Samples.highSPS], pictureParameterSets: [Samples.highPPS, second.nalUnit()],
      extensions: [[0x6D, 0xD0]], nalLengthSize: .two)
    let description = try FormatDescription(decoderConfigurationRecord: record)
    #expect(description.parameterSets.sequence == [Samples.highSPS])
    #expect(description.parameterSets.picture == [Samples.highPPS, second.nalUnit()])
    #expect(description.parameterSets.sequenceExtensions == [[0x6D, 0xD0]])
    #expect(description.nalLengthSize == .two)
    #expect(try H264.configurationRecord(description) == record)
    #expect(try H264.formatDescription(record) == description)
    #expect(record.nalUnits == [Samples.highSPS, [0x6D, 0xD0], Samples.highPPS, second.nalUnit()])
  }

  /// The range is known also where primaries, transfer and matrix are unspecified or absent.
  @Test func reportsTheRangeWithoutColours() throws {
    var sps = try Samples.sps()
    for (isFull, colour) in [
      (true, nil), (false, nil), (false, ColourDescription(primaries: 2, transfer: 2, matrix: 1)),
    ] as [(Bool, ColourDescription?)] {
      sps.vui?.videoSignal = H264.VUI.VideoSignal(isFullRange: isFull, colour: colour)
      let description = try FormatDescription(h264ParameterSets: [sps.nalUnit()])
      #expect(description.isFullRange == isFull && description.colour == colour)
    }
    sps.vui?.videoSignal = nil
    #expect(try FormatDescription(h264ParameterSets: [sps.nalUnit()]).isFullRange == nil)
  }

  /// Videos differ by what a decoder needs of them, not by how the stream is packaged.
  @Test func comparesVideosButNotTheirPackaging() throws {
    let description = try FormatDescription(h264ParameterSets: [Samples.highSPS, Samples.highPPS])
    func isSame(_ change: (inout FormatDescription) -> Void) -> Bool {
      var other = description
      change(&other)
      #expect(other != description)
      return other.describesSameVideo(as: description) && description.describesSameVideo(as: other)
    }
    #expect(isSame { $0.parameterSets.picture = [] } && isSame { $0.nalLengthSize = .two })
    #expect(isSame { $0.tick = nil } && isSame { $0.compatibleProfileNames = [] })
    let changes: [(inout FormatDescription) -> Void] = [
      { $0.codec = .h265 }, { $0.codedSize.width += 1 }, { $0.codedSize.height += 1 }, { $0.cropRectangle.left += 1 },
      { $0.cropRectangle.top += 1 }, { $0.cropRectangle.width += 1 }, { $0.cropRectangle.height += 1 },
      { $0.profileIDC += 1 }, { $0.constraintFlags += 1 }, { $0.profileName = nil }, { $0.levelIDC += 1 },
      { $0.levelName = nil }, { $0.tierName = "main" }, { $0.chromaFormat = .yuv422 }, { $0.lumaBitDepth += 1 },
      { $0.chromaBitDepth += 1 }, { $0.pixelAspectRatio = Ratio(9, 8) }, { $0.isFullRange = nil },
      { $0.colour = ColourDescription(primaries: 9, transfer: 16, matrix: 9) }, { $0.chromaSampleLocation = 3 },
      { $0.frameRate = nil }, { $0.maximumFrameRate += 1 }, { $0.isIntraOnly = true },
      { $0.isInterlacedAllowed = true },
      { $0.isFieldSequence = true }, { $0.isPictureStructurePresent.toggle() }, { $0.decodedPictureBufferFrames += 1 },
      { $0.sentReorderFrames = nil }, { $0.maximumReorderFrames += 1 },
      { $0.buffering = .init(bitRate: 1, size: 1, isConstantBitRate: true) },
    ]
    for (index, change) in changes.enumerated() { #expect(!isSame(change), "\(index)") }
  }

  /// Every property of a description, from an SPS whose values all differ from their defaults.
  @Test func describesEveryPropertyOfH264() throws {
    var sps = try H264.SequenceParameterSet(bytes: MinimalStream.sps(nalBuffers: 2, vclBuffers: 1))
    sps.profile = H264.Profile(idc: 122, constraintFlags: 0x10)
    (sps.levelIDC, sps.id, sps.chromaFormat, sps.lumaBitDepth, sps.chromaBitDepth) = (41, 3, .yuv422, 10, 9)
    (sps.widthInMacroblocks, sps.heightInMapUnits, sps.isFrameOnly) = (40, 15, false)
    sps.maximumReferenceFrames = 3
    sps.cropping = .init(left: 1, right: 2, top: 3, bottom: 4)
    var vui = try #require(sps.vui)
    (vui.aspectRatioIDC, vui.sampleAspectRatioWidth, vui.sampleAspectRatioHeight) = (255, 64, 45)
    vui.videoSignal = .init(
      format: 1, isFullRange: true, colour: ColourDescription(primaries: 9, transfer: 16, matrix: 10))
    vui.chromaLocation = .init(topField: 2, bottomField: 5)
    vui.timing = .init(unitsInTick: 1001, timeScale: 48000, isFixedFrameRate: true)
    vui.isPictureStructurePresent = true
    vui.bitstreamRestriction = try Samples.sps().vui?.bitstreamRestriction
    sps.vui = vui
    try expectDescription("H.264", [sps.nalUnit()])
    // The VCL HRD parameters stand in for those of the NAL.
    sps.vui?.nalHRD = nil
    sps.vui?.bitstreamRestriction = nil
    sps.profile = H264.Profile(idc: 122, constraintFlags: 0)
    try expectDescription("H.264, VCL", [sps.nalUnit()])
    sps.vui = nil
    sps.isFrameOnly = true
    try expectDescription("H.264, no VUI", [sps.nalUnit()])
  }

  @Test func describesEveryPropertyOfH265() throws {
    var vps = try H265.VideoParameterSet(bytes: H265Samples.vps)
    var sps = H265Samples.plainSPS()
    sps.profileTierLevel.profile = H265.Profile(
      idc: 4, isHighTier: true, constraints: [.interlacedSource, .maximum12Bit, .maximum422, .intra, .lowerBitRate])
    sps.profileTierLevel.levelIDC = 123
    (sps.id, sps.chromaFormat, sps.lumaBitDepth, sps.chromaBitDepth) = (3, .yuv422, 12, 9)
    sps.conformanceWindow = .init(left: 1, right: 2, top: 3, bottom: 4)
    sps.buffering = [.init(maximumDecodedPictures: 7, maximumReorderPictures: 5)]
    var common = H265.HRDParameters.Common()
    (common.hasNAL, common.hasVCL, common.bitRateScale, common.sizeScale) = (true, true, 2, 3)
    var layer = H265.HRDParameters.SubLayer(pictureRate: .fixed(elementalDuration: 1), bufferCount: 2)
    layer.nal = [1, 2].map { .init(bitRateValue: $0 * 100, sizeValue: $0 * 1000, isConstantBitRate: $0 == 2) }
    layer.vcl = [3, 4].map { .init(bitRateValue: $0 * 100, sizeValue: $0 * 1000, isConstantBitRate: $0 == 3) }
    var timing = H265.VUIParameters.Timing(unitsInTick: 1001, timeScale: 60000)
    timing.hrdParameters = .init(common: common, subLayers: [layer])
    var vui = H265.VUIParameters()
    (vui.aspectRatioIDC, vui.isFieldSequence, vui.isPictureStructurePresent) = (14, true, true)
    vui.videoSignal = .init(
      format: 1, isFullRange: true, colour: ColourDescription(primaries: 9, transfer: 16, matrix: 10))
    vui.chromaLocation = .init(topField: 2, bottomField: 5)
    vui.timing = timing
    sps.vui = vui
    try expectDescription("H.265", [vps.nalUnit(), sps.nalUnit()])
    timing.hrdParameters?.common.hasNAL = false
    vps.timing = timing
    vps.hrdParameters = timing.hrdParameters.map { [.init(layerSet: 0, parameters: $0)] } ?? []
    sps.vui = nil
    try expectDescription("H.265, VPS", [vps.nalUnit(), sps.nalUnit()])
    sps.profileTierLevel.profile = H265Samples.mainProfile
    sps.vui = H265.VUIParameters()
    sps.vui?.isFieldSequence = true
    try expectDescription("H.265, nothing sent", [sps.nalUnit()])
  }

  /// Expects the description of parameter sets to be that of a record.
  private func expectDescription(_ name: String, _ sets: [[UInt8]]) throws {
    let isH264 = name.hasPrefix("H.264")
    var description =
      try isH264
      ? FormatDescription(h264ParameterSets: sets) : FormatDescription(h265ParameterSets: sets)
    #expect(description.parameterSets.video + description.parameterSets.sequence == sets)
    description.parameterSets = .init()
    try RecordFile.tables.expect("description \(name)", ["\(description) \(description.frameSize)"])
  }

  @Test func missingSetsAreAnError() {
    let error = failure { () throws(BitstreamError) in
      _ = try FormatDescription(h264ParameterSets: [Samples.highPPS])
    }
    #expect(error?.reason == .missingParameterSet)
  }

  @Test func describesTheFirstSPS() throws {
    var second = try Samples.sps()
    second.id = 0
    second.widthInMacroblocks = 10
    var first = second
    first.id = 5
    first.widthInMacroblocks = 20
    let description = try FormatDescription(h264ParameterSets: [first.nalUnit(), second.nalUnit()])
    #expect(description.codedSize.width == 320)
    #expect(description.parameterSets.sequence == [first.nalUnit(), second.nalUnit()])
  }

  @Test func infersTheReorderDepth() throws {
    var sps = try Samples.sps()
    sps.vui = nil
    // 108,000 / … : Level 3.1 holds 18,000 macroblocks, five frames of 3,600.
    #expect(sps.maximumDecodedPictureBufferFrames == 5)
    #expect(sps.maximumReorderFrames == 5)
    sps.pictureOrderCountType = .decodingOrder
    #expect(sps.maximumReorderFrames == 0)
    sps = try Samples.sps()
    sps.vui = nil
    sps.profile = H264.Profile(idc: 110, constraintFlags: 0x10)
    #expect(sps.maximumReorderFrames == 0)
  }
}
