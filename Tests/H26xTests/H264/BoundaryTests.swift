// SPDX-License-Identifier: MPL-2.0

import Testing

@testable import H26x

/// Pictures of which the first slices were lost: what is taken for the next picture, and what for damage (7.4.1.2.4).
@Suite struct LostSliceTests {
  private typealias Slice = SliceBuilder

  /// The boundary of each slice: `[` begins an access unit, `.` continues it.
  private func boundaries(_ slices: [Slice]) throws -> String {
    let sets = try SliceBuilder.sets()
    var detector = H264.AccessUnitDetector()
    return slices.map { slice in
      let bytes = slice.nalUnit()
      let boundary = detector.feed(bytes.span, parameterSets: sets).boundary
      return boundary == .begins ? "[" : "."
    }.joined()
  }

  /// A slice further on in the picture is the next picture's where its `frame_num` and POC may be the next ones.
  @Test func findsTheNextPictureWithoutItsFirstSlice() throws {
    let first = Slice(first: 10, frameNumber: 3, lsb: 8)
    let rows: [(number: UInt32, lsb: UInt32, reference: UInt8, begins: Bool)] = [
      (4, 10, 2, true), (4, 10, 0, true), (5, 10, 2, false), (3, 10, 2, false), (4, 8, 2, false), (0, 10, 2, true),
      (2, 10, 2, false),
    ]
    for row in rows {
      let next = Slice(referenceIDC: row.reference, first: 20, frameNumber: row.number, lsb: row.lsb)
      #expect(try boundaries([first, next]) == (row.begins ? "[[" : "[."), "\(row)")
      // Going back in macroblocks, any difference is another picture's.
      var back = next
      back.first = 9
      #expect(try boundaries([first, back]) == "[[", "\(row)")
    }
    // After a picture that nothing refers to, the number is the same.
    let unused = Slice(referenceIDC: 0, first: 10, frameNumber: 3, lsb: 8)
    for (number, lsb, reference, begins) in [(3, 10, 2, true), (4, 10, 2, false), (3, 10, 0, false), (3, 8, 2, false)]
      as [(UInt32, UInt32, UInt8, Bool)]
    {
      let next = Slice(referenceIDC: reference, first: 20, frameNumber: number, lsb: lsb)
      #expect(try boundaries([unused, next]) == (begins ? "[[" : "[."), "\(number) \(lsb) \(reference)")
    }
  }

  @Test func eachFieldBeginsAnAccessUnit() throws {
    let top = Slice(first: 10, frameNumber: 3, isField: true, lsb: 8)
    let bottom = Slice(first: 20, frameNumber: 3, isField: true, isBottom: true, lsb: 9)
    #expect(try boundaries([top, bottom]) == "[[" && boundaries([top, bottom, bottom]) == "[[.")
    var frame = bottom
    frame.isField = false
    #expect(try boundaries([top, frame]) == "[." && boundaries([frame, bottom]) == "[[")
  }

  /// After an unreadable slice the first readable one identifies the picture.
  @Test func readableSlicesIdentifyThePictureAfterUnreadableOnes() throws {
    let unreadable = Slice(pps: 9)
    let middle = Slice(first: 20, frameNumber: 3, lsb: 8)
    #expect(try boundaries([unreadable, middle, Slice(first: 10, frameNumber: 4, lsb: 10)]) == "[.[")
    #expect(try boundaries([unreadable, middle, Slice(first: 30, frameNumber: 3, lsb: 8)]) == "[..")
    #expect(try boundaries([unreadable, unreadable, middle]) == "[[.")
    #expect(try boundaries([unreadable, Slice(frameNumber: 3, lsb: 8)]) == "[[")
  }

  /// Slices and sequences by the syntax of each codec.
  @Test func describesSlicesAndSequencesOfEachCodec() throws {
    let sets = try SliceBuilder.sets()
    for (type, reference, mayReset) in [(1, 2, true), (1, 0, false), (5, 2, false)] as [(UInt8, UInt8, Bool)] {
      let slice = try H264.SliceHeader(
        bytes: Slice(type: type, referenceIDC: reference, sliceType: 2).nalUnit(), sets)
      #expect(slice.mayResetPOC == mayReset && slice.temporalID == 0)
    }
    let leading = (UInt8(0)..<64).filter { H265.NALUnitType(rawValue: $0).mayHaveLeadingPictures }
    #expect(leading == [16, 17, 19, 21, 22, 23])
    var sps = try Samples.sps()
    #expect(sps.usualOrderStep == 2 && H265Samples.plainSPS().usualOrderStep == 1)
    #expect(sps.hasVUI && !H265Samples.plainSPS().hasVUI && !sps.forbidsBFrames && !sps.followsDecodingOrder)
    let reordering = sps.vui
    sps.vui?.bitstreamRestriction?.maximumReorderFrames = 0
    #expect(sps.followsDecodingOrder)
    sps.vui = nil
    #expect(!sps.hasVUI && !sps.followsDecodingOrder)
    sps.vui = reordering
    for (idc, flags, forbids) in [
      (66, 0x40, true), (66, 0, false), (77, 0x40, false), (100, 0x10, true), (100, 0, false), (44, 0, true),
    ] as [(UInt8, UInt8, Bool)] {
      sps.profile = H264.Profile(idc: idc, constraintFlags: flags)
      #expect(sps.forbidsBFrames == forbids && sps.followsDecodingOrder == forbids)
    }
  }

  @Test func readsEveryKindOfSliceGroups() throws {
    typealias Groups = H264.PictureParameterSet.SliceGroups
    let rectangles = [Groups.Rectangle(topLeft: 1, bottomRight: 12), .init(topLeft: 5, bottomRight: 78)]
    for (count, map) in [
      (3, .foreground(rectangles)), (2, .dispersed),
      (2, .evolving(type: 3, isDirectionReversed: true, changeRateMinus1: 1)),
      (2, .evolving(type: 4, isDirectionReversed: false, changeRateMinus1: 2)),
      (2, .evolving(type: 5, isDirectionReversed: true, changeRateMinus1: 3)),
      (2, .interleaved(runLengthsMinus1: [4, 5])),
      (5, .explicit([0, 1, 2, 3, 4])), (3, .explicit([2, 1, 0])), (2, .explicit([1])),
    ] as [(UInt8, Groups.Map)] {
      var pps = try H264.PictureParameterSet(bytes: Samples.highPPS)
      pps.sliceGroups = Groups(count: count, map: map)
      #expect(try H264.PictureParameterSet(bytes: pps.nalUnit()) == pps)
    }
  }
}
