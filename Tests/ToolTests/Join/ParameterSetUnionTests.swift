// SPDX-License-Identifier: MPL-2.0
import AVFormat
import H26x
import TestSupport
import Testing

@testable import Containers

/// Ids of the parameter sets of streams that are joined.
@Suite struct ParameterSetUnionTests {
  private typealias Union = ParameterSetUnion<H264>

  private static func stream(_ id: UInt32, width: UInt32, pps: [UInt32]) -> [[UInt8]] {
    [MinimalStream.sps(id: id, widthInMacroblocks: width)] + pps.map { MinimalStream.pps(id: $0, sps: id) }
  }

  private static func name(_ kind: ParameterSetName.Kind, _ id: UInt8) -> ParameterSetName { .init(kind, id) }

  @Test func sharesEqualSets() throws {
    var union = Union()
    let sets = Self.stream(0, width: 2, pps: [0, 1])
    _ = try union.add(sets)
    let again = try union.add(Array(sets.reversed()) + sets)
    #expect(again.shared == [Self.name(.sequence, 0), Self.name(.picture, 0), Self.name(.picture, 1)])
    #expect(again.added.isEmpty && again.renumbered.isEmpty && again.identifiers == ParameterSetIdentifiers())
    #expect(union.nalUnits == sets)
  }

