// SPDX-License-Identifier: MPL-2.0

import H26x
import Testing

@Suite struct H265ParameterSetStoreTests {
  @Test func findsSetsByID() throws {
    var sets = H265.ParameterSets()
    #expect(sets.isEmpty && !sets.canReadSlices)
    #expect(try sets.insert(bytes: H265Samples.pps) == .added)
    #expect(sets.sliceParameters(0) == nil)
    #expect(try sets.insert(bytes: H265Samples.sps) == .added)
    #expect(try sets.insert(bytes: H265Samples.vps) == .added)
    #expect(!sets.isEmpty && sets.canReadSlices)
    #expect(sets.sliceParameters(0)?.codingTreeBlockCount == 64)
    for bytes in [H265Samples.vps, H265Samples.sps, H265Samples.pps] {
      #expect(try sets.insert(bytes: bytes) == .unchanged)
    }
    var other = try H265.SequenceParameterSet(bytes: H265Samples.sps)
    other.codedSize.width = 4096
    #expect(try sets.insert(bytes: other.nalUnit()) == .replaced)
    #expect(sets.sequenceParameterSet(0)?.codedSize.width == 4096)
    #expect(sets.sliceParameters(0)?.codingTreeBlockCount == 2048)
    #expect(sets.videoParameterSet(0) != nil && sets.videoParameterSet(1) == nil && sets.videoParameterSet(16) == nil)
    #expect(
      sets.pictureParameterSet(64) == nil && sets.sequenceParameterSet(16) == nil && sets.sliceParameters(64) == nil)
    sets.removeAll()
    #expect(sets.isEmpty)
  }

  /// Every id has a place of its own, up to the greatest.
  @Test func storesSetsUpToTheGreatestIDs() throws {
    var sets = H265.ParameterSets()
    for id in UInt8(0)..<16 {
      var vps = try H265.VideoParameterSet(bytes: H265Samples.vps)
      vps.id = .init(id)
      var sps = H265Samples.plainSPS()
      (sps.id, sps.videoParameterSetID) = (.init(id), .init(id))
      #expect(try sets.insert(bytes: vps.nalUnit()) == .added && sets.insert(bytes: sps.nalUnit()) == .added)
      #expect(sets.videoParameterSet(.init(id)) == vps && sets.sequenceParameterSet(.init(id)) == sps)
    }
    for number in UInt8(0)..<64 {
      let (id, sequence) = (PictureParameterSetID(number), SequenceParameterSetID(number % 16))
      let pps = H265.PictureParameterSet(id: id, sequenceParameterSetID: sequence)
      #expect(try sets.insert(bytes: pps.nalUnit()) == .added)
      #expect(sets.pictureParameterSet(id) == pps && sets.sliceParameters(id)?.sequenceParameterSetID == sequence)
    }
    // A new SPS is that of its own PPS alone.
    var sps = H265Samples.plainSPS()
    (sps.id, sps.codedSize.width) = (3, 512)
    #expect(try sets.insert(bytes: sps.nalUnit()) == .replaced)
    for id in UInt8(0)..<64 {
      #expect(sets.sliceParameters(.init(id))?.codingTreeBlockCount == (id % 16 == 3 ? 64 : 32))
    }
  }

  /// Blocks of 64 samples are the largest.
  @Test func checksBlockSizes() throws {
    for (least, range, isLegal) in [(3, 3, true), (4, 2, true), (4, 3, false), (5, 2, false), (6, 0, true)] {
      var sps = H265Samples.plainSPS()
      (sps.log2MinimumCodingBlockSize, sps.log2CodingBlockSizeRange) = (UInt8(least), UInt8(range))
      let error = failure { () throws(BitstreamError) in _ = try H265.SequenceParameterSet(bytes: sps.nalUnit()) }
      #expect(error?.reason == (isLegal ? nil : .valueOutOfRange))
    }
    // One row and one column may be left, none may not.
    for (left, top, isLegal) in [(255, 127, true), (256, 0, false), (0, 128, false)] as [(UInt32, UInt32, Bool)] {
      var sps = H265Samples.plainSPS()
      sps.chromaFormat = .yuv444
      sps.conformanceWindow = .init(left: left, right: 0, top: top, bottom: 0)
      let error = failure { () throws(BitstreamError) in _ = try H265.SequenceParameterSet(bytes: sps.nalUnit()) }
      #expect(error?.reason == (isLegal ? nil : .valueOutOfRange))
    }
  }

  /// A VPS that cannot be read, as some cameras write it, drops no other set.
  @Test func anUnreadableVPSDropsNoOtherSet() throws {
    var sets = H265.ParameterSets()
    let broken = Array(H265Samples.vps[..<9])
    #expect(try sets.insert(bytes: broken) == .added)
    #expect(try sets.insert(bytes: broken) == .unchanged)
    try sets.insert(bytes: H265Samples.sps)
    try sets.insert(bytes: H265Samples.pps)
    #expect(sets.videoParameterSet(0) == nil)
    #expect(sets.videoParameterSetNALUnits == [broken])
    #expect(sets.canReadSlices)
    let format = try FormatDescription(h265ParameterSets: [broken, H265Samples.sps, H265Samples.pps])
    #expect(format.croppedSize == VideoSize(width: 128, height: 128))
    #expect(format.parameterSets.video == [broken])
  }

  /// An unreadable parameter set replaces none.
  @Test func damagedSetsDoNotChangeTheStore() throws {
    var sets = try H265Samples.store()
    let before = sets.sequenceParameterSet(0)
    for bytes in [Array(H265Samples.sps[..<20]), [0x44, 0x01], [0x42], [], [0xC2, 0x01, 0, 0], [0x42, 0x00, 0, 0]] {
      same(failure { () throws(BitstreamError) in try sets.insert(bytes: bytes) } == nil, false)
    }
    #expect(sets.sequenceParameterSet(0) == before)
    #expect(
      failure { () throws(BitstreamError) in try sets.insert(bytes: [0x4E, 0x01, 0, 0]) }?.reason == .wrongNALUnitType)
    let long = H265Samples.sps + [UInt8](repeating: 0, count: 0x10000)
    #expect(failure { () throws(BitstreamError) in try sets.insert(bytes: long) }?.reason == .lengthOutOfBounds)
  }

  /// Sets of other layers are kept beside sets of the base layer with the same ids.
  @Test func setsOfOtherLayersDoNotReplaceTheBaseLayers() throws {
    var sets = try H265Samples.store()
    let before = sets.sequenceParameterSetNALUnits
    // nuh_layer_id 1, sps_ext_or_max_sub_layers_minus1 7, id 0.
    let layered: [UInt8] = [0x42, 0x09, 0x0F, 0xC0, 0x80]
    #expect(try sets.insert(bytes: layered) == .added)
    #expect(try sets.insert(bytes: layered) == .unchanged)
    #expect(try sets.insert(bytes: [0x42, 0x09, 0x0F, 0xC0, 0x40]) == .replaced)
    #expect(sets.sequenceParameterSetNALUnits == before)
    #expect(sets.layerSetNALUnits == [[0x42, 0x09, 0x0F, 0xC0, 0x40]])
    for layer in 2..<64 {
      for id: UInt8 in 0..<4 {
        var writer = BitWriter()
        H265.NALUnitHeader(type: .pictureParameterSet, layerID: UInt8(layer)).write(to: &writer)
        writer.ue(UInt32(id))
        writer.trailingBits()
        let bytes = writer.bytes
        _ = failure { () throws(BitstreamError) in try sets.insert(bytes: bytes) }
      }
    }
    #expect(sets.layerSetNALUnits.count == H265.ParameterSets.maximumLayerSets)
  }

  /// An SPS with an unreadable VUI is refused only where there is another SPS of its id. Fields before the
  /// end of a truncated VUI are kept.
  @Test func anUnreadableVUIIsIgnored() throws {
    var sps = H265Samples.plainSPS()
    var vui = H265.VUIParameters()
    vui.timing = .init(unitsInTick: 1, timeScale: 25)
    vui.bitstreamRestriction = .init()
    sps.vui = vui
    let whole = sps.nalUnit()
    // Cut after the timing.
    let broken = Array(whole.dropLast(3))
    #expect(throws: BitstreamError.self) { try H265.SequenceParameterSet(bytes: broken) }
    var store = H265.ParameterSets()
    #expect(try store.insert(bytes: broken) == .added)
    #expect(try store.insert(bytes: broken) == .unchanged)
    let found = try #require(store.sequenceParameterSet(0))
    #expect(found.codedSize == sps.codedSize && found.vui?.timing == vui.timing && !found.hasProperEnd)
    #expect(found.vui?.bitstreamRestriction == nil)
    #expect(try store.insert(bytes: whole) == .replaced)
    #expect(throws: BitstreamError.self) { try store.insert(bytes: broken) }
    #expect(store.sequenceParameterSet(0) == sps)
    // With another SPS of the id it is refused.
    #expect(throws: BitstreamError.self) { try store.insert(bytes: Array(whole.prefix(12))) }
    var other = H265.ParameterSets()
    #expect(throws: BitstreamError.self) { try other.insert(bytes: Array(whole.prefix(12))) }
  }
}
