// SPDX-License-Identifier: MPL-2.0

import H26x
import Testing

/// Picture order counts by known values, for each `pic_order_cnt_type` (8.2.1).
@Suite struct PictureOrderCountTests {
  private typealias Cycle = H264.SequenceParameterSet.Cycle
  private typealias Kind = H264.SequenceParameterSet.PictureOrderCountType

  /// The syntax elements of a picture. IDR pictures have `frame_num` 0.
  private struct Picture {
    var number: UInt32 = 0
    var isIDR = false
    var isReference = true
    var isField = false
    var isBottom = false
    var lsb: UInt32 = 0
    /// `delta_pic_order_cnt_bottom`, or `delta_pic_order_cnt[0]` and `[1]`.
    var deltas: [Int32] = []
  }

  /// The POCs of these pictures, with an SPS of this kind.
  private func counts(
    _ kind: Kind, _ pictures: [Picture], hasBottomOrder: Bool = false, numberBits: UInt8 = 4
  ) throws -> [[Int32?]] {
    var sps = try Samples.sps()
    sps.isFrameOnly = false
    sps.log2MaximumFrameNumber = numberBits
    sps.pictureOrderCountType = kind
    var pps = try H264.PictureParameterSet(bytes: Samples.highPPS)
    pps.isBottomFieldPictureOrderPresent = hasBottomOrder
    var sets = H264.ParameterSets()
    try sets.insert(bytes: sps.nalUnit())
    try sets.insert(bytes: pps.nalUnit())
    var counter = H264.PictureOrderCounter()
    return try pictures.map { picture in
      var writer = BitWriter()
      writer.u(8, (picture.isReference ? 0x40 : 0) | (picture.isIDR ? 5 : 1))
      for value: UInt32 in [0, 7, 0] { writer.ue(value) }
      writer.u(Int(numberBits), picture.number)
      writer.flag(picture.isField)
      if picture.isField { writer.flag(picture.isBottom) }
      if picture.isIDR { writer.ue(0) }
      if case .leastSignificantBits(let bits) = kind { writer.u(Int(bits), picture.lsb) }
      for delta in picture.deltas { writer.se(delta) }
      writer.trailingBits()
      let slice = try H264.SliceHeader(bytes: writer.bytes, sets)
      let count = counter.next(slice, sps: sps)
      #expect(count.resetsPOC == picture.isIDR)
      return [count.top, count.bottom, count.picture]
    }
  }

  /// An IDR picture has the POC that it sends, whatever came before (8.2.1.1).
  @Test func anIDRPictureResetsTheCount() throws {
    let pictures = [
      Picture(isIDR: true, lsb: 0), Picture(number: 1, lsb: 12), Picture(number: 2, lsb: 8), Picture(number: 3, lsb: 4),
      Picture(isIDR: true, lsb: 3), Picture(number: 1, lsb: 5),
    ]
    let found = try counts(.leastSignificantBits(log2Maximum: 5), pictures)
    #expect(found.map { $0[2] } == [0, 12, 8, 4, 3, 5])
  }

  /// In a cycle the difference of a single field is added, whichever field it is (8.2.1.2).
  @Test func countsSingleFieldsOfACycle() throws {
    let cycle = Cycle(
      isDeltaAlwaysZero: false, offsetForNonReferencePicture: -2, offsetForTopToBottomField: 1,
      offsetsForReferenceFrames: [6])
    let pictures = [
      Picture(isIDR: true, isField: true, deltas: [5]), Picture(isField: true, isBottom: true, deltas: [7]),
      Picture(number: 1, isField: true, deltas: [-3]), Picture(number: 1, isField: true, isBottom: true, deltas: [-4]),
    ]
    let found = try counts(.cycle(cycle), pictures)
    #expect(found == [[5, nil, 5], [nil, 8, 8], [3, nil, 3], [nil, 3, 3]])
  }

  @Test func bottomFieldsHaveTheirOwnDifference() throws {
    let pictures = [
      Picture(isIDR: true, lsb: 4, deltas: [-3]), Picture(number: 1, lsb: 8, deltas: [2]),
      Picture(number: 2, isField: true, lsb: 10), Picture(number: 2, isField: true, isBottom: true, lsb: 11),
    ]
    let found = try counts(.leastSignificantBits(log2Maximum: 6), pictures, hasBottomOrder: true)
    #expect(found == [[4, 1, 1], [8, 10, 8], [10, nil, 10], [nil, 11, 11]])
  }

