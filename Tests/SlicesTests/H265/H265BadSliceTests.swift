// SPDX-License-Identifier: MPL-2.0

import H26x
import Testing

@testable import Slices

@Suite struct H265BadSliceTests {
  private func read(
    _ writer: H265SliceWriter, _ slices: [H265SliceWriter.Slice], change: (inout [UInt8]) -> Void = { _ in }
  ) throws -> (extents: [SliceExtent], damage: [SliceDamage]) {
    let sets = try writer.parameterSets()
    var reader = H265.SliceReader()
    var result: (extents: [SliceExtent], damage: [SliceDamage]) = ([], [])
    for slice in slices {
      var bytes = writer.nalUnit(slice)
      change(&bytes)
      do throws(SliceDamage) {
        result.extents.append(try reader.verify(bytes.span, parameterSets: sets))
      } catch {
        result.damage.append(error)
      }
    }
    return result
  }

  private func expect(
    _ damage: [SliceDamage], _ reason: SliceDamage.Reason, _ element: String, block: Int?,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(damage.count == 1, sourceLocation: sourceLocation)
    guard let first = damage.first else { return }
    #expect(first.reason == reason, sourceLocation: sourceLocation)
    #expect(first.element.description == element, sourceLocation: sourceLocation)
    #expect(first.block == block, sourceLocation: sourceLocation)
  }

  @Test func readsSoundSlices() throws {
    let writer = H265SliceWriter(width: 64, height: 32)
    let result = try read(writer, [.init(count: 3), .init(address: 3, count: 5)])
    #expect(result.damage.isEmpty)
    #expect(result.extents.map(\.blockCount) == [3, 5] && result.extents.map(\.endBlock) == [3, 8])
    #expect(result.extents.allSatisfy { $0.notes == [] })
  }

  @Test func readsSlicesInAnyOrder() throws {
    let writer = H265SliceWriter(width: 64, height: 32)
    let sets = try writer.parameterSets()
    var reader = H265.SliceReader()
    let first = writer.nalUnit(.init(count: 3))
    let second = writer.nalUnit(.init(address: 3, count: 5))
    reader.beginPicture()
    try reader.verify(second.span, parameterSets: sets)
    try reader.verify(first.span, parameterSets: sets)
  }

  @Test func findsDataBehindTheLastBlock() throws {
    let writer = H265SliceWriter(width: 64, height: 32)
    let damage = try read(writer, [.init(count: 8)], change: { $0 += [1, 2] }).damage
    expect(damage, .surplusData, "end_of_slice_segment_flag", block: 7)
  }

  @Test func acceptsZeroWords() throws {
    let writer = H265SliceWriter(width: 64, height: 32)
    let result = try read(writer, [.init(count: 8)], change: { $0 += [0, 0, 3, 0, 0, 3] })
    #expect(result.extents.first?.notes == [.zeroWords] && result.damage.isEmpty)
  }

  @Test func findsCutSlices() throws {
    var writer = H265SliceWriter(width: 64, height: 32)
    writer.pps.codingUnitQPDepth = 0
    var deltas: [Int: Int] = [:]
    for index in 0..<8 { deltas[index] = index % 2 == 0 ? 20 : -20 }
    let slice = H265SliceWriter.Slice(count: 8, qpDeltas: deltas, level: 30_000)
    let whole = writer.nalUnit(slice).count
    for count in 1..<whole {
      let result = try read(writer, [slice], change: { $0.removeLast(whole - count) })
      #expect(result.damage.count == 1, "\(count) of \(whole) bytes")
    }
  }

  @Test func findsBlocksBehindThePicture() throws {
    let writer = H265SliceWriter(width: 64, height: 32)
    let damage = try read(writer, [.init(count: 9)]).damage
    expect(damage, .beyondPicture, "end_of_slice_segment_flag", block: 7)
  }

  @Test func findsBlocksCodedTwice() throws {
    let writer = H265SliceWriter(width: 64, height: 32)
    let damage = try read(writer, [.init(count: 4), .init(address: 2, count: 6)]).damage
    expect(damage, .codedTwice, "slice_segment_address", block: 2)
  }

  @Test func findsDependentSegmentsWithoutTheirSlice() throws {
    var writer = H265SliceWriter(width: 64, height: 32)
    writer.pps.allowsDependentSlices = true
    let damage = try read(
      writer, [.init(count: 2), .init(address: 3, count: 5, isDependent: true)]
    ).damage
    expect(damage, .contradiction, "slice_segment_address", block: 3)
  }

