// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

@Suite struct H265VectorTests {
  /// Stock drops pictures without parameter sets; the detector finds them all the same.
  @Test(.enabled(if: Vectors.isAvailable), arguments: Vectors.rows(codec: "hevc", container: "annexb"))
  func accessUnitsMatchTheManifest(_ row: Vectors.Row) throws {
    let stream = try Vectors.bytes(row.file)
    var sets = H265.ParameterSets()
    var detector = H265.AccessUnitDetector()
    var counter = H265.PictureOrderCounter()
    var accessUnits = 0
    var epochs: [[Int32]] = [[]]
    for unit in nalUnits(stream) {
      let type = H265.NALUnitType(headerByte: unit[0])
      if type.isParameterSet {
        try sets.insert(bytes: unit)
        try comesBack(unit, type, row.file)
      }
      if type == .endOfSequence || type == .endOfStream { counter.endSequence() }
      let (boundary, slice) = detector.feed(unit.span, parameterSets: sets)
      guard let slice else { continue }
      guard slice.isFirstInPicture else { continue }
      #expect(boundary == .begins || detector.hasPrimaryPicture)
      accessUnits += 1
      let sps = try #require(sets.sequenceParameterSet(slice.sequenceParameterSetID))
      let order = counter.next(slice, sps: sps)
      if order.resetsPOC { epochs.append([]) }
      epochs[epochs.count - 1].append(order.picture)
      _ = try H265.WholeSliceHeader(nalUnit: unit.span, parameterSets: sets)
      #expect(sps.cropRectangle.width == row.width && sps.cropRectangle.height == row.height || accessUnits > 1)
    }
    #expect(accessUnits == row.accessUnits)
    for epoch in epochs { #expect(Set(epoch).count == epoch.count, "two pictures of one count in \(row.file)") }
  }

  /// The reorder depth is at most that of the SPS.
  @Test(.enabled(if: Vectors.isAvailable), arguments: Vectors.rows(codec: "hevc", container: "annexb"))
  func reorderDepthIsAtMostTheSentOne(_ row: Vectors.Row) throws {
    let stream = try Vectors.bytes(row.file)
    var sets = H265.ParameterSets()
    var counter = H265.PictureOrderCounter()
    var before: [Int32] = []
    for unit in nalUnits(stream) {
      if H265.NALUnitType(headerByte: unit[0]).isParameterSet { try sets.insert(bytes: unit) }
      guard let slice = try? H265.SliceSegmentHeader(bytes: unit, sets), slice.isFirstInPicture,
        let sps = sets.sequenceParameterSet(slice.sequenceParameterSetID)
      else { continue }
      let order = counter.next(slice, sps: sps)
      if order.resetsPOC { before = [] }
      #expect(before.count { $0 > order.picture } <= sps.maximumReorderPictures)
      before.append(order.picture)
    }
  }

  /// Expects a parameter set to be the same after reading and writing.
  private func comesBack(_ unit: [UInt8], _ type: H265.NALUnitType, _ file: String) throws {
    switch type {
    case .videoParameterSet:
      let set = try H265.VideoParameterSet(bytes: unit)
      #expect(set.hasProperEnd, "VPS of \(file)")
      #expect(try H265.VideoParameterSet(bytes: set.nalUnit()) == set)
    case .sequenceParameterSet:
      let set = try H265.SequenceParameterSet(bytes: unit)
      #expect(set.hasProperEnd, "SPS of \(file)")
      #expect(try H265.SequenceParameterSet(bytes: set.nalUnit()) == set)
    default:
      let set = try H265.PictureParameterSet(bytes: unit)
      #expect(set.hasProperEnd, "PPS of \(file)")
      #expect(set.nalUnit() == unit, "PPS of \(file)")
    }
  }
}
