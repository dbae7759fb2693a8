// SPDX-License-Identifier: MPL-2.0

import TestSupport
import Testing

@testable import H26x

@Suite struct DecoderConfigurationRecordTests {
  typealias Record = H264.DecoderConfigurationRecord

  private func record() throws -> Record {
    try Record(
      sequenceParameterSets: [Samples.highSPS, Samples.highSPS], pictureParameterSets: [Samples.highPPS, [0x68, 1]],
      extensions: [[0x6D, 0x98]], nalLengthSize: .two)
  }

  @Test func comesBack() throws {
    let record = try record()
    let bytes = try record.bytes()
    #expect(Array(bytes.prefix(6)) == [1, 0x64, 0x00, 0x1F, 0xFD, 0xE2])
    #expect(try Record(bytes: bytes) == record)
    #expect(record.high?.lumaBitDepth == 8)
    let padded = try Record(bytes: bytes + [9, 8, 7])
    #expect(padded.trailingBytes == [9, 8, 7])
    #expect(try padded.bytes() == bytes + [9, 8, 7])
  }

  @Test func truncationIsAnErrorAtEveryByte() throws {
    let bytes = try record().bytes()
    let withoutExtension = bytes.count - 8
    for end in bytes.indices where end != withoutExtension {
      let error = failure { () throws(BitstreamError) in _ = try Record(bytes: Array(bytes[..<end])) }
      #expect(error?.reason == .truncated, "at \(end)")
    }
    // Many writers omit the extension.
    #expect(try Record(bytes: Array(bytes[..<withoutExtension])).high == nil)
  }

  @Test func emptyAndIllegalRecords() throws {
    let avc3: [UInt8] = [1, 0x64, 0x00, 0x1F, 0xFF, 0xE0, 0x00]
    #expect(try Record(bytes: avc3).bytes() == avc3)
    var record = try record()
    record.nalLengthSize = .four
    #expect(try record.withoutParameterSets.bytes() == avc3)
    // As many sets as their counts can say, and one more.
    for (sequences, pictures, extensions, isLegal) in [
      (31, 255, 255, true), (32, 0, 0, false), (0, 256, 0, false), (0, 0, 256, false),
    ] {
      var full = try self.record()
      full.sequenceParameterSets = [[UInt8]](repeating: Samples.highSPS, count: sequences)
      full.pictureParameterSets = [[UInt8]](repeating: Samples.highPPS, count: pictures)
      full.high?.sequenceParameterSetExtensions = [[UInt8]](repeating: [0x6D, 0x98], count: extensions)
      let error = failure { () throws(BitstreamError) in _ = try full.bytes() }
      let wrong = BitstreamError(.lengthNotRepresentable, "numOfSequenceParameterSets", bitOffset: 40)
      #expect(error == (isLegal ? nil : wrong))
      if isLegal { #expect(try Record(bytes: full.bytes()) == full) }
    }
    for (count, isLegal) in [(65535, true), (65536, false)] {
      var long = try self.record()
      long.sequenceParameterSets = [[UInt8](repeating: 1, count: count)]
      let error = failure { () throws(BitstreamError) in _ = try long.bytes() }
      #expect(error == (isLegal ? nil : BitstreamError(.lengthNotRepresentable, "parameterSetLength", bitOffset: 48)))
    }
    // A length size of three, another version, an empty PPS.
    #expect(
      failure { () throws(BitstreamError) in _ = try Record(bytes: [1, 66, 0, 30, 0xFE, 0xE0, 0]) }
        == BitstreamError(.valueOutOfRange, "lengthSizeMinusOne", bitOffset: 38))
    #expect(
      failure { () throws(BitstreamError) in _ = try Record(bytes: [2, 66, 0, 30, 0xFF, 0xE0, 0]) }
        == BitstreamError(.unsupported, "configurationVersion", bitOffset: 0))
    #expect(try Record(bytes: [1, 66, 0, 30, 0xFF, 0xE0, 1, 0, 0]).pictureParameterSets.isEmpty)
    record.sequenceParameterSets = [[UInt8]](repeating: Samples.highSPS, count: 32)
    #expect(failure { () throws(BitstreamError) in _ = try record.bytes() }?.reason == .lengthNotRepresentable)
    record.sequenceParameterSets = [[UInt8](repeating: 1, count: 65536)]
    #expect(failure { () throws(BitstreamError) in _ = try record.bytes() }?.reason == .lengthNotRepresentable)
  }

  /// Emulation prevention bytes in the first bytes of the SPS are not in the record's header.
  @Test func emulationPreventionIsTakenOut() throws {
    var sps = try Samples.sps()
    sps.profile = H264.Profile(idc: 0, constraintFlags: 0)
    sps.levelIDC = 1
    let nalUnit = sps.nalUnit()
    #expect(Array(nalUnit.prefix(5)) == [0x67, 0, 0, 3, 1])
    let record = try Record(sequenceParameterSets: [nalUnit], pictureParameterSets: [])
    #expect(Array(try record.bytes().prefix(4)) == [1, 0, 0, 1])
  }

  @Test func randomRecordsNeverTrap() throws {
    var generator = SeededGenerator(state: 13)
    let good = try record().bytes()
    for _ in 0..<5000 {
      var bytes = good
      for _ in 0..<Int.random(in: 1...5, using: &generator) {
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
      if let record = try? Record(bytes: bytes) { _ = try? FormatDescription(decoderConfigurationRecord: record) }
    }
  }

  @Test(.enabled(if: Vectors.isAvailable), arguments: Vectors.rows(codec: "h264", container: "mp4"))
  func muxersRecordsComeBack(_ row: Vectors.Row) throws {
    let file = try Vectors.bytes(row.file)
    let found = boxes(named: "avcC", in: file)
    #expect(!found.isEmpty)
    for bytes in found {
      let record = try Record(bytes: bytes)
      #expect(try record.bytes() == bytes)
      let description = try FormatDescription(decoderConfigurationRecord: record)
      #expect(description.croppedSize.width > 0)
      #expect(description.nalLengthSize == record.nalLengthSize)
      let made = try description.h264DecoderConfigurationRecord()
      #expect(made.sequenceParameterSets == record.sequenceParameterSets)
      #expect(made.profile == record.profile && made.levelIDC == record.levelIDC)
    }
  }

  /// The contents of all boxes of that name, wherever they are.
  private func boxes(named name: String, in file: [UInt8]) -> [[UInt8]] {
    let name = Array(name.utf8)
    var found: [[UInt8]] = []
    guard file.count > 8 else { return [] }
    for index in 4..<file.count - 4 where file[index] == name[0] && Array(file[index..<index + 4]) == name {
      let size = file[index - 4..<index].reduce(0) { $0 << 8 | Int($1) }
      guard size >= 15, index - 4 + size <= file.count else { continue }
      found.append(Array(file[index + 4..<index - 4 + size]))
    }
    return found
  }
}