  @Test func findsParameterSetsThatChangeInAPicture() throws {
    var writer = H265SliceWriter(width: 64, height: 32)
    let sets = try writer.parameterSets()
    var reader = H265.SliceReader()
    let first = writer.nalUnit(.init(count: 3))
    try reader.verify(first.span, parameterSets: sets)
    writer.pps.tiles = .init(columnCount: 2, rowCount: 1)
    let changed = try writer.parameterSets()
    let second = writer.nalUnit(.init(address: 3, count: 2, entryPoints: []))
    var damage: [SliceDamage] = []
    do throws(SliceDamage) { try reader.verify(second.span, parameterSets: changed) } catch { damage = [error] }
    expect(damage, .contradiction, "slice_pic_parameter_set_id", block: 3)
  }

  @Test func readsTilesUpToTheirLimit() throws {
    var writer = H265SliceWriter(width: 320, height: 352)
    writer.pps.tiles = .init(columnCount: 20, rowCount: 22)
    let result = try read(writer, [.init(count: 440)])
    #expect(result.damage.isEmpty && result.extents.map(\.blockCount) == [440])
  }

  @Test(arguments: [[1, 2], [0, 0], [100, 50], [], [3, 3, 3, 3]] as [[UInt32]])
  func findsWrongEntryPoints(_ points: [UInt32]) throws {
    var writer = H265SliceWriter(width: 64, height: 48)
    writer.pps.tiles = .init(columnCount: 1, rowCount: 3)
    let damage = try read(writer, [.init(count: 12, entryPoints: points)]).damage
    #expect(damage.count == 1 && damage.first?.reason == .wrongEntryPoint)
  }

  @Test func findsWavefrontsWithoutTheirEnd() throws {
    var writer = H265SliceWriter(width: 16, height: 64)
    writer.pps.usesWavefronts = true
    let sound = try read(writer, [.init(count: 4)])
    #expect(sound.damage.isEmpty)
    let damage = try read(writer, [.init(count: 4, entryPoints: [1, 1, 1], missingSubsetBit: 0)]).damage
    expect(damage, .illegalCode, "end_of_subset_one_bit", block: 1)
  }

  @Test func findsCoefficientsOutOfRange() throws {
    let writer = H265SliceWriter(width: 64, height: 32)
    #expect(try read(writer, [.init(count: 8, qpDeltas: [3: 0], level: 32_768)]).damage.isEmpty)
    for level in [32_769, 1 << 20, 1 << 32] {
      let damage = try read(writer, [.init(count: 8, qpDeltas: [3: 0], level: level)]).damage
      expect(
        damage, level > 1 << 26 ? .illegalCode : .valueOutOfRange, "coeff_abs_level_remaining", block: 3)
    }
  }

  @Test func findsQPDifferencesOutOfRange() throws {
    var writer = H265SliceWriter(width: 64, height: 32)
    writer.pps.codingUnitQPDepth = 0
    #expect(try read(writer, [.init(count: 8, qpDeltas: [1: 25, 3: -26])]).damage.isEmpty)
    for delta in [26, -27, 1000] {
      let damage = try read(writer, [.init(count: 8, qpDeltas: [5: delta])]).damage
      expect(damage, delta == 1000 ? .illegalCode : .valueOutOfRange, "cu_qp_delta_abs", block: 5)
    }
  }

  @Test func readsUncompressedUnits() throws {
    var writer = H265SliceWriter(width: 64, height: 32)
    writer.sps.pcm = .init(
      lumaBitDepth: 8, chromaBitDepth: 8, log2MinimumBlockSize: 3, log2BlockSizeRange: 1, disablesLoopFilter: false)
    let result = try read(writer, [.init(count: 8, pcm: [0, 2, 3])])
    #expect(result.damage.isEmpty && result.extents.map(\.blockCount) == [8])
    // A bit in front of the samples.
    let damage = try read(writer, [.init(count: 8, pcm: [0])]) { bytes in
      guard let zeros = bytes.indices.dropFirst(4).dropLast().first(where: { bytes[$0] == 0 && bytes[$0 + 1] == 0 })
      else { return }
      bytes[zeros - 1] |= 1
    }.damage
    expect(damage, .badAlignment, "pcm_alignment_zero_bit", block: 0)
  }

  @Test func findsHeadersThatCannotBeRead() throws {
    let writer = H265SliceWriter(width: 64, height: 32)
    for bytes in [[0x28], [0x28, 1], [0x28, 1, 0x80], []] as [[UInt8]] {
      let damage = try read(writer, [.init(count: 1)], change: { $0 = bytes }).damage
      #expect(damage.count == 1 && damage.first?.reason == .header && damage.first?.block == nil)
    }
  }
}
