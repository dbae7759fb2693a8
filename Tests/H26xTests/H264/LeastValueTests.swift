// SPDX-License-Identifier: MPL-2.0

import TestSupport
import Testing

@testable import H26x

/// Values below the least that the syntax can send are written as the least, and the least is written as it is.
@Suite struct LeastValueTests {
  @Test func writesLeastSequenceParameterSets() throws {
    var zero = try Samples.sps()
    zero.profile = H264.Profile(idc: 100, constraintFlags: 0)
    (zero.lumaBitDepth, zero.chromaBitDepth, zero.log2MaximumFrameNumber) = (0, 0, 0)
    zero.pictureOrderCountType = .leastSignificantBits(log2Maximum: 0)
    (zero.widthInMacroblocks, zero.heightInMapUnits) = (0, 0)
    zero.cropping = nil
    var least = zero
    (least.lumaBitDepth, least.chromaBitDepth, least.log2MaximumFrameNumber) = (8, 8, 4)
    least.pictureOrderCountType = .leastSignificantBits(log2Maximum: 4)
    (least.widthInMacroblocks, least.heightInMapUnits) = (1, 1)
    for sps in [zero, least] { #expect(try H264.SequenceParameterSet(bytes: sps.nalUnit()) == least) }
  }

  @Test func writesLeastHRDParameters() throws {
    var zero = try H264.SequenceParameterSet(bytes: MinimalStream.sps(nalBuffers: 1, vclBuffers: 1))
    let hrd = try #require(zero.vui?.nalHRD)
    var least = hrd
    (least.initialRemovalDelayLength, least.removalDelayLength, least.outputDelayLength) = (1, 1, 1)
    (least.buffers[0].bitRateValue, least.buffers[0].sizeValue) = (1, 1)
    var nothing = least
    (nothing.initialRemovalDelayLength, nothing.removalDelayLength, nothing.outputDelayLength) = (0, 0, 0)
    (nothing.buffers[0].bitRateValue, nothing.buffers[0].sizeValue) = (0, 0)
    zero.vui?.nalHRD = nothing
    zero.vui?.vclHRD = least
    let back = try H264.SequenceParameterSet(bytes: zero.nalUnit())
    #expect(back.vui?.nalHRD == least && back.vui?.vclHRD == least)
  }

  @Test func writesLeastPictureParameterSets() throws {
    var zero = try H264.PictureParameterSet(bytes: Samples.highPPS)
    (zero.defaultReferenceCountList0, zero.defaultReferenceCountList1) = (0, 0)
    var least = zero
    (least.defaultReferenceCountList0, least.defaultReferenceCountList1) = (1, 1)
    for pps in [zero, least] { #expect(try H264.PictureParameterSet(bytes: pps.nalUnit()) == least) }
  }

  @Test func writesLeastConfigurationRecords() throws {
    var record = try H264.DecoderConfigurationRecord(
      sequenceParameterSets: [Samples.highSPS], pictureParameterSets: [Samples.highPPS])
    for (depth, expected) in [(0, 8), (8, 8), (9, 9), (14, 14)] as [(UInt8, UInt8)] {
      record.high?.lumaBitDepth = depth
      record.high?.chromaBitDepth = depth
      let back = try H264.DecoderConfigurationRecord(bytes: record.bytes())
      #expect(back.high?.lumaBitDepth == expected && back.high?.chromaBitDepth == expected)
    }
  }

  /// Without delays and a structure, the message means a frame that is decoded and shown at once.
  @Test func writesLeastPictureTiming() throws {
    var sps = try H264.SequenceParameterSet(bytes: MinimalStream.sps(nalBuffers: 1, vclBuffers: 1))
    sps.vui?.isPictureStructurePresent = true
    let frame = H264.PictureTiming(
      delays: .init(cpbRemoval: 0, dpbOutput: 0), structure: .frame, clockTimestamps: [nil])
    #expect(H264.PictureTiming(structure: nil, clockTimestamps: []).payload(sps: sps) == frame.payload(sps: sps))
  }
}
