// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

/// Access unit delimiters come, go, and allow the slices behind them.
@Suite struct DelimiterEditTests {
  private static let sets = [MinimalStream.sps(), MinimalStream.pps()]

  /// `slice_type` and header of a slice that refers to the minimal parameter sets.
  private static func slice(type: UInt32) -> [UInt8] {
    var writer = BitWriter()
    writer.u(8, 0x41)
    for value in [0, type, 0] { writer.ue(value) }
    writer.u(20, 0x8888)
    writer.trailingBits()
    return writer.bytes
  }

  /// Table 7-5 of H.264: the first type that has all slices.
  @Test(
    arguments: [
      ([2], 0x10), ([7], 0x10), ([0], 0x30), ([2, 0], 0x30), ([1], 0x50), ([6, 7], 0x50), ([4], 0x70), ([3], 0x90),
      ([4, 2], 0xB0), ([3, 0], 0xD0), ([1, 3], 0xF0),
    ] as [([UInt32], UInt8)])
  func delimitersHaveThePictureTypeOfTheSlices(types: [UInt32], last: UInt8) throws {
    let picture = MinimalStream.annexB(Self.sets + types.map(Self.slice))
    var editor = StreamEditor<H264>([.insertDelimiters])
    let edited = try editor.edited(picture)
    #expect(edited == [0, 0, 0, 1, 9, last] + picture)
    #expect(editor.delimiters.inserted == 1 && editor.delimiters.changed == 0)
    // It is right, and stays, as one that allows more does.
    #expect(try editor.edit(edited.span, packaging: .annexB) == nil)
    let any = [0, 0, 1, 9, 0xF0] + picture
    #expect(try editor.edit(any.span, packaging: .annexB) == nil)
    guard types != [2], types != [7] else { return }
    #expect(try editor.edited([0, 0, 0, 1, 9, 0x10] + picture) == edited)
    #expect(editor.delimiters.inserted == 1 && editor.delimiters.changed == 1)
    var removing = StreamEditor<H264>([.removeDelimiters])
    #expect(try removing.edited(edited) == picture)
    #expect(removing.delimiters.removed == 1)
  }

  /// The temporal sub-layer is the picture's (H.265 7.4.2.2); nothing comes in front of what is no picture.
  @Test func insertsAndRemovesDelimitersOfH265() throws {
    let slice = H265Samples.slice(.init(rawValue: 0), temporalID: 2)
    var editor = StreamEditor<H265>([.insertDelimiters])
    // The slice refers to no set, so that it may be of any type.
    #expect(try editor.edited([0, 0, 0, 1] + slice) == [0, 0, 0, 1, 0x46, 3, 0x50, 0, 0, 0, 1] + slice)
    let sets = MinimalStream.annexB([H265Samples.vps, H265Samples.sps, H265Samples.pps])
    #expect(try editor.edit(sets.span, packaging: .annexB) == nil)
    let packaging = NALPackaging.lengthPrefixed(.four)
    let sample = try packaging.packaged([0x46, 3, 0x50]) + packaging.packaged(slice)
    #expect(try editor.edit(sample.span, packaging: packaging) == nil)
    var removing = StreamEditor<H265>([.removeDelimiters])
    #expect(try removing.edit(sample.span, packaging: packaging) == packaging.packaged(slice))
  }
}
