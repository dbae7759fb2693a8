// SPDX-License-Identifier: MPL-2.0

import H26x
import Testing

/// Subset SPS (NAL unit type 15) and SPS extension (type 13).
@Suite struct SubsetAndExtensionTests {
  private func sequenceExtension(id: UInt32 = 31, format: UInt32 = 3, depth: UInt32, hasMore: Bool) -> [UInt8] {
    var writer = BitWriter()
    writer.u(8, 0x6D)
    writer.ue(id)
    writer.ue(format)
    if format > 0 {
      writer.ue(depth - 8)
      writer.flag(true)
      writer.u(Int(depth) + 1, (1 << depth) + 5)
      writer.u(Int(depth) + 1, (1 << depth) - 2)
    }
    writer.flag(hasMore)
    writer.trailingBits()
    return writer.bytes
  }

  /// The values of transparency have a bit more than the samples (7.4.2.1.2).
  @Test(arguments: 8...12 as ClosedRange<UInt32>) func transparencyHasOneBitMoreThanSamples(_ depth: UInt32) throws {
    for hasMore in [false, true] {
      let read = try H264.SequenceParameterSetExtension(
        nalUnit: sequenceExtension(depth: depth, hasMore: hasMore).span)
      #expect(read.id == 31 && read.auxiliaryFormatIDC == 3 && read.hasAdditionalExtension == hasMore)
      let alpha = try #require(read.alpha)
      #expect(alpha.bitDepth == UInt8(depth) && alpha.isIncremented)
      #expect(alpha.opaqueValue == 1 << depth + 5 && alpha.transparentValue == 1 << depth - 2)
    }
  }

  @Test func readsAnExtensionWithoutTransparency() throws {
    let bytes = sequenceExtension(id: 0, format: 0, depth: 8, hasMore: true)
    let read = try H264.SequenceParameterSetExtension(nalUnit: bytes.span)
    #expect(read.id == 0 && read.auxiliaryFormatIDC == 0 && read.alpha == nil && read.hasAdditionalExtension)
    try expectRecorded("H.264 SPS extension") { trace throws(BitstreamError) in
      _ = try H264.SequenceParameterSetExtension(
        nalUnit: sequenceExtension(depth: 9, hasMore: false).span, trace: trace)
    }
    try expectLegalValues("H.264 SPS extension", sequenceExtension(depth: 9, hasMore: false)) {
      bytes, trace throws(BitstreamError) in
      Array("\(try H264.SequenceParameterSetExtension(nalUnit: bytes.span, trace: trace))".utf8)
    }
  }

  private func subset(_ profile: UInt8, views: [UInt32], bit: Bool = true) throws -> [UInt8] {
    var base = try Samples.sps()
    base.profile = H264.Profile(idc: profile, constraintFlags: 0)
    // Up to the trailing bits.
    var bits = BitReader(base.nalUnit().span, from: 1)
    var writer = BitWriter()
    writer.u(8, 0x6F)
    while bits.moreRBSPData() { writer.flag(try bits.flag("bit")) }
    writer.flag(bit)
    writer.ue(UInt32(views.count - 1))
    for view in views { writer.ue(view) }
    writer.trailingBits()
    return writer.bytes
  }

  private func read(_ bytes: [UInt8]) throws(BitstreamError) -> H264.SubsetSequenceParameterSet {
    try H264.SubsetSequenceParameterSet(nalUnit: bytes.span)
  }

  /// Views are read where the profile has them.
  @Test(arguments: [118, 128, 134] as [UInt8]) func readsViewsOfMultiviewProfiles(_ profile: UInt8) throws {
    for views: [UInt32] in [[0], [7, 1023, 0]] {
      let read = try read(subset(profile, views: views))
      #expect(read.viewIDs == views.map { UInt16($0) } && read.base.profile.idc == profile)
      #expect(read.base.codedSize == VideoSize(width: 1280, height: 720))
    }
    let wrong = try subset(profile, views: [0], bit: false)
    let error = failure { () throws(BitstreamError) in _ = try read(wrong) }
    #expect(error?.reason == .valueOutOfRange && error?.element.description == "bit_equal_to_one")
    let bytes = try subset(profile, views: [3, 5])
    try expectLegalValues("H.264 subset SPS \(profile)", bytes) { bytes, trace throws(BitstreamError) in
      let read = try H264.SubsetSequenceParameterSet(nalUnit: bytes.span, trace: trace)
      return read.base.nalUnit() + Array("\(read.viewIDs)".utf8)
    }
  }

