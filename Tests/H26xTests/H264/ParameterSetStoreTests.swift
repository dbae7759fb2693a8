// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

@Suite struct ParameterSetStoreTests {
  private func reason(_ bytes: [UInt8], into sets: H264.ParameterSets = H264.ParameterSets())
    -> BitstreamError.Reason?
  {
    var sets = sets
    return failure { () throws(BitstreamError) in try sets.insert(bytes: bytes) }?.reason
  }

  @Test func refusesUnusableNALUnits() throws {
    let long = MinimalStream.sps() + [UInt8](repeating: 0, count: H264.ParameterSets.maximumNALUnitLength)
    #expect(reason(long) == .lengthOutOfBounds)
    let longPPS = MinimalStream.pps() + [UInt8](repeating: 0, count: H264.ParameterSets.maximumNALUnitLength)
    #expect(reason(longPPS) == .lengthOutOfBounds)
    #expect(reason([0x65, 0x88, 0x84]) == .wrongNALUnitType)
    for byte: UInt8 in [0x67, 0x68, 0x6D, 0x6F] { #expect(reason([byte]) == .truncated) }
    #expect(reason([]) == .truncated)
    #expect(reason([0xE7, 66, 0, 30]) == .forbiddenBitSet)
    let longest =
      MinimalStream.sps()
      + [UInt8](
        repeating: 0, count: H264.ParameterSets.maximumNALUnitLength - MinimalStream.sps().count)
    #expect(reason(longest) == nil)
  }

  @Test func aRepeatedSetChangesNothing() throws {
    var sets = H264.ParameterSets()
    let all = [
      MinimalStream.sps(), MinimalStream.pps(), MinimalStream.pps(id: 255, sps: 31), [0x6D, 0xD0] as [UInt8],
    ]
    for set in all { #expect(try sets.insert(bytes: set) == .added) }
    for set in all { #expect(try sets.insert(bytes: set) == .unchanged) }
    #expect(sets.nalUnits == [all[0], all[3], all[1], all[2]])
    #expect(sets.hasPictureParameterSet && sets.canReadSlices && !sets.isEmpty)
    #expect(try sets.insert(bytes: MinimalStream.sps(widthInMacroblocks: 3)) == .replaced)
    #expect(try sets.insert(bytes: MinimalStream.pps(id: 255)) == .replaced)
    #expect(sets.sliceParameters(255)?.sequenceParameterSetID == 0)
  }

  /// Slices can be read only with their PPS and its SPS.
  @Test func readsSlicesOnlyWithPPSAndSPS() throws {
    var sets = H264.ParameterSets()
    try sets.insert(bytes: MinimalStream.pps(id: 1, sps: 2))
    #expect(sets.hasPictureParameterSet && !sets.canReadSlices)
    try sets.insert(bytes: MinimalStream.sps(id: 2))
    #expect(sets.canReadSlices && sets.sliceParameters(1)?.sequenceParameterSetID == 2)
    try sets.insert(bytes: MinimalStream.pps(id: 1, sps: 3))
    #expect(!sets.canReadSlices && sets.sliceParameters(1) == nil)
    try sets.insert(bytes: MinimalStream.pps(id: 1, sps: 2))
    #expect(sets.canReadSlices)
    sets.removeAll()
    #expect(!sets.canReadSlices && !sets.hasPictureParameterSet && sets.nalUnits.isEmpty)
  }

  @Test func findsSetsOfTheSameID() throws {
    var sets = H264.ParameterSets()
    try sets.insert(bytes: MinimalStream.sps(id: 1))
    try sets.insert(bytes: MinimalStream.pps(id: 2, sps: 1))
    func holds(_ bytes: [UInt8]) -> Bool { sets.holdsSet(withIDOf: bytes.span) }
    #expect(holds(MinimalStream.sps(id: 1, widthInMacroblocks: 9)) && !holds(MinimalStream.sps(id: 2)))
    #expect(holds(MinimalStream.pps(id: 2)) && !holds(MinimalStream.pps(id: 1)))
    #expect(!holds([0x67]) && !holds([]) && !holds([0x65, 0x88]))
    same(H264.ParameterSets.sequenceParameterSetID(of: MinimalStream.sps(id: 31).span), 31)
    same(H264.ParameterSets.sequenceParameterSetID(of: [0x67, 66].span), nil)
  }

  /// Each of these carries a chroma format; 66 does not, and 134 (MFC Depth High) is often forgotten.
  @Test(arguments: [44, 83, 86, 100, 110, 118, 122, 128, 134, 135, 138, 139, 144, 244] as [UInt8])
  func readsTheChromaFormatOfHighProfiles(_ idc: UInt8) throws {
    var sps = try Samples.sps()
    sps.profile = H264.Profile(idc: idc, constraintFlags: 0)
    sps.chromaFormat = .yuv422
    sps.lumaBitDepth = 10
    let read = try H264.SequenceParameterSet(bytes: sps.nalUnit())
    #expect(read.chromaFormat == .yuv422 && read.lumaBitDepth == 10 && read.profile.hasHighSyntax)
  }

  /// SPSs of 4:2:0 and of 4:4:4 alternate: each time the PPS is read for that chroma format, and none is lost.
  @Test func readsAPPSByItsCurrentSPS() throws {
    var plain = try Samples.sps()
    plain.chromaFormat = .yuv420
    var full = try Samples.sps()
    full.profile = H264.Profile(idc: 244, constraintFlags: 0)
    full.chromaFormat = .yuv444
    var eight = try H264.PictureParameterSet(bytes: Samples.highPPS)
    eight.high?.scalingLists = [H264.ScalingList](repeating: .fallback, count: 8)
    eight.id = 1
    var twelve = eight
    twelve.high?.scalingLists = [H264.ScalingList](repeating: .fallback, count: 12)
    twelve.id = 2
    let none = try H264.PictureParameterSet(bytes: Samples.highPPS)
    var sets = H264.ParameterSets()
    for pps in [none, eight, twelve] { try sets.insert(bytes: pps.nalUnit()) }
    for _ in 0..<2 {
      try sets.insert(bytes: plain.nalUnit())
      #expect(sets.pictureParameterSet(0) == none && sets.pictureParameterSet(1) == eight)
      #expect(sets.sliceParameters(0) != nil && sets.sliceParameters(1) != nil)
      try sets.insert(bytes: full.nalUnit())
      #expect(sets.pictureParameterSet(0) == none && sets.pictureParameterSet(2) == twelve)
      #expect(sets.sliceParameters(0) != nil && sets.sliceParameters(2) != nil)
    }
  }

  /// The same for an SPS whose VUI is cut off behind its timing; a VUI with an illegal field is left out whole.
  @Test func keepsFieldsBeforeTheEndOfATruncatedVUI() throws {
    var sps = try Samples.sps()
    let timing = H264.VUI.Timing(unitsInTick: 1, timeScale: 50, isFixedFrameRate: true)
    sps.vui?.timing = timing
    #expect(sps.vui?.bitstreamRestriction != nil)
    let broken = Array(sps.nalUnit().dropLast(2))
    #expect(throws: BitstreamError.self) { try H264.SequenceParameterSet(bytes: broken) }
    var sets = H264.ParameterSets()
    #expect(try sets.insert(bytes: broken) == .added)
    let found = try #require(sets.sequenceParameterSet(sps.id))
    #expect(found.vui?.timing == timing && found.vui?.bitstreamRestriction == nil && !found.hasProperEnd)
    sps.vui?.chromaLocation = .init(topField: 6, bottomField: 6)
    var others = H264.ParameterSets()
    #expect(try others.insert(bytes: sps.nalUnit()) == .added)
    let other = try #require(others.sequenceParameterSet(sps.id))
    #expect(other.codedSize == sps.codedSize && other.vui == nil && !other.hasProperEnd)
  }

  /// Every id may be asked for, those that no set can have too.
  @Test func unknownIDsHaveNoSet() throws {
    let sets = try SliceBuilder.sets()
    for id in UInt8(0)...255 {
      #expect((sets.sequenceParameterSet(.init(id)) != nil) == (id == 0))
      #expect((sets.pictureParameterSet(.init(id)) != nil) == (id < 2))
      let none = H265.ParameterSets()
      #expect(none.videoParameterSet(.init(id)) == nil && none.sequenceParameterSet(.init(id)) == nil)
      #expect(none.pictureParameterSet(.init(id)) == nil)
    }
  }
}
