// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

/// Builds slice NAL units for a Main profile SPS with fields, POC type 0, and a PPS with redundant pictures.
struct SliceBuilder {
  var type: UInt8 = 1
  var referenceIDC: UInt8 = 2
  var first: UInt32 = 0
  var sliceType: UInt32 = 7
  var pps: UInt32 = 0
  var frameNumber: UInt32 = 0
  var isField = false
  var isBottom = false
  var idrID: UInt32 = 0
  var lsb: UInt32 = 0
  var redundant: UInt32 = 0

  static func sets() throws -> H264.ParameterSets {
    var sps = try Samples.sps()
    sps.isFrameOnly = false
    sps.log2MaximumFrameNumber = 4
    sps.pictureOrderCountType = .leastSignificantBits(log2Maximum: 6)
    var pps = try H264.PictureParameterSet(bytes: Samples.highPPS)
    pps.isRedundantPictureCountPresent = true
    pps.usesWeightedPrediction = false
    pps.weightedBipredictionIDC = 0
    var sets = H264.ParameterSets()
    try sets.insert(bytes: sps.nalUnit())
    try sets.insert(bytes: pps.nalUnit())
    pps.id = 1
    try sets.insert(bytes: pps.nalUnit())
    return sets
  }

  /// - Parameter tail: what follows `redundant_pic_cnt`.
  func nalUnit(_ tail: (inout BitWriter) -> Void = { _ in }) -> [UInt8] {
    var writer = BitWriter()
    writer.u(8, UInt32(referenceIDC) << 5 | UInt32(type))
    writer.ue(first)
    writer.ue(sliceType)
    writer.ue(pps)
    writer.u(4, frameNumber)
    writer.flag(isField)
    if isField { writer.flag(isBottom) }
    if type == 5 { writer.ue(idrID) }
    writer.u(6, lsb)
    writer.ue(redundant)
    tail(&writer)
    writer.trailingBits()
    return writer.bytes
  }
}

@Suite struct SliceHeaderTests {
  @Test func readsFieldsThatIdentifyThePicture() throws {
    let sets = try SliceBuilder.sets()
    let bytes = SliceBuilder(
      type: 5, referenceIDC: 3, first: 40, sliceType: 2, pps: 1, frameNumber: 9, isField: true, isBottom: true,
      idrID: 65535, lsb: 63, redundant: 5
    ).nalUnit()
    let slice = try H264.SliceHeader(bytes: bytes, sets)
    #expect(slice.isIDR && slice.isReference && slice.isField && slice.isBottomField)
    #expect(slice.firstMacroblock == 40)
    #expect(slice.sliceType == .i && !slice.isTypeOfWholePicture)
    #expect(slice.pictureParameterSetID == 1)
    #expect(slice.frameNumber == 9)
    #expect(slice.idrPictureID == 65535)
    #expect(slice.pictureOrderCountLSB == 63)
    #expect(slice.redundantPictureCount == 5)
    #expect(!slice.resetsPictureOrderCount)
    for end in bytes.indices {
      // Only the last byte may be missing, because the header may end before it.
      if let cut = try? H264.SliceHeader(bytes: Array(bytes[..<end]), sets) {
        #expect(cut.redundantPictureCount == 5)
      }
    }
  }