  /// A cycle of two expected differences (8.2.1.2).
  @Test func countsFramesOfACycle() throws {
    let cycle = Cycle(
      isDeltaAlwaysZero: false, offsetForNonReferencePicture: -1, offsetForTopToBottomField: 1,
      offsetsForReferenceFrames: [2, 4])
    let pictures = [
      Picture(isIDR: true, deltas: [0]), Picture(number: 1, deltas: [0]), Picture(number: 2, deltas: [3]),
      Picture(number: 3, deltas: [0]), Picture(number: 4, isReference: false, deltas: [0]),
      Picture(number: 4, isField: true, deltas: [0]), Picture(number: 4, isField: true, isBottom: true, deltas: [0]),
    ]
    let found = try counts(.cycle(cycle), pictures)
    #expect(found.map { $0[0] } == [0, 2, 9, 8, 7, 12, nil])
    #expect(found.map { $0[1] } == [1, 3, 10, 9, 8, nil, 13])
  }

  @Test func secondDifferenceAppliesToTheBottomField() throws {
    let cycle = Cycle(
      isDeltaAlwaysZero: false, offsetForNonReferencePicture: 0, offsetForTopToBottomField: 1,
      offsetsForReferenceFrames: [2])
    let found = try counts(
      .cycle(cycle), [Picture(isIDR: true, deltas: [1, -5]), Picture(number: 1, deltas: [0, 4])], hasBottomOrder: true)
    #expect(found == [[1, -3, -3], [2, 7, 2]])
  }

  /// `frame_num` wraps (8.2.1.2), and a cycle of length 0 adds nothing.
  @Test func frameNumbersWrap() throws {
    let cycle = Cycle(
      isDeltaAlwaysZero: true, offsetForNonReferencePicture: 0, offsetForTopToBottomField: 0,
      offsetsForReferenceFrames: [2])
    let pictures = [Picture(isIDR: true), Picture(number: 15), Picture(number: 0), Picture(number: 2)]
    #expect(try counts(.cycle(cycle), pictures).map { $0[2] } == [0, 30, 32, 36])
    let empty = Cycle(
      isDeltaAlwaysZero: true, offsetForNonReferencePicture: -4, offsetForTopToBottomField: 0,
      offsetsForReferenceFrames: [])
    let few = [Picture(isIDR: true), Picture(number: 9), Picture(number: 10, isReference: false)]
    #expect(try counts(.cycle(empty), few).map { $0[2] } == [0, 0, -4])
  }

  /// The stream begins in the middle: as if the picture before had a count and a number of 0.
  @Test func countsFromZeroWithoutAnIDRPicture() throws {
    for (lsb, expected) in [(31, 31), (32, 32), (33, -31), (63, -1)] as [(UInt32, Int32)] {
      let found = try counts(.leastSignificantBits(log2Maximum: 6), [Picture(lsb: lsb), Picture(lsb: 0)])
      #expect(found.map { $0[2] } == [expected, expected == 32 ? 64 : 0])
    }
    #expect(try counts(.decodingOrder, [Picture(number: 0), Picture(number: 15)]).map { $0[2] } == [0, 30])
  }

  /// The low bits go half of their range forward or back from one picture to the next (8.2.1.1).
  @Test(arguments: [(20, 51, 51), (20, 52, 52), (20, 53, -11), (40, 9, -55), (40, 8, 8), (40, 7, 7)])
  func lowBitsMoveAtMostHalfTheirRange(_ first: UInt32, _ second: UInt32, _ expected: Int32) throws {
    let pictures = [Picture(isIDR: true, lsb: first), Picture(number: 1, lsb: second)]
    #expect(try counts(.leastSignificantBits(log2Maximum: 6), pictures)[1][2] == expected)
    // From what is no reference, nothing is counted.
    let between = [pictures[0], Picture(number: 1, isReference: false, lsb: second ^ 32), pictures[1]]
    #expect(try counts(.leastSignificantBits(log2Maximum: 6), between)[2][2] == expected)
  }

