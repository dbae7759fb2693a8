// SPDX-License-Identifier: MPL-2.0

import H26x
import Testing

@Suite struct H265ConfigurationRecordTests {
  private func record() throws -> H265.DecoderConfigurationRecord {
    try H265.DecoderConfigurationRecord(
      videoParameterSets: [H265Samples.vps], sequenceParameterSets: [H265Samples.sps],
      pictureParameterSets: [H265Samples.pps])
  }

  /// The bytes of ISO/IEC 14496-15, 8.3.3.1, without the emulation prevention bytes of the SPS.
  @Test func writesTheRecordOfParameterSets() throws {
    let bytes = try record().bytes()
    let front: [UInt8] = [
      0x01, 0x01, 0x60, 0x00, 0x00, 0x00, 0x90, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1E, 0xF0, 0x00, 0xFC, 0xFD, 0xF8, 0xF8,
      0x00, 0x00, 0x0F, 0x03,
    ]
    var expected = front
    for (type, unit) in [(UInt8(0xA0), H265Samples.vps), (0xA1, H265Samples.sps), (0xA2, H265Samples.pps)] {
      expected += [type, 0, 1, 0, UInt8(unit.count)] + unit
    }
    #expect(bytes == expected)
    #expect(try H265.DecoderConfigurationRecord(bytes: bytes) == record())
    for end in bytes.indices {
      same(
        failure { () throws(BitstreamError) in _ = try H265.DecoderConfigurationRecord(bytes: Array(bytes[..<end])) }?
          .reason, .truncated)
    }
  }

  @Test func formatDescriptionsComeBack() throws {
    let sets = [H265Samples.pps, H265Samples.sps, H265Samples.vps]
    let format = try FormatDescription(h265ParameterSets: sets, nalLengthSize: .two)
    #expect(format.codec == .h265)
    #expect(format.parameterSets.video == [H265Samples.vps])
    #expect(format.parameterSets.sequence == [H265Samples.sps])
    #expect(format.parameterSets.picture == [H265Samples.pps])
    #expect(format.profileName == "main" && format.levelName == "1" && format.tierName == "main")
    #expect(format.frameRate == Ratio(30, 1))
    #expect(format.sentReorderFrames == 2 && format.maximumReorderFrames == 2 && format.decodedPictureBufferFrames == 5)
    #expect(!format.isInterlacedAllowed && !format.isPictureStructurePresent)
    let again = try FormatDescription(decoderConfigurationRecord: format.h265DecoderConfigurationRecord())
    #expect(again == format)
  }

  /// The VPS may have the frame rate where the VUI has none.
  @Test func takesTheFrameRateOfTheVPS() throws {
    var vps = try H265.VideoParameterSet(bytes: H265Samples.vps)
    vps.timing = .init(unitsInTick: 1001, timeScale: 30000)
    let format = try FormatDescription(h265ParameterSets: [vps.nalUnit(), H265Samples.plainSPS().nalUnit()])
    #expect(format.frameRate == Ratio(30000, 1001))
  }

  @Test func otherFieldsComeBack() throws {
    var record = try record()
    record.minimumSpatialSegmentation = 4095
    record.parallelism = 3
    record.chromaFormat = .yuv444
    record.lumaBitDepth = 15
    record.chromaBitDepth = 12
    record.averageFrameRate = 25 * 256
    record.constantFrameRate = 2
    record.temporalLayerCount = 7
    record.hasNestedTemporalIDs = false
    record.nalLengthSize = .one
    // SEI arrays are kept, also empty ones.
    record.arrays.append(.init(type: .prefixSEI, isComplete: false, nalUnits: []))
    record.arrays.append(.init(type: .suffixSEI, isComplete: true, nalUnits: [[0x50, 0x01, 0x80]]))
    record.trailingBytes = [1, 2, 3]
    #expect(try H265.DecoderConfigurationRecord(bytes: record.bytes()) == record)
    #expect(record.nalUnits(of: .suffixSEI) == [[0x50, 0x01, 0x80]])
    #expect(try record.withoutParameterSets.bytes().count == 23)
  }

  /// Arrays of a record may have any order; the result is VPS, SPS, PPS.
  @Test func acceptsArraysInAnyOrder() throws {
    var record = try record()
    record.arrays.reverse()
    #expect(record.parameterSets == [H265Samples.vps, H265Samples.sps, H265Samples.pps])
  }

  @Test func ppsDecidesTheParallelismType() throws {
    var sps = H265Samples.plainSPS()
    var vui = H265.VUIParameters()
    var restriction = H265.VUIParameters.BitstreamRestriction()
    restriction.minimumSpatialSegmentation = 7
    vui.bitstreamRestriction = restriction
    sps.vui = vui
    func type(_ sets: [H265.PictureParameterSet]) throws -> UInt8 {
      try H265.DecoderConfigurationRecord(
        videoParameterSets: [], sequenceParameterSets: [sps.nalUnit()], pictureParameterSets: sets.map { $0.nalUnit() }
      ).parallelism
    }
    let plain = H265.PictureParameterSet(id: 0, sequenceParameterSetID: 0)
    var tiled = plain
    tiled.tiles = .init(columnCount: 2, rowCount: 1)
    var wavefronts = plain
    wavefronts.usesWavefronts = true
    var mixed = tiled
    mixed.usesWavefronts = true
    #expect(try type([plain]) == 1 && type([tiled]) == 2 && type([wavefronts]) == 3 && type([mixed]) == 0)
    #expect(try type([plain, tiled]) == 0 && type([]) == 0)
    restriction.minimumSpatialSegmentation = 0
    vui.bitstreamRestriction = restriction
    sps.vui = vui
    #expect(try type([wavefronts]) == 0)
  }

  @Test func illegalRecordsAreErrors() throws {
    var bytes = try record().bytes()
    bytes[21] = 0x0E
    #expect(
      failure { () throws(BitstreamError) in _ = try H265.DecoderConfigurationRecord(bytes: bytes) }
        == BitstreamError(.valueOutOfRange, "lengthSizeMinusOne", bitOffset: 174))
    bytes[21] = 0x0F
    bytes[0] = 0
    #expect(try H265.DecoderConfigurationRecord(bytes: bytes) == record())
    bytes[0] = 2
    #expect(
      failure { () throws(BitstreamError) in _ = try H265.DecoderConfigurationRecord(bytes: bytes) }?.reason
        == .unsupported)
    #expect(
      failure { () throws(BitstreamError) in
        _ = try H265.DecoderConfigurationRecord(
          videoParameterSets: [H265Samples.vps], sequenceParameterSets: [], pictureParameterSets: [])
      }?.reason == .missingParameterSet)
    var record = try record()
    record.arrays = [.init(type: .prefixSEI, isComplete: true, nalUnits: [[UInt8](repeating: 1, count: 0x10000)])]
    let long = record
    #expect(failure { () throws(BitstreamError) in _ = try long.bytes() }?.reason == .lengthNotRepresentable)
    record.arrays = [.init(type: .prefixSEI, isComplete: true, nalUnits: .init(repeating: [0x4E, 1], count: 0x10000))]
    let many = record
    #expect(
      failure { () throws(BitstreamError) in _ = try many.bytes() }
        == BitstreamError(.lengthNotRepresentable, "numNalus", bitOffset: 184))
  }
}