  @Test func readsReferenceSyntax() throws {
    let sets = try SliceBuilder.sets()
    let bytes = SliceBuilder(sliceType: 1).nalUnit { writer in
      writer.flag(true)
      writer.flag(true)
      writer.ue(3)
      writer.ue(1)
      writer.flag(true)
      for value: UInt32 in [0, 7, 2, 1, 3] { writer.ue(value) }
      writer.flag(false)
      writer.flag(true)
      // MMCOs 1, 3 and 5.
      for value: UInt32 in [1, 4, 3, 2, 6, 5, 0] { writer.ue(value) }
    }
    let (slice, found) = try H264.SliceHeader.withReferences(nalUnit: bytes.span, parameterSets: sets)
    let references = try #require(found)
    #expect(references.usesSpatialDirectPrediction)
    #expect(references.referenceCountList0 == 4 && references.referenceCountList1 == 2)
    #expect(references.modificationsList0.map(\.operation) == [0, 2])
    #expect(references.modificationsList0.map(\.value) == [7, 1])
    #expect(references.modificationsList1.isEmpty)
    #expect(slice.resetsPictureOrderCount)
    guard case .adaptive(let operations) = references.marking else {
      Issue.record("no operations")
      return
    }
    #expect(operations.map(\.code) == [1, 3, 5])
    #expect(operations.map(\.first) == [4, 2, 0])
    #expect(operations.map(\.second) == [0, 6, 0])
  }

  @Test func endlessListModificationsAreErrors() throws {
    let sets = try SliceBuilder.sets()
    let modifications = SliceBuilder(sliceType: 0).nalUnit { writer in
      writer.flag(false)
      writer.flag(true)
      for _ in 0..<200 {
        writer.ue(0)
        writer.ue(0)
      }
    }
    let operations = SliceBuilder(sliceType: 2).nalUnit { writer in
      writer.flag(true)
      for _ in 0..<200 {
        writer.ue(1)
        writer.ue(0)
      }
    }
    for (bytes, element) in [
      (modifications, "modification_of_pic_nums_idc"), (operations, "memory_management_control_operation"),
    ] {
      let error = failure { () throws(BitstreamError) in
        _ = try H264.SliceHeader(bytes: bytes, sets, depth: .referenceMarking)
      }
      #expect(error?.reason == .valueOutOfRange)
      #expect(error?.element.description == element)
    }
  }

  @Test func missingSetsAndBadAddressesAreErrors() throws {
    let sets = try SliceBuilder.sets()
    func reason(_ bytes: [UInt8]) -> BitstreamError.Reason? {
      failure { () throws(BitstreamError) in _ = try H264.SliceHeader(bytes: bytes, sets) }?.reason
    }
    #expect(reason(SliceBuilder(pps: 2).nalUnit()) == .missingParameterSet)
    #expect(reason(SliceBuilder(first: 1 << 20).nalUnit()) == .valueOutOfRange)
    #expect(reason(SliceBuilder(sliceType: 10).nalUnit()) == .valueOutOfRange)
    #expect(reason([]) == .truncated)
    #expect(reason([0x65]) == .truncated)
    #expect(reason([0xE5, 0x88]) == .forbiddenBitSet)
    #expect(reason([0x67, 0x88]) == .wrongNALUnitType)
    // Headers of types 14, 20 and 21 without a byte after them.
    for type: UInt8 in [0x6E, 0x74, 0x75] {
      for length in 1...4 { #expect(reason(Array([type, 0x40, 0, 0].prefix(length))) != nil) }
    }
  }

  @Test func randomSlicesNeverTrap() throws {
    let sets = try SliceBuilder.sets()
    var generator = SeededGenerator(state: 10)
    for _ in 0..<20000 {
      var bytes = (0..<Int.random(in: 1...40, using: &generator)).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
      bytes[0] = [0x61, 0x41, 0x65, 0x01, 0x62, 0x73, 0x74, 0x75].randomElement(using: &generator) ?? 0
      if bytes.count > 1, Bool.random(using: &generator) { bytes[1] |= 0x80 }
      _ = try? H264.SliceHeader(bytes: bytes, sets, depth: .referenceMarking)
    }
  }
}

@Suite struct AccessUnitDetectorTests {
  private typealias Detector = H264.AccessUnitDetector

  /// The boundary of each NAL unit: `|` begins an access unit, `.` does not, `>` belongs to the next NAL unit's.
  private func boundaries(_ units: [[UInt8]], _ sets: H264.ParameterSets) -> String {
    var detector = H264.AccessUnitDetector()
    return units.map { unit in
      switch detector.feed(unit.span, parameterSets: sets).boundary {
      case .begins: "|"
      case .continues: "."
      case .followsNext: ">"
      }
    }.joined()
  }