  @Test func givesCollidingSetsFreeIDs() throws {
    var union = Union()
    _ = try union.add(Self.stream(0, width: 2, pps: [0]))
    let other = Self.stream(0, width: 3, pps: [0, 1])
    let addition = try union.add(other)
    // Id 1 is a PPS of the stream itself, which keeps it.
    #expect(addition.renumbered == [Self.name(.sequence, 0), Self.name(.picture, 0)])
    #expect(addition.added == [Self.name(.picture, 1)] && addition.shared.isEmpty)
    #expect(addition.identifiers[Self.name(.sequence, 0)] == 1 && addition.identifiers[Self.name(.picture, 0)] == 2)
    #expect(
      union.nalUnits == [
        MinimalStream.sps(id: 0, widthInMacroblocks: 2), MinimalStream.sps(id: 1, widthInMacroblocks: 3),
        MinimalStream.pps(id: 0, sps: 0), MinimalStream.pps(id: 1, sps: 1), MinimalStream.pps(id: 2, sps: 1),
      ])
    // The same stream again shares the sets. Its PPS are equal but for their ids.
    let again = try union.add(other)
    #expect(again.added.isEmpty && again.shared.count == 3)
    #expect(union.nalUnits.count == 5)
  }

  /// A PPS of an SPS that is shared under another id.
  @Test func sharesSetsUnderOtherIDs() throws {
    var union = Union()
    _ = try union.add(Self.stream(0, width: 3, pps: [0]))
    let free = try union.add(Self.stream(3, width: 2, pps: [7]))
    #expect(free.added.count == 2 && free.identifiers == ParameterSetIdentifiers())
    let addition = try union.add(Self.stream(0, width: 2, pps: [0]))
    #expect(addition.shared.count == 2 && addition.renumbered.count == 2)
    #expect(addition.identifiers[Self.name(.sequence, 0)] == 3 && addition.identifiers[Self.name(.picture, 0)] == 7)
    #expect(union.nalUnits.count == 4)
  }

  @Test func givesCollidingSetsOfH265FreeIDs() throws {
    var union = ParameterSetUnion<H265>()
    let (first, second) = (SmallH265Sequence(), SmallH265Sequence(isWide: true))
    _ = try union.add([SmallH265Sequence.vps, first.sps, first.pps])
    let addition = try union.add([SmallH265Sequence.vps, second.sps, second.pps])
    #expect(addition.shared == [Self.name(.video, 0)])
    #expect(addition.renumbered == [Self.name(.sequence, 0), Self.name(.picture, 0)])
    let moved = SmallH265Sequence(id: 1, isWide: true)
    #expect(union.nalUnits == [SmallH265Sequence.vps, first.sps, moved.sps, first.pps, moved.pps])
  }

  @Test func leavesTheUnionAsItWasWithoutFreeIDs() throws {
    var union = Union()
    for width in UInt32(1)...32 { _ = try union.add([MinimalStream.sps(id: 0, widthInMacroblocks: width)]) }
    let before = union.nalUnits
    #expect(before.count == 32)
    #expect(throws: Union.Obstacle.idsExhausted) { try union.add(Self.stream(0, width: 40, pps: [0])) }
    #expect(throws: Union.Obstacle.idsExhausted) {
      try union.add([MinimalStream.pps(id: 0, sps: 0), MinimalStream.sps(id: 31, widthInMacroblocks: 50)])
    }
    #expect(union.nalUnits == before)
  }

  @Test func refusesStreamsThatReplaceSets() throws {
    var union = Union()
    #expect(throws: Union.Obstacle.changes) {
      try union.add(Self.stream(0, width: 2, pps: [0]) + Self.stream(0, width: 3, pps: []))
    }
    for damaged in [[], [0x67], [0x68], [0x65, 0x80]] as [[UInt8]] {
      #expect(throws: Union.Obstacle.unreadable) { try union.add([damaged]) }
    }
    #expect(union.nalUnits.isEmpty)
  }

  /// A record covers all streams: the highest level, and only constraints that all have.
  @Test func describesAllStreams() throws {
    var (low, high) = (MinimalStream.sps(), MinimalStream.sps(id: 1))
    (low[1], low[2], low[3]) = (66, 0xC0, 20)
    (high[1], high[2], high[3]) = (77, 0x40, 31)
    var records: [H264.DecoderConfigurationRecord] = []
    for sps in [low, high] {
      records.append(
        try H264.DecoderConfigurationRecord(
          sequenceParameterSets: [sps], pictureParameterSets: [], nalLengthSize: .two))
    }
    let record = try H264.record(joining: records, [low, high, MinimalStream.pps()])
    #expect(record.profile == H264.Profile(idc: 77, constraintFlags: 0x40) && record.levelIDC == 31)
    #expect(record.nalLengthSize == .four && record.nalUnits == [low, high, MinimalStream.pps()])
  }

  /// The second of two IDR pictures in a row, which has the same `idr_pic_id` and discards the picture in front of it.
  @Test func separatesIDRPictures() throws {
    let format = MediaOutput.VideoFormat(codec: .h264)
    var role = AccessUnitRole()
    role.start = .closed
    let sets = [MinimalStream.sps(), MinimalStream.pps()]
    let accessUnit = MediaOutput.AccessUnit(
      bytes: MinimalStream.annexB(sets + [MinimalStream.slice(isIDR: true)]), presentation: 0, decoding: 0, duration: 1,
      isKeyframe: true, role: role)
    var next = accessUnit
    format.follow(&next, accessUnit, format, isFirst: true, hasStartCodes: true)
    let bytes = next.bytes
    var store = H264.ParameterSets()
    for nalUnit in sets { try store.insert(nalUnit.span) }
    let range = try #require(NALPackaging.annexB.nalUnits(of: bytes.span).last)
    let header = try H264.WholeSliceHeader(nalUnit: bytes.span.extracting(range), parameterSets: store)
    #expect(header.header.idrPictureID == .max)
    #expect(header.references?.marking == .idr(noOutputOfPriorPictures: false, isLongTerm: false))
    // The rest is as it was.
    #expect(NALPackaging.annexB.nalUnits(of: bytes.span).dropLast().map { Array(bytes[$0]) } == sets)
    // Only a picture whose number changes may need another change behind it.
    #expect(next.isRenumbered && !accessUnit.isRenumbered)
    let last = next
    format.follow(&next, accessUnit, format, isFirst: false, hasStartCodes: true)
    #expect(next.bytes == last.bytes)
    format.follow(&next, last, format, isFirst: false, hasStartCodes: true)
    let place = try #require(NALPackaging.annexB.nalUnits(of: next.bytes.span).last)
    #expect(
      try H264.SliceHeader(nalUnit: next.bytes.span.extracting(place), parameterSets: store).idrPictureID == .max - 1)
  }

  @Test func findsTicksForSeveralClocks() {
    func ticks(_ timescales: Int32...) -> Int32? { JoinedDescription.timeBase(timescales)?.denominator }
    #expect(ticks() == nil && ticks(0) == nil && ticks(90_000, 90_000) == 90_000)
    #expect(ticks(12_800, 30_000) == 960_000 && ticks(1000, 12_800) == 64_000)
    #expect(ticks(12_800, 90_000) == 2_880_000 && ticks(.max, .max - 1, 24) == .max)
  }
}