  /// `frame_num` of any length wraps.
  @Test(arguments: [4, 5, 9, 16] as [UInt8]) func frameNumbersOfAnyLengthWrap(_ bits: UInt8) throws {
    let last = (UInt32(1) << UInt32(bits)) - 1
    let cycle = Cycle(
      isDeltaAlwaysZero: true, offsetForNonReferencePicture: 0, offsetForTopToBottomField: 0,
      offsetsForReferenceFrames: [2])
    let pictures = [
      Picture(isIDR: true), Picture(number: last), Picture(number: 0), Picture(number: 1), Picture(number: last),
      Picture(number: 3),
    ]
    let size = Int32(last) + 1
    let expected = [0, size - 1, size, size + 1, 2 * size - 1, 2 * size + 3].map { $0 * 2 }
    #expect(try counts(.cycle(cycle), pictures, numberBits: bits).map { $0[2] } == expected)
    #expect(try counts(.decodingOrder, pictures, numberBits: bits).map { $0[2] } == expected)
  }

  /// Output in decoding order (8.2.1.3): both fields of a frame have the same count.
  @Test func countsInDecodingOrder() throws {
    let pictures = [
      Picture(isIDR: true), Picture(number: 1), Picture(number: 2, isReference: false),
      Picture(number: 2, isField: true), Picture(number: 2, isField: true, isBottom: true),
      Picture(number: 15), Picture(number: 0), Picture(number: 1, isReference: false),
    ]
    let found = try counts(.decodingOrder, pictures)
    #expect(found.map { $0[2] } == [0, 2, 3, 4, 4, 30, 32, 33])
    #expect(found[3] == [4, nil, 4] && found[4] == [nil, 4, 4])
  }

  /// 3.30 and 3.31: what the second field of a frame may be.
  @Test func recognizesComplementaryFields() throws {
    let sets = try SliceBuilder.sets()
    func isSecond(_ second: SliceBuilder, of first: SliceBuilder) throws -> Bool {
      H264.isSecondField(
        try H264.SliceHeader(bytes: second.nalUnit(), sets), of: try H264.SliceHeader(bytes: first.nalUnit(), sets))
    }
    for isBottom in [false, true] {
      let first = SliceBuilder(frameNumber: 3, isField: true, isBottom: isBottom)
      let second = SliceBuilder(frameNumber: 3, isField: true, isBottom: !isBottom)
      #expect(try isSecond(second, of: first))
      #expect(try !isSecond(first, of: first) && !isSecond(SliceBuilder(frameNumber: 3), of: first))
      #expect(try !isSecond(second, of: SliceBuilder(frameNumber: 3)))
      var other = second
      other.frameNumber = 4
      #expect(try !isSecond(other, of: first))
      other = second
      other.type = 5
      #expect(try !isSecond(other, of: first))
      // A field that nothing refers to may follow a reference, not the other way round.
      var (unused, unusedFirst) = (second, first)
      (unused.referenceIDC, unusedFirst.referenceIDC) = (0, 0)
      #expect(try isSecond(unused, of: first) && !isSecond(second, of: unusedFirst))
      #expect(try isSecond(unused, of: unusedFirst))
      var idr = first
      idr.type = 5
      idr.frameNumber = 0
      other = second
      other.frameNumber = 0
      #expect(try isSecond(other, of: idr))
    }
  }

  /// Pairing of fields for timestamps.
  @Test func readerPairsFields() throws {
    var sps = try Samples.sps()
    sps.isFrameOnly = false
    sps.log2MaximumFrameNumber = 4
    sps.pictureOrderCountType = .leastSignificantBits(log2Maximum: 6)
    let sets = try SliceBuilder.sets()
    var reader = H264.PictureReader()
    let top = SliceBuilder(type: 5, sliceType: 2, isField: true)
    let bottom = SliceBuilder(sliceType: 0, isField: true, isBottom: true, lsb: 1)
    let frame = SliceBuilder(sliceType: 0, frameNumber: 1, lsb: 4)
    let found = try [top, bottom, frame].map {
      reader.picture(try H264.SliceHeader(bytes: $0.nalUnit(), sets), sps)
    }
    #expect(found.map(\.order) == [0, 1, 4])
    #expect(found.map(\.resetsPOC) == [true, false, false])
    #expect(found.map(\.isField) == [true, true, false])
    #expect(found.map(\.isSecondField) == [false, true, false])
  }
}
