// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

/// Real parameter sets as encoders wrote them.
enum Samples {
  /// x264, High 4.0, 1280×720, VUI with timing and restrictions.
  static let highSPS: [UInt8] = [
    0x67, 0x64, 0x00, 0x1F, 0xAC, 0xD9, 0x40, 0x50, 0x05, 0xBB, 0x01, 0x6C, 0x80, 0x00, 0x00, 0x03, 0x00, 0x80, 0x00,
    0x00, 0x1E, 0x07, 0x8C, 0x18, 0xCB,
  ]
  static let highPPS: [UInt8] = [0x68, 0xEB, 0xE3, 0xCB, 0x22, 0xC0]

  /// The SPS that tests modify.
  static func sps() throws -> H264.SequenceParameterSet { try H264.SequenceParameterSet(bytes: highSPS) }
}

@Suite struct SequenceParameterSetTests {
  @Test func readsAnEncodersSet() throws {
    let sps = try Samples.sps()
    #expect(sps.profile.name == "high")
    #expect(sps.level.name == "3.1")
    #expect(sps.codedSize == VideoSize(width: 1280, height: 720))
    #expect(sps.cropRectangle == CropRectangle(left: 0, top: 0, width: 1280, height: 720))
    #expect(sps.frameRate == Ratio(30, 1))
    #expect(sps.chromaFormat == .yuv420)
    #expect(sps.isFrameOnly)
    #expect(sps.hasProperEnd)
    #expect(sps.sentReorderFrames == 2)
    #expect(sps.nalUnit() == Samples.highSPS)
  }

  /// An SPS with every optional part is the same after writing and reading.
  @Test(arguments: ChromaFormat.allCases) func everythingComesBack(_ chroma: ChromaFormat) throws {
    var sps = try Samples.sps()
    sps.profile = H264.Profile(idc: 244, constraintFlags: 0)
    sps.id = 31
    sps.chromaFormat = chroma
    sps.hasSeparateColourPlanes = chroma == .yuv444
    sps.lumaBitDepth = 14
    sps.chromaBitDepth = 9
    sps.bypassesTransformAtZero = true
    sps.scalingLists = (0..<(chroma == .yuv444 ? 12 : 8)).map { index in
      let count = index < 6 ? 16 : 64
      return switch index % 4 {
      case 0: .fallback
      case 1: .standard
      case 2: .explicit((0..<count).map { UInt8($0 * 3 + 1) })
      default: .explicit([UInt8](repeating: 200, count: count))
      }
    }
    sps.pictureOrderCountType = .cycle(
      .init(
        isDeltaAlwaysZero: false, offsetForNonReferencePicture: -7, offsetForTopToBottomField: Int32.max,
        offsetsForReferenceFrames: (0..<255).map { Int32($0) - 100 }))
    sps.isFrameOnly = false
    sps.isMacroblockAdaptiveFrameField = true
    sps.cropping = .init(left: 1, right: 2, top: 3, bottom: 4)
    var vui = H264.VUI()
    vui.aspectRatioIDC = 255
    vui.sampleAspectRatioWidth = 64
    vui.sampleAspectRatioHeight = 45
    vui.isOverscanAppropriate = true
    vui.videoSignal = .init(
      format: 5, isFullRange: true, colour: ColourDescription(primaries: 9, transfer: 16, matrix: 9))
    vui.chromaLocation = .init(topField: 2, bottomField: 5)
    vui.timing = .init(unitsInTick: 1001, timeScale: 60000, isFixedFrameRate: true)
    vui.isPictureStructurePresent = true
    sps.vui = vui
    let bytes = sps.nalUnit()
    let back = try H264.SequenceParameterSet(bytes: bytes)
    #expect(back == sps)
    #expect(back.nalUnit() == bytes)
    if chroma == .yuv444 {
      try expectRecorded("H.264 SPS") { trace throws(BitstreamError) in
        _ = try H264.SequenceParameterSet(nalUnit: bytes.span, trace: trace)
      }
    }
    try expectLegalValues("H.264 SPS \(chroma.name)", bytes) { bytes, trace throws(BitstreamError) in
      try H264.SequenceParameterSet(nalUnit: bytes.span, trace: trace).nalUnit()
    }
    #expect(back.frameRate == Ratio(30000, 1001))
    #expect(back.vui?.sampleAspectRatio == Ratio(64, 45))
    for end in bytes.indices {
      same(
        failure { () throws(BitstreamError) in
          // Cut anywhere before the last element it is an error; only the stop bit may be missing.
          let part = try H264.SequenceParameterSet(bytes: Array(bytes[0..<end]))
          if end == bytes.count - 1, !part.hasProperEnd { throw BitstreamError(.truncated, "stop bit", bitOffset: 0) }
        } == nil, false)
    }
  }

