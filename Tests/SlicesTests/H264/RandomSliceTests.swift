// SPDX-License-Identifier: MPL-2.0

import Slices
import TestSupport
import Testing

@testable import H26x

/// Slices that another writer made, read back value by value. They cover what no vector has.
@Suite struct RandomSliceTests {
  private static let types: [H264.SliceHeader.SliceType] = [.i, .p, .b, .sp, .si]

  /// Writes and reads one slice of all macroblocks, and expects them to be equal.
  private func expectEqual(_ settings: SliceSettings, addresses: [Int], seed: UInt64) throws {
    let slice = RandomSlice(settings, addresses: addresses, seed: seed)
    var reader = H264.SliceReader()
    var visitor = CollectingVisitor()
    let extent = try reader.read(slice.nalUnits, try settings.parameterSets(), visitor: &visitor)
    #expect(extent.blockCount == addresses.count)
    #expect(extent.firstBlock == addresses[0])
    #expect(extent.notes.isEmpty)
    // Each bit belongs to a macroblock.
    if !settings.isPartitioned { #expect(visitor.bits == extent.dataBits) }
    #expect(visitor.macroblocks == slice.macroblocks)
  }

  @Test(arguments: types) func readsAllMacroblockTypes(_ type: H264.SliceHeader.SliceType) throws {
    var settings = try SliceSettings(width: 9, height: 7)
    settings.sliceType = type
    for seed in 0..<40 as Range<UInt64> {
      settings.referenceCounts = [(1, 1), (2, 1), (3, 2), (16, 16)][Int(seed % 4)]
      try expectEqual(settings, addresses: Array(0..<63), seed: seed)
    }
  }

  @Test(arguments: types) func readsDataPartitions(_ type: H264.SliceHeader.SliceType) throws {
    var settings = try SliceSettings(width: 9, height: 7)
    settings.sliceType = type
    settings.isPartitioned = true
    settings.pps.usesConstrainedIntraPrediction = true
    for seed in 100..<120 as Range<UInt64> {
      settings.pps.isRedundantPictureCountPresent = seed % 2 == 0
      try expectEqual(settings, addresses: Array(0..<63), seed: seed)
    }
  }

  /// Of each kind, a macroblock has as many bits in three NAL units as in one.
  @Test(arguments: types) func countsBitsOfAllDataPartitions(_ type: H264.SliceHeader.SliceType) throws {
    var settings = try SliceSettings(width: 9, height: 7)
    settings.sliceType = type
    for seed in 120..<130 as Range<UInt64> {
      var (whole, divided) = (CollectingVisitor(), CollectingVisitor())
      for isPartitioned in [false, true] {
        settings.isPartitioned = isPartitioned
        let slice = RandomSlice(settings, addresses: Array(0..<63), seed: seed)
        var reader = H264.SliceReader()
        if isPartitioned {
          _ = try reader.read(slice.nalUnits, try settings.parameterSets(), visitor: &divided)
        } else {
          _ = try reader.read(slice.nalUnits, try settings.parameterSets(), visitor: &whole)
        }
      }
      #expect(whole.kinds.contains { $0.luma > 0 } && whole.kinds.count == divided.kinds.count)
      for (index, macroblock) in whole.macroblocks.enumerated() {
        var (one, other) = (whole.kinds[index], divided.kinds[index])
        if macroblock.kind == .pcm {
          // Up to 7 bits in front of the samples align them.
          #expect(2048..<2056 ~= one.luma && 2048..<2056 ~= other.luma)
          (one.luma, other.luma) = (0, 0)
        }
        #expect(one == other, "macroblock \(index) of seed \(seed)")
      }
    }
  }

  @Test func readsWithoutPartitionsBAndC() throws {
    var settings = try SliceSettings(width: 9, height: 7)
    settings.isPartitioned = true
    let slice = RandomSlice(settings, addresses: Array(0..<63), seed: 5)
    var reader = H264.SliceReader()
    var visitor = CollectingVisitor()
    let extent = try reader.read([slice.nalUnits[0]], try settings.parameterSets(), visitor: &visitor)
    #expect(extent.notes == .missingPartitions)
    #expect(visitor.macroblocks == slice.macroblocks)
  }

  @Test(arguments: types) func readsAdaptiveFields(_ type: H264.SliceHeader.SliceType) throws {
    var settings = try SliceSettings(width: 5, height: 4)
    settings.sps.isFrameOnly = false
    settings.sps.isMacroblockAdaptiveFrameField = true
    settings.sliceType = type
    for seed in 200..<240 as Range<UInt64> {
      settings.referenceCounts = [(1, 1), (2, 1)][Int(seed % 2)]
      try expectEqual(settings, addresses: Array(0..<40), seed: seed)
    }
  }

  @Test(arguments: [ChromaFormat.monochrome, .yuv422, .yuv444]) func readsOtherChromaFormats(
    _ format: ChromaFormat
  ) throws {
    var settings = try SliceSettings(width: 6, height: 5)
    settings.sps.profile = H264.Profile(idc: 244, constraintFlags: 0)
    settings.sps.chromaFormat = format
    settings.sliceType = .b
    for seed in 300..<320 as Range<UInt64> { try expectEqual(settings, addresses: Array(0..<30), seed: seed) }
  }

  @Test func readsColourPlanesApart() throws {
    var settings = try SliceSettings(width: 4, height: 3)
    settings.sps.profile = H264.Profile(idc: 244, constraintFlags: 0)
    settings.sps.chromaFormat = .yuv444
    settings.sps.hasSeparateColourPlanes = true
    let sets = try settings.parameterSets()
    var reader = H264.SliceReader()
    for half in [0..<6, 6..<12] {
      for plane in 0..<3 {
        settings.colourPlane = UInt8(plane)
        let slice = RandomSlice(settings, addresses: Array(half), seed: UInt64(plane))
        var visitor = CollectingVisitor()
        _ = try reader.read(slice.nalUnits, sets, visitor: &visitor)
        #expect(visitor.macroblocks == slice.macroblocks)
      }
    }
  }

  @Test func readsSlicesInAnyOrder() throws {
    let settings = try SliceSettings(width: 6, height: 4)
    let sets = try settings.parameterSets()
    var reader = H264.SliceReader()
    for first in [12, 0, 18, 6] {
      let slice = RandomSlice(settings, addresses: Array(first..<(first + 6)), seed: UInt64(first))
      var visitor = CollectingVisitor()
      let extent = try reader.read(slice.nalUnits, sets, visitor: &visitor)
      #expect(extent.endBlock == first + 6)
      #expect(visitor.macroblocks == slice.macroblocks)
    }
  }

  @Test func redundantPicturesCoverMacroblocksAgain() throws {
    var settings = try SliceSettings(width: 3, height: 2)
    settings.pps.isRedundantPictureCountPresent = true
    let sets = try settings.parameterSets()
    var reader = H264.SliceReader()
    for count in [0, 1, 4] {
      settings.redundantPictureCount = UInt8(count)
      let slice = RandomSlice(settings, addresses: Array(0..<6), seed: 9)
      #expect(reader.damage(slice.nalUnits[0], sets) == nil)
      #expect(reader.damage(slice.nalUnits[0], sets)?.reason == .codedTwice)
    }
    settings.redundantPictureCount = 2
    let slice = RandomSlice(settings, addresses: Array(0..<6), seed: 9)
    #expect(reader.damage(slice.nalUnits[0], sets)?.reason == .contradiction)
  }

  // MARK: Slice groups

  /// A map of a picture of 3 × 3 macroblocks.
  struct GroupCase: CustomTestStringConvertible, Sendable {
    let name: String
    let map: H264.PictureParameterSet.SliceGroups.Map
    let cycle: UInt32
    let groups: [UInt8]
    var count: UInt8 = 2
    var testDescription: String { name }
  }

  // By hand from 8.2.2.1 to 8.2.2.7.
  static let cases = [
    GroupCase(
      name: "interleaved", map: .interleaved(runLengthsMinus1: [1, 0]), cycle: 0, groups: [0, 0, 1, 0, 0, 1, 0, 0, 1]),
    GroupCase(name: "dispersed", map: .dispersed, cycle: 0, groups: [0, 1, 0, 1, 0, 1, 0, 1, 0]),
    GroupCase(
      name: "foreground",
      map: .foreground([
        .init(topLeft: 0, bottomRight: 4), .init(topLeft: 4, bottomRight: 8),
      ]), cycle: 0, groups: [0, 0, 2, 0, 0, 1, 2, 1, 1], count: 3),
    GroupCase(
      name: "box-out", map: .evolving(type: 3, isDirectionReversed: false, changeRateMinus1: 1), cycle: 2,
      groups: [0, 0, 1, 0, 0, 1, 1, 1, 1]),
    GroupCase(
      name: "box-out, reversed", map: .evolving(type: 3, isDirectionReversed: true, changeRateMinus1: 0), cycle: 3,
      groups: [1, 1, 1, 1, 0, 1, 1, 0, 0]),
    GroupCase(
      name: "raster scan", map: .evolving(type: 4, isDirectionReversed: false, changeRateMinus1: 3), cycle: 1,
      groups: [0, 0, 0, 0, 1, 1, 1, 1, 1]),
    GroupCase(
      name: "raster scan, reversed", map: .evolving(type: 4, isDirectionReversed: true, changeRateMinus1: 3), cycle: 1,
      groups: [1, 1, 1, 1, 1, 0, 0, 0, 0]),
    GroupCase(
      name: "wipe", map: .evolving(type: 5, isDirectionReversed: false, changeRateMinus1: 0), cycle: 4,
      groups: [0, 0, 1, 0, 1, 1, 0, 1, 1]),
    GroupCase(
      name: "explicit", map: .explicit([2, 0, 1, 1, 0, 2, 2, 2, 0]), cycle: 0, groups: [2, 0, 1, 1, 0, 2, 2, 2, 0],
      count: 3),
  ]

  @Test(arguments: cases) func readsSliceGroups(_ group: GroupCase) throws {
    var settings = try SliceSettings(width: 3, height: 3)
    settings.pps.sliceGroups = .init(count: group.count, map: group.map)
    settings.sliceGroupChangeCycle = group.cycle
    let sets = try settings.parameterSets()
    var reader = H264.SliceReader()
    var covered: Set<Int> = []
    for number in 0..<group.count {
      let addresses = group.groups.indices.filter { group.groups[$0] == number }
      let slice = RandomSlice(settings, addresses: addresses, seed: UInt64(number))
      var visitor = CollectingVisitor()
      let extent = try reader.read(slice.nalUnits, sets, visitor: &visitor)
      #expect(visitor.macroblocks == slice.macroblocks)
      #expect(extent.endBlock == 9)
      covered.formUnion(visitor.macroblocks.map(\.address))
    }
    #expect(covered.count == 9)
  }

  /// Slices of a picture may refer to several PPSs, if these have the same slice groups.
  @Test func readsSliceGroupsOfSeveralParameterSets() throws {
    var settings = try SliceSettings(width: 3, height: 1)
    var sets = H264.ParameterSets()
    try sets.insert(settings.sps.nalUnit().span)
    let maps: [[UInt8]] = [[0, 1, 0], [0, 1, 0], [0, 1, 1]]
    for (id, map) in maps.enumerated() {
      settings.pps.id = PictureParameterSetID(rawValue: UInt8(id))
      settings.pps.sliceGroups = .init(count: 2, map: .explicit(map))
      try sets.insert(settings.pps.nalUnit().span)
    }
    var reader = H264.SliceReader()
    var reasons: [SliceDamage.Reason?] = []
    for (id, first) in [(0, 0), (1, 1), (2, 2), (2, 2), (1, 2)] as [(UInt8, Int)] {
      settings.pps.id = PictureParameterSetID(rawValue: id)
      var writer = settings.writer(firstMacroblock: first)
      writer.ue(1)
      writer.trailingBits()
      reasons.append(reader.damage(writer.bytes, sets)?.reason)
    }
    #expect(reasons == [nil, nil, .contradiction, .contradiction, nil])
  }
}
