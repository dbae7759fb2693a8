// SPDX-License-Identifier: MPL-2.0
import Testing

@testable import H26x

/// Reference pictures that are present, by reference picture sets.
@Suite struct H265ReferencePicturesTests {
  private let sets: H265.ParameterSets
  private let sps: H265.SequenceParameterSet

  init() throws {
    sps = H265Samples.plainSPS()
    sets = try H265Samples.store(sps)
  }

  /// A picture that refers to pictures at these POC distances, and keeps other ones.
  private func next(
    _ pictures: inout H265.ReferencePictures, _ type: H265.NALUnitType, _ count: UInt32, _ used: [Int32] = [],
    keeps kept: [Int32] = [], number: UInt64
  ) throws -> H265.ReferencePictures.Use {
    var writer = BitWriter()
    H265.NALUnitHeader(type: type).write(to: &writer)
    writer.flag(true)
    if type.isIRAP { writer.flag(false) }
    writer.ue(0)
    writer.ue(1)
    if !type.isIDR {
      writer.u(8, count & 255)
      writer.flag(false)
      var set = H265.ShortTermReferencePictureSet()
      let all = used.map { ($0, true) } + kept.map { ($0, false) }
      set = H265.ShortTermReferencePictureSet(
        before: all.filter { $0.0 < 0 }.sorted { $0.0 > $1.0 }.map { .init(delta: $0.0, isUsed: $0.1) },
        after: all.filter { $0.0 > 0 }.sorted { $0.0 < $1.0 }.map { .init(delta: $0.0, isUsed: $0.1) })
      set.write(to: &writer, index: 0, isInSlice: true)
    }
    writer.u(32, 0xFFFF_FFFF)
    writer.trailingBits()
    let bytes = writer.bytes
    let (header, syntax) = try H265.SliceSegmentHeader.withReferences(nalUnit: bytes.span, parameterSets: sets)
    return pictures.next(header, try #require(syntax), sps: sps, number: number)
  }

  @Test func findsPicturesByTheirDistance() throws {
    var pictures = H265.ReferencePictures()
    #expect(try next(&pictures, .idrWithoutLeading, 0, number: 10).order.resetsPOC)
    let forward = try next(&pictures, .trailingR, 4, [-4], number: 11)
    #expect(forward.references == [10] && forward.missing == [] && forward.order.picture == 4)
    let between = try next(&pictures, .trailingN, 2, [-2, 2], number: 12)
    #expect(between.references == [10, 11] && pictures.numbers == [10, 11, 12])
    // 12 is not in the set and is removed; 10 is kept.
    let behind = try next(&pictures, .trailingR, 8, [-4], keeps: [-8], number: 13)
    #expect(behind.references == [11] && pictures.numbers == [11, 10, 13])
  }

  @Test func reportsLostPictures() throws {
    var pictures = H265.ReferencePictures()
    _ = try next(&pictures, .idrWithoutLeading, 0, number: 0)
    let use = try next(&pictures, .trailingR, 2, [-1], keeps: [-2], number: 2)
    #expect(use.references == [] && use.missing == [1])
    // A picture that is only to be kept is not missing.
    let later = try next(&pictures, .trailingR, 3, [-1], keeps: [-2], number: 3)
    #expect(later.references == [2] && later.missing == [])
    pictures.remove(3)
    #expect(try next(&pictures, .trailingR, 4, [-1], number: 4).missing == [3])
  }

  @Test func aPictureThatComesTwiceIsTakenOnce() throws {
    var pictures = H265.ReferencePictures()
    _ = try next(&pictures, .idrWithoutLeading, 0, number: 0)
    #expect(try !next(&pictures, .trailingR, 1, [-1], number: 1).isRepeated)
    #expect(try next(&pictures, .trailingR, 1, [-1], number: 2).isRepeated)
    #expect(try next(&pictures, .trailingR, 2, [-1], number: 3).references == [1])
  }

  /// RASL pictures are skipped where the CRA picture begins a sequence: at the start and after an end of sequence.
  @Test func skipsLeadingPicturesOfAStart() throws {
    var pictures = H265.ReferencePictures()
    #expect(try next(&pictures, .cra, 16, number: 0).order.resetsPOC)
    let rasl = try next(&pictures, .raslR, 14, [-2, 2], number: 1)
    #expect(rasl.order.isSkipped && pictures.numbers == [0])
    let radl = try next(&pictures, .radlN, 15, [1], number: 2)
    #expect(!radl.order.isSkipped && radl.references == [0])
    #expect(try next(&pictures, .trailingR, 20, [-4], number: 3).references == [0])
    // In the middle of a sequence they decode.
    #expect(try !next(&pictures, .cra, 32, keeps: [-12], number: 4).order.resetsPOC)
    let decodable = try next(&pictures, .raslR, 30, [-10, 2], number: 5)
    #expect(!decodable.order.isSkipped && decodable.references == [3, 4])
    pictures.endSequence()
    #expect(try next(&pictures, .cra, 48, keeps: [-16], number: 6).order.resetsPOC)
    #expect(try next(&pictures, .raslN, 47, [-1, 1], number: 7).order.isSkipped && pictures.numbers == [6])
    // A BLA picture empties the buffer, whatever its set names.
    #expect(try next(&pictures, .blaWithLeading, 60, [-12], number: 8).references == [])
    #expect(try next(&pictures, .raslR, 58, [-10, 2], number: 9).order.isSkipped)
    #expect(pictures.numbers == [8])
  }
}