  @Test(arguments: [83, 86, 100] as [UInt8]) func otherProfilesHaveNoViews(_ profile: UInt8) throws {
    let read = try read(subset(profile, views: [3, 5]))
    #expect(read.viewIDs.isEmpty)
  }

  /// Each structure is read from NAL units of its own type only.
  @Test func readsEachStructureFromItsOwnTypeOnly() throws {
    var bytes = try subset(118, views: [0])
    for type in UInt8(0)..<32 where ![14, 20, 21].contains(type) {
      bytes[0] = 0x60 | type
      let unit = bytes
      let wrong = BitstreamError(.wrongNALUnitType, "nal_unit_type", bitOffset: 3)
      let errors: [(UInt8, BitstreamError?)] = [
        (7, failure { () throws(BitstreamError) in _ = try H264.SequenceParameterSet(nalUnit: unit.span) }),
        (8, failure { () throws(BitstreamError) in _ = try H264.PictureParameterSet(nalUnit: unit.span) }),
        (13, failure { () throws(BitstreamError) in _ = try H264.SequenceParameterSetExtension(nalUnit: unit.span) }),
        (15, failure { () throws(BitstreamError) in _ = try H264.SubsetSequenceParameterSet(nalUnit: unit.span) }),
      ]
      for (own, error) in errors { #expect((error == wrong) == (type != own), "\(type)") }
      var sets = H264.ParameterSets()
      let stored = failure { () throws(BitstreamError) in try sets.insert(bytes: unit) }
      #expect((stored == wrong) == ![7, 8, 13, 15].contains(type), "\(type)")
    }
    let layered = H265Samples.sps
    for type in UInt8(0)..<64 {
      let unit = [type << 1] + layered.dropFirst()
      let wrong = BitstreamError(.wrongNALUnitType, "nal_unit_type", bitOffset: 1)
      let errors: [(UInt8, BitstreamError?)] = [
        (32, failure { () throws(BitstreamError) in _ = try H265.VideoParameterSet(nalUnit: unit.span) }),
        (33, failure { () throws(BitstreamError) in _ = try H265.SequenceParameterSet(nalUnit: unit.span) }),
        (34, failure { () throws(BitstreamError) in _ = try H265.PictureParameterSet(nalUnit: unit.span) }),
      ]
      for (own, error) in errors { #expect((error == wrong) == (type != own), "\(type)") }
      var sets = H265.ParameterSets()
      let stored = failure { () throws(BitstreamError) in try sets.insert(bytes: unit) }
      #expect((stored == wrong) == !(32...34 ~= type), "\(type)")
    }
  }

  /// The longest parameter set that is stored.
  @Test func storesSetsUpToTheMaximumLength() throws {
    #expect(H264.ParameterSets.maximumNALUnitLength == 0xFFFF && H265.ParameterSets.maximumNALUnitLength == 0xFFFF)
    let wrong = BitstreamError(.lengthOutOfBounds, "parameter set", bitOffset: 0)
    for (count, expected) in [(0xFFFF, nil), (0x10000, wrong)] as [(Int, BitstreamError?)] {
      for nalUnit in [H265Samples.vps, H265Samples.sps, H265Samples.pps] {
        let bytes = nalUnit + [UInt8](repeating: 0, count: count - nalUnit.count)
        var sets = H265.ParameterSets()
        #expect(failure { () throws(BitstreamError) in try sets.insert(bytes: bytes) } == expected)
      }
      for nalUnit in [Samples.highSPS, Samples.highPPS] {
        let bytes = nalUnit + [UInt8](repeating: 0, count: count - nalUnit.count)
        var sets = H264.ParameterSets()
        #expect(failure { () throws(BitstreamError) in try sets.insert(bytes: bytes) }?.reason == expected?.reason)
      }
    }
  }
}