  @Test func hrdParametersComeBack() throws {
    // NAL and VCL HRD parameters with 32 buffers and the longest fields.
    func hrd(_ writer: inout BitWriter, count: UInt32) {
      writer.ue(count - 1)
      writer.u(8, 0x35)
      for index in 0..<count {
        writer.ue(index == 0 ? UInt32.max - 1 : index)
        writer.ue(1000 + index)
        writer.flag(index % 2 == 0)
      }
      for length: UInt32 in [31, 23, 7, 31] { writer.u(5, length) }
    }
    var writer = BitWriter()
    for byte: UInt32 in [0x67, 77, 0, 30] { writer.u(8, byte) }
    // id, frame_num, poc type 2, ref frames, gaps, 2×2 macroblocks, frames only, direct, no cropping, VUI.
    for value: UInt32 in [0, 0, 2, 1] { writer.ue(value) }
    writer.flag(false)
    writer.ue(1)
    writer.ue(1)
    writer.u(4, 0b1101)
    // No aspect ratio, overscan, video signal, chroma location and timing; both HRDs.
    writer.u(5, 0)
    writer.flag(true)
    hrd(&writer, count: 32)
    writer.flag(true)
    hrd(&writer, count: 1)
    writer.u(3, 0b110)
    writer.trailingBits()
    let bytes = writer.bytes
    let sps = try H264.SequenceParameterSet(bytes: bytes)
    try expectRecorded("H.264 SPS with HRD") { trace throws(BitstreamError) in
      _ = try H264.SequenceParameterSet(nalUnit: bytes.span, trace: trace)
    }
    try expectLegalValues("H.264 SPS with HRD", bytes) { bytes, trace throws(BitstreamError) in
      try H264.SequenceParameterSet(nalUnit: bytes.span, trace: trace).nalUnit()
    }
    #expect(sps.vui?.nalHRD?.buffers.count == 32)
    #expect(sps.vui?.vclHRD?.buffers.count == 1)
    #expect(sps.vui?.isLowDelayHRD == true)
    let nal = try #require(sps.vui?.nalHRD)
    #expect(nal.bitRate(of: nal.buffers[0]) == UInt64(UInt32.max) << 9)
    #expect(nal.size(of: nal.buffers[0]) == 1001 << 9)
    #expect(sps.hasProperEnd)
    #expect(sps.nalUnit() == bytes)
  }

  @Test func badValuesAreErrors() throws {
    // Each changes one value of a good SPS to an illegal one.
    func expectError(_ element: String, _ change: (inout H264.SequenceParameterSet) -> Void) throws {
      var sps = try Samples.sps()
      change(&sps)
      let bytes = sps.nalUnit()
      do {
        _ = try H264.SequenceParameterSet(bytes: bytes)
        Issue.record("\(element) was taken")
      } catch {
        #expect(error.element.description == element)
        #expect(error.reason == .valueOutOfRange)
      }
    }
    try expectError("seq_parameter_set_id") { $0.id = 32 }
    try expectError("bit_depth_luma_minus8") { $0.lumaBitDepth = 15 }
    try expectError("log2_max_frame_num_minus4") { $0.log2MaximumFrameNumber = 17 }
    try expectError("max_num_ref_frames") { $0.maximumReferenceFrames = 17 }
    try expectError("pic_width_in_mbs_minus1") { $0.widthInMacroblocks = 1 << 30 }
    try expectError("frame_crop_offsets") { $0.cropping = .init(left: 640, right: 0, top: 0, bottom: 0) }
    try expectError("frame_crop_bottom_offset") { $0.cropping = .init(left: 0, right: 0, top: 0, bottom: 1 << 31) }
    try expectError("max_dec_frame_buffering") {
      $0.vui?.bitstreamRestriction?.maximumDecodedFrameBuffering = 17
    }
  }

