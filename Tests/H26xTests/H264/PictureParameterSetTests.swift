// SPDX-License-Identifier: MPL-2.0
import H26x
import TestSupport
import Testing

@Suite struct PictureParameterSetTests {
  @Test func readsAnEncodersSet() throws {
    let pps = try H264.PictureParameterSet(bytes: Samples.highPPS)
    #expect(pps.usesCABAC)
    #expect(pps.high?.uses8x8Transform == true)
    #expect(pps.weightedBipredictionIDC == 2)
    #expect(pps.hasProperEnd)
    #expect(pps.nalUnit() == Samples.highPPS)
  }

  @Test func sliceGroupsComeBack() throws {
    typealias Groups = H264.PictureParameterSet.SliceGroups
    let maps: [(UInt8, Groups.Map)] = [
      (8, .interleaved(runLengthsMinus1: [0, 1, 2, 3, 4, 5, 6, 98])), (2, .dispersed),
      (3, .evolving(type: 3, isDirectionReversed: true, changeRateMinus1: 12)),
      (2, .evolving(type: 5, isDirectionReversed: false, changeRateMinus1: 0)),
      (5, .explicit((0..<99).map { UInt8($0 % 5) })), (2, .explicit((0..<33).map { UInt8($0 % 2) })),
    ]
    for (index, (count, map)) in maps.enumerated() {
      var pps = try H264.PictureParameterSet(bytes: Samples.highPPS)
      pps.id = 255
      pps.sequenceParameterSetID = 31
      pps.sliceGroups = try groups(count, map)
      let bytes = pps.nalUnit()
      let back = try H264.PictureParameterSet(bytes: bytes)
      #expect(back == pps)
      #expect(back.nalUnit() == bytes)
      try expectRecorded("H.264 PPS \(index)") { trace throws(BitstreamError) in
        _ = try H264.PictureParameterSet(nalUnit: bytes.span, chromaFormat: .yuv420, trace: trace)
      }
      try expectLegalValues("H.264 PPS \(index)", bytes) { bytes, trace throws(BitstreamError) in
        try H264.PictureParameterSet(nalUnit: bytes.span, chromaFormat: .yuv420, trace: trace).nalUnit()
      }
      for end in bytes.indices {
        // Without its last bytes the PPS may be a legal one without High profile elements, but never have more.
        if let part = try? H264.PictureParameterSet(bytes: Array(bytes[0..<end])) {
          #expect(!(part == pps))
        }
      }
    }
  }

  /// Slice groups read from bytes, because they have no public initialiser.
  private func groups(
    _ count: UInt8, _ map: H264.PictureParameterSet.SliceGroups.Map
  ) throws -> H264.PictureParameterSet.SliceGroups {
    var writer = BitWriter()
    writer.u(8, 0x68)
    writer.ue(0)
    writer.ue(0)
    writer.u(2, 0)
    writer.ue(1)
    writer.ue(1)
    for value: UInt32 in [0, 0] { writer.ue(value) }
    writer.u(3, 0)
    for _ in 0..<3 { writer.se(0) }
    writer.u(3, 0)
    writer.trailingBits()
    let base = try H264.PictureParameterSet(bytes: writer.bytes)
    var groups = try #require(base.sliceGroups)
    groups.count = count
    groups.map = map
    return groups
  }

  @Test func absurdSizesAllocateNothing() {
    var writer = BitWriter()
    writer.u(8, 0x68)
    writer.ue(0)
    writer.ue(0)
    writer.u(2, 0)
    writer.ue(7)
    writer.ue(6)
    writer.ue(4096 * 4096 - 1)
    writer.trailingBits()
    let bytes = writer.bytes
    do {
      _ = try H264.PictureParameterSet(bytes: bytes)
      Issue.record("sixteen million map units in \(bytes.count) bytes")
    } catch {
      #expect(error.reason == .truncated)
      #expect(error.element.description == "slice_group_id")
    }
  }

  @Test func chromaFormatDecidesTheCountOfScalingLists() throws {
    var pps = try H264.PictureParameterSet(bytes: Samples.highPPS)
    pps.high?.scalingLists = [H264.ScalingList](repeating: .standard, count: 12)
    let bytes = pps.nalUnit()
    #expect(try H264.PictureParameterSet(bytes: bytes, chromaFormat: .yuv444) == pps)
    // Read as 4:2:0 there are eight lists, and bits after them.
    let other = try? H264.PictureParameterSet(bytes: bytes, chromaFormat: .yuv420)
    #expect(other == nil || other?.hasProperEnd == false)
  }
}