@Suite struct FormatDescriptionTests {
  @Test func describesTheParameterSets() throws {
    let description = try FormatDescription(h264ParameterSets: [Samples.highPPS, Samples.highSPS])
    #expect(description.codec == .h264)
    #expect(description.codedSize == VideoSize(width: 1280, height: 720))
    #expect(description.croppedSize == description.codedSize)
    #expect(description.profileName == "high" && description.levelName == "3.1")
    #expect(description.compatibleProfileNames == ["high-10", "high-4:2:2", "high-4:4:4"])
    #expect(description.frameRate == Fraction(30, 1))
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

  /// The format description of a record has all its parameter sets, and gives the same record.
  @Test func aRecordsSetsAreInItsDescription() throws {
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

  /// What a decoder goes by tells videos apart; how the stream is packaged does not.
  @Test func sameVideo() throws {
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
      { $0.chromaBitDepth += 1 }, { $0.pixelAspectRatio = Fraction(9, 8) }, { $0.isFullRange = nil },
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
  @Test func everyPropertyOfH264() throws {
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

  @Test func everyPropertyOfH265() throws {
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

  @Test func noSetsNoDescription() {
    let error = failure { () throws(BitstreamError) in
      _ = try FormatDescription(h264ParameterSets: [Samples.highPPS])
    }
    #expect(error?.reason == .missingParameterSet)
  }

  @Test func theFirstOneGivenIsDescribed() throws {
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

  @Test func reorderDepthIsInferred() throws {
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

@Suite struct ProfileTests {
  /// Constraint flags → caps profile, by A.2.
  static let names: [(UInt8, UInt8, String?)] = [
    (66, 0x00, "baseline"), (66, 0x40, "constrained-baseline"), (66, 0x80, "baseline"), (77, 0x00, "main"),
    (77, 0x40, "main"), (88, 0x00, "extended"), (100, 0x00, "high"), (100, 0x08, "progressive-high"),
    (100, 0x0C, "constrained-high"), (100, 0x04, "high"), (110, 0x00, "high-10"), (110, 0x10, "high-10-intra"),
    (110, 0x08, "progressive-high-10"), (122, 0x00, "high-4:2:2"), (122, 0x10, "high-4:2:2-intra"),
    (244, 0x00, "high-4:4:4"), (244, 0x10, "high-4:4:4-intra"), (44, 0x00, "cavlc-4:4:4-intra"),
    (118, 0x00, "multiview-high"), (128, 0x00, "stereo-high"), (83, 0x00, "scalable-baseline"),
    (83, 0x04, "scalable-constrained-baseline"), (86, 0x00, "scalable-high"), (86, 0x04, "scalable-constrained-high"),
    (86, 0x10, "scalable-high-intra"), (1, 0x00, nil),
  ]

  @Test(arguments: names.indices) func namesFollowTheFlags(_ index: Int) {
    let (idc, flags, name) = Self.names[index]
    #expect(H264.Profile(idc: idc, constraintFlags: flags).name == name)
  }

  @Test func relaxations() {
    func compatible(_ idc: UInt8, _ flags: UInt8) -> [String] {
      H264.Profile(idc: idc, constraintFlags: flags).compatibleProfiles
    }
    let all = ["main", "high", "high-10", "high-4:2:2", "high-4:4:4"]
    #expect(compatible(66, 0x40) == ["baseline"] + all)
    #expect(compatible(66, 0x00) == ["extended"])
    #expect(compatible(77, 0x00) == Array(all.dropFirst()))
    #expect(compatible(88, 0xC0) == ["constrained-baseline", "baseline"] + all)
    #expect(compatible(88, 0x80) == ["baseline"])
    #expect(compatible(88, 0x40) == all)
    #expect(compatible(88, 0x00) == [])
    #expect(compatible(100, 0x40).first == "main")
    #expect(compatible(110, 0x10) == ["high-10", "high-4:2:2", "high-4:4:4", "high-4:2:2-intra", "high-4:4:4-intra"])
    #expect(compatible(122, 0x10) == ["high-4:2:2", "high-4:4:4", "high-4:2:2-intra", "high-4:4:4-intra"])
    #expect(compatible(244, 0x10) == ["high-4:4:4"])
    #expect(H264.Profile(idc: 118, constraintFlags: 0).compatibleProfiles(viewCount: 2).first == "stereo-high")
  }

  @Test func levels() {
    let main = H264.Profile(idc: 77, constraintFlags: 0)
    let constrained = H264.Profile(idc: 77, constraintFlags: 0x10)
    let high = H264.Profile(idc: 100, constraintFlags: 0x10)
    let names: [(UInt8, H264.Profile, String?)] = [
      (10, main, "1"), (11, main, "1.1"), (11, constrained, "1b"), (9, high, "1b"), (11, high, "1.1"),
      (41, main, "4.1"), (62, main, "6.2"), (0, main, nil), (43, main, nil), (255, main, nil),
    ]
    for (idc, profile, name) in names { #expect(H264.Level(idc: idc, profile: profile).name == name) }
  }

  @Test func typesHaveNamesAndSurvive() {
    for raw in UInt8.min...UInt8.max {
      let type = H264.NALUnitType(rawValue: raw)
      #expect(type.rawValue == raw & 31)
      #expect(!type.name.isEmpty)
      #expect(type.isVCL == (1...5).contains(raw & 31))
    }
    #expect(H264.NALUnitType.accessUnitDelimiter.name == "access unit delimiter (AUD)")
  }
}

@Suite struct AccessUnitInspectorTests {
  @Test func tellsRandomAccessAndSets() throws {
    let sps = Samples.highSPS
    let prefix: [UInt8] = [0, 0, 0, 1]
    let recovery = seiNALUnit([(.recoveryPoint, [0xC4])])
    let unit = prefix + [9, 0xF0] + prefix + sps + prefix + Samples.highPPS + prefix + recovery
    var inspector = H264.AccessUnitInspector()
    let first = inspector.inspect(unit.span, packaging: .annexB)
    #expect(first.hasParameterSets && first.changesParameterSets && !first.hasPicture)
    #expect(first.nalUnitCount == 4)
    #expect(first.seiRanges.map { Array(unit[$0]) } == [recovery])
    guard case .recoveryPoint(let point) = first.randomAccess else {
      Issue.record("no recovery point")
      return
    }
    #expect(point.isExactMatch)
    let again = inspector.inspect(unit.span, packaging: .annexB)
    #expect(again.hasParameterSets && !again.changesParameterSets)
  }

  @Test func pairsFields() throws {
    var inspector = H264.AccessUnitInspector(parameterSets: try SliceBuilder.sets())
    let top = SliceBuilder(type: 5, sliceType: 2, isField: true)
    let bottom = SliceBuilder(sliceType: 0, isField: true, isBottom: true, lsb: 1)
    var seconds: [Bool] = []
    var lone = bottom
    lone.frameNumber = 1
    for builder in [top, bottom, lone, top, top, bottom, bottom] {
      let unit = [0, 0, 0, 1] + builder.nalUnit()
      seconds.append(inspector.inspect(unit.span, packaging: .annexB).isSecondField)
    }
    #expect(seconds == [false, true, false, false, false, true, false])
  }

  @Test func reportsABadLength() {
    var inspector = H264.AccessUnitInspector()
    let packet: [UInt8] = [0, 0, 0, 2, 9, 0xF0, 0, 0, 1, 0, 1]
    let info = inspector.inspect(packet.span, packaging: .lengthPrefixed(.four))
    #expect(info.nalUnitCount == 1)
    #expect(info.error?.reason == .lengthOutOfBounds)
  }
}