  /// No decoder uses these values, so that illegal ones are no reason to lose the SPS.
  @Test func keepsIllegalValuesThatNoDecoderUses() throws {
    var sps = try Samples.sps()
    var restriction = try #require(sps.vui?.bitstreamRestriction)
    restriction.maximumBytesPerPictureDenominator = 17
    restriction.maximumBitsPerMacroblockDenominator = 64
    restriction.log2MaximumMotionVectorLengthHorizontal = 128
    restriction.log2MaximumMotionVectorLengthVertical = 255
    sps.vui?.bitstreamRestriction = restriction
    #expect(try H264.SequenceParameterSet(bytes: sps.nalUnit()) == sps)
  }

  /// `pic_init_qs_minus26`: only SP and SI slices need it.
  @Test(arguments: [-1, 52, 77, 126, 1 << 20, -1 << 20] as [Int32]) func keepsAnIllegalInitialQS(value: Int32) throws {
    var pps = try H264.PictureParameterSet(bytes: Samples.highPPS)
    pps.initialQS = value
    #expect(try H264.PictureParameterSet(bytes: pps.nalUnit()) == pps)
  }

  @Test func aCycleThatIsTooLongIsAnError() throws {
    var writer = BitWriter()
    for byte: UInt32 in [0x67, 66, 0, 30] { writer.u(8, byte) }
    for value: UInt32 in [0, 0, 1] { writer.ue(value) }
    writer.flag(false)
    writer.se(0)
    writer.se(0)
    writer.ue(UInt32.max - 1)
    writer.trailingBits()
    let bytes = writer.bytes
    do {
      _ = try H264.SequenceParameterSet(bytes: bytes)
      Issue.record("a cycle of 2³² − 2 was taken")
    } catch {
      #expect(error.element.description == "num_ref_frames_in_pic_order_cnt_cycle")
    }
  }

  @Test func ignoresAbsurdFrameRates() throws {
    var sps = try Samples.sps()
    for (ticks, scale) in [(0, 50), (1, 0), (0, 0), (1, 2002), (1, UInt32.max)] as [(UInt32, UInt32)] {
      sps.vui?.timing = .init(unitsInTick: ticks, timeScale: scale, isFixedFrameRate: true)
      #expect(sps.frameRate == nil)
    }
    sps.vui?.timing = .init(unitsInTick: UInt32.max, timeScale: UInt32.max, isFixedFrameRate: true)
    #expect(sps.frameRate == Ratio(1, 2))
    sps.vui?.timing = .init(unitsInTick: 1, timeScale: 2000, isFixedFrameRate: true)
    #expect(sps.frameRate == Ratio(1000, 1))
  }

  @Test func readsLevelZero() throws {
    var sps = try Samples.sps()
    sps.levelIDC = 0
    #expect(try H264.SequenceParameterSet(bytes: sps.nalUnit()).level.name == nil)
  }

  @Test func distinguishesSequencesOnlyByWhatDecodingUses() throws {
    let sps = try Samples.sps()
    var other = sps
    other.id = 3
    other.levelIDC = 51
    other.vui = nil
    #expect(sps.codesPictures(like: other))
    other.pictureOrderCountType = .decodingOrder
    #expect(!sps.codesPictures(like: other))
    other = sps
    other.widthInMacroblocks += 1
    #expect(!sps.codesPictures(like: other))
  }