  @Test func nalUnitsBeforeAPictureBelongToIt() throws {
    let sets = try SliceBuilder.sets()
    let idr = SliceBuilder(type: 5, referenceIDC: 3).nalUnit()
    let next = SliceBuilder(frameNumber: 1, lsb: 2).nalUnit()
    #expect(boundaries([[9, 0xF0], [0x67, 1], [0x68, 1], [6, 1], idr, next], sets) == "|....|")
    #expect(boundaries([idr, [9, 0xF0], [0x67, 1], next], sets) == "||..")
    #expect(boundaries([idr, [12, 1], [10], next], sets) == "|..|")
    #expect(boundaries([idr, [10], [11], next], sets) == "|..|")
    #expect(boundaries([idr, [0x6D, 1], [0x73, 0x80], next], sets) == "|..|")
    for type: UInt8 in [6, 7, 8, 9, 15, 16, 17, 18] { #expect(boundaries([idr, [type, 1]], sets) == "||") }
    for type: UInt8 in [0, 12, 13, 19, 20, 21, 22, 23, 24, 31] { #expect(boundaries([idr, [type, 1]], sets) == "|.") }
  }

  @Test func everyDifferenceOf7_4_1_2_4BeginsAPicture() throws {
    let sets = try SliceBuilder.sets()
    let base = SliceBuilder(first: 10, frameNumber: 3, isField: true, lsb: 8)
    let differences: [(inout SliceBuilder) -> Void] = [
      { $0.frameNumber = 4 }, { $0.pps = 1 }, { $0.isField = false }, { $0.isBottom = true }, { $0.referenceIDC = 0 },
      { $0.lsb = 9 }, { $0.type = 5 },
    ]
    for change in differences {
      var other = base
      change(&other)
      other.first = 0
      #expect(boundaries([base.nalUnit(), other.nalUnit()], sets) == "||")
    }
    var same = base
    same.first = 20
    same.referenceIDC = 1
    same.sliceType = 0
    #expect(boundaries([base.nalUnit(), same.nalUnit()], sets) == "|.")
    let idr = SliceBuilder(type: 5, first: 1, idrID: 1)
    var second = idr
    second.first = 0
    second.idrID = 2
    #expect(boundaries([idr.nalUnit(), second.nalUnit()], sets) == "||")
  }

  @Test func findsPicturesWithoutTheirFirstSlice() throws {
    let sets = try SliceBuilder.sets()
    func slice(_ first: UInt32, _ number: UInt32) -> [UInt8] {
      SliceBuilder(first: first, frameNumber: number, lsb: number * 2).nalUnit()
    }
    // The first slice of picture 1 is lost; picture 2 sends macroblock 0 last.
    #expect(boundaries([slice(0, 0), slice(50, 0), slice(50, 1), slice(50, 2), slice(0, 2)], sets) == "|.||.")
    // Two pictures whose headers agree.
    #expect(boundaries([slice(0, 0), slice(50, 0), slice(0, 0), slice(50, 0)], sets) == "|.|.")
    // Redundant slices repeat macroblock 0.
    let redundant = SliceBuilder(redundant: 1).nalUnit()
    #expect(boundaries([slice(0, 0), redundant, slice(50, 0), redundant, slice(0, 1)], sets) == "|...|")
  }

  /// A damaged or foreign slice inside a picture does not split it.
  @Test func straySlicesStayInThePicture() throws {
    var sets = try SliceBuilder.sets()
    func slice(_ first: UInt32, _ number: UInt32, lsb: UInt32, referenceIDC: UInt8 = 1) -> [UInt8] {
      SliceBuilder(referenceIDC: referenceIDC, first: first, frameNumber: number, lsb: lsb).nalUnit()
    }
    let (first, last, next) = (slice(0, 3, lsb: 6), slice(60, 3, lsb: 6), slice(0, 4, lsb: 8))
    let strays = [
      slice(30, 7, lsb: 6), slice(30, 3, lsb: 7), slice(30, 3, lsb: 6, referenceIDC: 0), slice(30, 12, lsb: 40),
    ]
    for stray in strays { #expect(boundaries([first, stray, last, next], sets) == "|..|") }
    // The first slice is the damaged one.
    #expect(boundaries([slice(0, 11, lsb: 6), slice(30, 3, lsb: 6), last, next], sets) == "|..|")
    // The end of a picture is lost with the beginning of the next.
    #expect(boundaries([first, slice(30, 4, lsb: 8), next], sets) == "||.")
    // A lower macroblock address begins another picture, damaged or not.
    #expect(boundaries([first, last, slice(30, 12, lsb: 40), next], sets) == "|.||")
    // With arbitrary slice order, a picture may begin with any macroblock.
    var sps = try #require(sets.sequenceParameterSet(0))
    sps.profile = H264.Profile(idc: 66, constraintFlags: 0)
    try sets.insert(bytes: sps.nalUnit())
    for stray in strays { #expect(boundaries([first, stray, last, next], sets) == "||||") }
  }

  @Test func prefixesFollowTheirSlice() throws {
    let sets = try SliceBuilder.sets()
    let prefix: [UInt8] = [0x6E, 0x40, 0, 7]
    let first = SliceBuilder().nalUnit()
    let second = SliceBuilder(first: 50).nalUnit()
    let next = SliceBuilder(frameNumber: 1).nalUnit()
    #expect(boundaries([prefix, first, prefix, second, prefix, next], sets) == "|.>.>|")
  }

  @Test func separatesUnreadableSlicesByMacroblock0() {
    let first: [UInt8] = [0x41, 0x9A]
    let other: [UInt8] = [0x41, 0x5A]
    #expect(boundaries([first, other, other, first, other], H264.ParameterSets()) == "|..|.")
    #expect(boundaries([[0x41], first], H264.ParameterSets()) == "||")
  }

  @Test func randomUnitsNeverTrap() throws {
    let sets = try SliceBuilder.sets()
    var generator = SeededGenerator(state: 11)
    var detector = H264.AccessUnitDetector()
    for _ in 0..<20000 {
      let bytes = (0..<Int.random(in: 0...12, using: &generator)).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
      _ = detector.feed(bytes.span, parameterSets: sets)
    }
  }

  /// POC LSBs wrap, and MMCO 5 resets the POC (8.2.1.1).
  @Test func pictureOrderCountsWrap() throws {
    let sets = try SliceBuilder.sets()
    let sps = try #require(sets.sequenceParameterSet(0))
    var counter = H264.PictureOrderCounter()
    var found: [Int32] = []
    for (index, lsb) in [0, 20, 40, 60, 16, 10, 36, 56, 12].enumerated() as EnumeratedSequence<[UInt32]> {
      var builder = SliceBuilder(type: index == 0 ? 5 : 1, sliceType: 2, lsb: lsb)
      if lsb == 10 { builder.referenceIDC = 0 }
      let slice = try H264.SliceHeader(bytes: builder.nalUnit(), sets)
      found.append(counter.next(slice, sps: sps).picture)
    }
    #expect(found == [0, 20, 40, 60, 80, 74, 100, 120, 140])
    let reset = SliceBuilder(sliceType: 2, lsb: 30).nalUnit { writer in
      writer.flag(true)
      writer.ue(5)
      writer.ue(0)
    }
    let slice = try H264.SliceHeader(bytes: reset, sets, depth: .referenceMarking)
    let count = counter.next(slice, sps: sps)
    #expect(count.resetsPOC && count.picture == 0)
    let after = try H264.SliceHeader(bytes: SliceBuilder(sliceType: 2, lsb: 4).nalUnit(), sets)
    #expect(counter.next(after, sps: sps).picture == 4)
  }
}
