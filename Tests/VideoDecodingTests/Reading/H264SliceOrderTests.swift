// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x
import TestSupport
import Testing

@testable import VideoDecoding

/// Slices that come twice or out of order.
@Suite struct H264SliceOrderTests {
  /// A slice, as much of it as is read before decoding.
  struct Slice {
    var first: UInt32
    var colourPlane: UInt32?
    /// In a stream of fields: whether it is one of a bottom field; nil for a frame.
    var isBottom: Bool?
    var redundantPictureCount: UInt32?
    var frameNumber: UInt32 = 0
    /// Bytes behind the header.
    var data: UInt32 = 0xABCD

    var nalUnit: [UInt8] {
      var writer = BitWriter()
      writer.u(8, 0x41)
      writer.ue(first)
      writer.ue(7)
      writer.ue(0)
      if let colourPlane { writer.u(2, colourPlane) }
      writer.u(4, frameNumber)
      if let isBottom { writer.u(2, isBottom ? 3 : 2) }
      if let redundantPictureCount { writer.ue(redundantPictureCount) }
      writer.flag(false)
      writer.se(0)
      writer.u(16, data)
      writer.trailingBits()
      return writer.bytes
    }
  }

  /// Reads slices with these parameter sets. Returns the positions of withheld slices, and whether the picture is
  /// damaged.
  private func read(
    _ slices: [Slice],
    _ change: (inout H264.SequenceParameterSet, inout H264.PictureParameterSet) throws -> Void = { _, _ in }
  ) throws -> (withheld: [Int], isDamaged: Bool) {
    var sps = try H264.SequenceParameterSet(nalUnit: MinimalStream.sps(widthInMacroblocks: 4).span)
    var pps = try H264.PictureParameterSet(nalUnit: MinimalStream.pps().span, chromaFormat: .yuv420)
    try change(&sps, &pps)
    var sets = H264.ParameterSets()
    for nalUnit in [sps.nalUnit(), pps.nalUnit()] { _ = try sets.insert(nalUnit.span) }
    let nalUnits = slices.map(\.nalUnit)
    let order = H264SliceOrder(MinimalStream.annexB(nalUnits).span, .annexB, sets)
    let offsets = nalUnits.indices.map { MinimalStream.annexB(Array(nalUnits[..<$0])).count + 4 }
    #expect(order.withheld.allSatisfy { $0.byte == 12 })
    return (order.withheld.compactMap { patch in offsets.firstIndex(of: patch.offset) }, order.isDamaged)
  }

  /// The same bytes twice do no harm when the second ones are withheld; the order must be that of the macroblocks.
  @Test(
    arguments: [
      ([0, 1, 2], [], false), ([0, 0], [1], false), ([0, 1, 1, 2], [2], false), ([0, 1, 2, 1], [3], false),
      ([0, 1, 0, 1], [2, 3], false), ([0, 2, 1], [], true), ([1, 0], [1], true), ([1, 0, 0], [1, 2], true),
    ] as [([UInt32], [Int], Bool)])
  func checksSlicesOfAFrame(_ first: [UInt32], _ withheld: [Int], _ isDamaged: Bool) throws {
    let found = try read(first.map { Slice(first: $0) })
    #expect(found.withheld == withheld && found.isDamaged == isDamaged)
  }

  /// Which of two slices with other bytes is right cannot be known.
  @Test func differentSlicesForTheSamePlaceAreDamage() throws {
    let found = try read([Slice(first: 0), Slice(first: 1), Slice(first: 1, data: 0xABCF), Slice(first: 2)])
    #expect(found.withheld == [2] && found.isDamaged)
  }

  /// Baseline's slices come in any order, each once. One at macroblock 0 behind others libavcodec takes for another
  /// picture's.
  @Test(
    arguments: [([0, 3, 2, 1], [], false), ([0, 3, 1, 3], [3], false), ([2, 0, 1], [1], true)]
      as [([UInt32], [Int], Bool)])
  func acceptsArbitraryOrderInBaseline(_ first: [UInt32], _ withheld: [Int], _ isDamaged: Bool) throws {
    let found = try read(first.map { Slice(first: $0) }) { sps, _ in
      sps.profile = H264.Profile(idc: 66, constraintFlags: 0x80)
    }
    #expect(found.withheld == withheld && found.isDamaged == isDamaged)
  }

  /// Slice groups allow it in every profile.
  @Test func acceptsArbitraryOrderInSliceGroups() throws {
    let found = try read([0, 5, 2, 5].map { Slice(first: $0) }) { sps, pps in
      sps.profile = H264.Profile(idc: 88, constraintFlags: 0)
      // Two slice groups, dispersed.
      var writer = BitWriter()
      writer.u(8, 0x68)
      writer.ue(0)
      writer.ue(0)
      writer.u(2, 0)
      for value: UInt32 in [1, 1, 0, 0] { writer.ue(value) }
      writer.u(3, 0)
      for _ in 0..<3 { writer.se(0) }
      writer.u(3, 0)
      writer.trailingBits()
      pps = try H264.PictureParameterSet(nalUnit: writer.bytes.span, chromaFormat: .yuv420)
    }
    #expect(found.withheld == [3] && !found.isDamaged)
  }

  /// An access unit of an MP4 file has both fields of a frame.
  @Test func checksSlicesOfEachField() throws {
    let places: [(UInt32, Bool)] = [(0, false), (1, false), (0, true), (1, true), (1, true)]
    let found = try read(places.map { Slice(first: $0, isBottom: $1) }) { sps, _ in sps.isFrameOnly = false }
    #expect(found.withheld == [4] && !found.isDamaged)
  }

  @Test func checksSlicesOfEachColourPlane() throws {
    let places: [(UInt32, UInt32)] = [(0, 0), (0, 1), (0, 2), (2, 0), (2, 1), (2, 1), (2, 2)]
    let found = try read(places.map { Slice(first: $0, colourPlane: $1) }) { sps, _ in
      sps.profile = H264.Profile(idc: 244, constraintFlags: 0)
      sps.chromaFormat = .yuv444
      sps.hasSeparateColourPlanes = true
    }
    #expect(found.withheld == [5] && !found.isDamaged)
  }

  /// Redundant slices repeat others by right, and may come in any number.
  @Test func redundantSlicesAreNotRepetitions() throws {
    let counts: [(UInt32, UInt32)] = [(0, 0), (0, 1), (1, 0), (1, 1), (1, 1)]
    let found = try read(counts.map { Slice(first: $0, redundantPictureCount: $1) }) { _, pps in
      pps.isRedundantPictureCountPresent = true
    }
    #expect(found.withheld == [] && !found.isDamaged)
  }

  /// Slices that strayed in from another picture are not compared with this picture's.
  @Test func ignoresSlicesOfOtherPictures() throws {
    let found = try read([Slice(first: 0), Slice(first: 1), Slice(first: 1, frameNumber: 1), Slice(first: 2)])
    #expect(found.withheld == [] && !found.isDamaged)
  }
}