  @Test func chromaFormatDecidesTheCroppingUnits() throws {
    var sps = try Samples.sps()
    sps.cropping = .init(left: 1, right: 1, top: 1, bottom: 1)
    #expect(sps.cropRectangle == CropRectangle(left: 2, top: 2, width: 1276, height: 716))
    sps.isFrameOnly = false
    #expect(sps.cropRectangle == CropRectangle(left: 2, top: 4, width: 1276, height: 1432))
    sps.chromaFormat = .yuv444
    #expect(sps.cropRectangle == CropRectangle(left: 1, top: 2, width: 1278, height: 1436))
  }
}

@Suite struct ParameterSetsTests {
  @Test func reportsChanges() throws {
    var sets = H264.ParameterSets()
    #expect(try sets.insert(bytes: Samples.highPPS) == .added)
    #expect(sets.sliceParameters(0) == nil)
    #expect(!sets.canReadSlices)
    #expect(try sets.insert(bytes: Samples.highSPS) == .added)
    #expect(sets.sliceParameters(0) != nil)
    #expect(sets.canReadSlices)
    #expect(try sets.insert(bytes: Samples.highSPS) == .unchanged)
    #expect(try sets.insert(bytes: Samples.highPPS) == .unchanged)
    var other = try Samples.sps()
    other.widthInMacroblocks = 10
    #expect(try sets.insert(bytes: other.nalUnit()) == .replaced)
    #expect(sets.sliceParameters(0)?.frameSizeInMacroblocks == 450)
    sets.removeAll()
    #expect(sets.isEmpty)
  }

  /// A PPS that comes before its SPS is read for the wrong chroma format first.
  @Test func readsAPPSAgainWhenItsSPSComes() throws {
    var pps = try H264.PictureParameterSet(bytes: Samples.highPPS)
    pps.high?.scalingLists = [H264.ScalingList](repeating: .fallback, count: 12)
    var sps = try Samples.sps()
    sps.profile = H264.Profile(idc: 244, constraintFlags: 0)
    sps.chromaFormat = .yuv444
    var sets = H264.ParameterSets()
    try sets.insert(bytes: pps.nalUnit())
    try sets.insert(bytes: sps.nalUnit())
    #expect(sets.pictureParameterSet(0) == pps)
  }

  @Test func damagedSetsDoNotChangeTheStore() throws {
    var sets = H264.ParameterSets()
    try sets.insert(bytes: Samples.highSPS)
    for end in 1..<(Samples.highSPS.count - 1) {
      let part = Array(Samples.highSPS[..<end])
      #expect((try? sets.insert(bytes: part)) == nil)
    }
    #expect(sets.sequenceParameterSetNALUnits == [Samples.highSPS])
    #expect((try? sets.insert(bytes: [0x68])) == nil)
    #expect((try? sets.insert(bytes: [0x65, 0x88])) == nil)
    #expect((try? sets.insert(bytes: [])) == nil)
    let long = Samples.highSPS + [UInt8](repeating: 0, count: 70000)
    #expect((try? sets.insert(bytes: long)) == nil)
  }

  @Test func randomSetsNeverTrap() {
    var generator = SeededGenerator(state: 4)
    var sets = H264.ParameterSets()
    for _ in 0..<20000 {
      var bytes = [Samples.highSPS, Samples.highPPS].randomElement(using: &generator) ?? []
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        bytes[Int.random(in: 1..<bytes.count, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      }
      if Bool.random(using: &generator) { bytes[0] = [0x67, 0x68, 0x6D, 0x6F].randomElement(using: &generator) ?? 0 }
      _ = try? sets.insert(bytes: bytes)
    }
    for id in UInt8(0)..<32 {
      guard let sps = sets.sequenceParameterSet(.init(id)) else { continue }
      #expect(sps.cropRectangle.width > 0 && sps.maximumReorderFrames <= 16)
    }
  }
}
