// SPDX-License-Identifier: MPL-2.0

import H26x
import TestSupport
import Testing

/// Decoding begins at an intra picture: later pictures that may refer to pictures before it are not right.
@Suite struct ReferenceAvailabilityTests {
  /// A stream that begins with an intra picture of frame number 3.
  private struct Stream {
    var availability = H264.ReferenceAvailability()
    let sets: H264.ParameterSets

    init(maximumReferenceFrames: UInt8 = 4) throws {
      var sets = try SliceBuilder.sets()
      var sps = try Samples.sps()
      sps.isFrameOnly = false
      sps.log2MaximumFrameNumber = 4
      sps.pictureOrderCountType = .leastSignificantBits(log2Maximum: 6)
      sps.maximumReferenceFrames = maximumReferenceFrames
      try sets.insert(bytes: sps.nalUnit())
      self.sets = sets
      let isWhole = add(SliceBuilder(frameNumber: 3, lsb: 6)) { $0.flag(false) }
      #expect(isWhole)
    }

    mutating func add(
      _ slice: SliceBuilder, isSecondField: Bool = false, _ tail: (inout BitWriter) -> Void
    ) -> Bool {
      let unit = [0, 0, 1] + slice.nalUnit(tail)
      return availability.next(unit.span, packaging: .annexB, isSecondField: isSecondField, parameterSets: sets)
    }

    /// A P picture with this number of reference list entries.
    mutating func p(
      _ number: UInt32, _ count: UInt32, isReference: Bool = true, modifications: [UInt32] = [],
      operations: [UInt32] = []
    ) -> Bool {
      add(SliceBuilder(referenceIDC: isReference ? 2 : 0, sliceType: 5, frameNumber: number, lsb: number * 2)) {
        $0.flag(true)
        $0.ue(count - 1)
        $0.flag(!modifications.isEmpty)
        for value in modifications { $0.ue(value) }
        guard isReference else { return }
        $0.flag(!operations.isEmpty)
        for value in operations { $0.ue(value) }
      }
    }

    /// A B picture that nothing refers to, shown at `lsb`.
    mutating func b(_ number: UInt32, lsb: UInt32, _ count0: UInt32, _ count1: UInt32) -> Bool {
      add(SliceBuilder(referenceIDC: 0, sliceType: 6, frameNumber: number, lsb: lsb)) {
        $0.flag(true)
        $0.flag(true)
        $0.ue(count0 - 1)
        $0.ue(count1 - 1)
        $0.flag(false)
        $0.flag(false)
      }
    }
  }

  @Test func boundsListsByTheAvailableBits() throws {
    var stream = try Stream()
    #expect(stream.p(4, 2, isReference: false) == false)
    #expect(stream.p(4, 1) == true)
    #expect(stream.p(5, 2) == true)
    #expect(stream.p(6, 4, isReference: false) == false)
    #expect(stream.p(6, 3) == true)
    // Four pictures since the start have replaced all earlier ones.
    #expect(stream.p(7, 16, isReference: false) == true)
  }

  @Test func picturesThatReferToMissingOnesAreMissing() throws {
    var stream = try Stream()
    #expect(stream.p(4, 1) == true)
    #expect(stream.p(5, 3) == false)
    #expect(stream.p(6, 1) == false)
    #expect(stream.p(7, 1) == false)
    // The buffer is full, but not all pictures are right.
    #expect(stream.p(8, 1, isReference: false) == false)
    // An intra picture refers to none of them; the next picture refers to it.
    #expect(stream.add(SliceBuilder(frameNumber: 8, lsb: 16)) { $0.flag(false) } == true)
    #expect(stream.p(9, 1) == true)
    #expect(stream.p(10, 3, isReference: false) == false)
  }

  @Test func followsListModifications() throws {
    var stream = try Stream(maximumReferenceFrames: 8)
    #expect(stream.p(4, 1) == true)
    // One picture back, then one more; then three back, which is before the start.
    #expect(stream.p(5, 2, isReference: false, modifications: [0, 0, 0, 0, 3]) == true)
    #expect(stream.p(5, 1, isReference: false, modifications: [0, 1, 3]) == true)
    #expect(stream.p(5, 1, isReference: false, modifications: [0, 2, 3]) == false)
    // Two pictures back and one forward.
    #expect(stream.p(5, 2, isReference: false, modifications: [0, 1, 1, 0, 3]) == true)
    // The rest of the list is that of the initial list.
    #expect(stream.p(5, 3, isReference: false, modifications: [0, 1, 3]) == false)
    // Long-term pictures may be from before the start.
    #expect(stream.p(5, 1, isReference: false, modifications: [2, 0, 3]) == false)
  }

  /// Lists that the modifications fill hold nothing else: pictures that are not whole do not matter.
  @Test func modificationsMayFillTheWholeList() throws {
    var stream = try Stream(maximumReferenceFrames: 8)
    #expect(stream.p(4, 1) == true)
    #expect(stream.p(5, 4) == false)
    #expect(stream.p(6, 1, isReference: false) == false)
    #expect(stream.p(6, 1, isReference: false, modifications: [0, 1, 3]) == true)
    #expect(stream.p(6, 1, isReference: false, modifications: [0, 0, 3]) == false)
    #expect(stream.p(6, 2, isReference: false, modifications: [0, 1, 3]) == false)
    for (list0, list1, expected) in [
      ([0, 1, 3], [0, 2, 3], true), ([0, 1, 3], [], false), ([], [0, 2, 3], false), ([0, 1, 3], [0, 0, 3], false),
    ] as [([UInt32], [UInt32], Bool)] {
      let slice = SliceBuilder(referenceIDC: 0, sliceType: 6, frameNumber: 6, lsb: 12)
      let isWhole = stream.add(slice) { writer in
        writer.flag(true)
        writer.flag(true)
        writer.ue(0)
        writer.ue(0)
        for list in [list0, list1] {
          writer.flag(!list.isEmpty)
          for value in list { writer.ue(value) }
        }
      }
      #expect(isWhole == expected, "\(list0) \(list1)")
    }
  }

  @Test func followsFrameNumbersThatWrap() throws {
    var stream = try Stream(maximumReferenceFrames: 16)
    for number in 4...15 { #expect(stream.p(UInt32(number), 1) == true) }
    #expect(stream.p(0, 1) == true)
    #expect(stream.p(1, 1, isReference: false, modifications: [0, 0, 3]) == true)
    #expect(stream.p(1, 1, isReference: false, modifications: [0, 1, 3]) == true)
    #expect(stream.p(1, 1, isReference: false, modifications: [0, 13, 3]) == true)
    #expect(stream.p(1, 1, isReference: false, modifications: [0, 14, 3]) == false)
  }

  @Test func checksBothListsOfBSlices() throws {
    var stream = try Stream(maximumReferenceFrames: 8)
    #expect(stream.p(5, 1) == true)
    // Between the two pictures; before the first there is no earlier picture.
    #expect(stream.b(6, lsb: 8, 1, 1) == true)
    #expect(stream.b(6, lsb: 8, 2, 1) == false)
    #expect(stream.b(6, lsb: 8, 1, 2) == true)
    #expect(stream.b(6, lsb: 8, 1, 3) == false)
    #expect(stream.b(6, lsb: 4, 1, 1) == false)
  }

  @Test func memoryManagementRemovesPictures() throws {
    var stream = try Stream(maximumReferenceFrames: 8)
    #expect(stream.p(4, 1) == true)
    #expect(stream.p(5, 2) == true)
    // Of 3, 4 and 5, 4 is unmarked.
    #expect(stream.p(6, 3, operations: [1, 1, 0]) == true)
    #expect(stream.p(7, 1, isReference: false, modifications: [0, 2, 3]) == false)
    #expect(stream.p(7, 1, isReference: false, modifications: [0, 3, 3]) == true)
    #expect(stream.p(7, 3, isReference: false) == true)
    #expect(stream.p(7, 4, isReference: false) == false)
    // MMCO 5 leaves only the picture itself, with frame_num 0.
    #expect(stream.p(7, 1, operations: [5, 0]) == true)
    #expect(stream.p(1, 1, isReference: false, modifications: [0, 0, 3]) == true)
    #expect(stream.p(1, 2, isReference: false) == false)
    // A long-term picture is not trusted.
    #expect(stream.p(1, 1, operations: [6, 0, 0]) == true)
    #expect(stream.p(2, 2, isReference: false) == false)
  }

  @Test func followsReferencesOfFields() throws {
    var stream = try Stream()
    func field(_ number: UInt32, isBottom: Bool, _ count: UInt32, _ stream: inout Stream) -> Bool {
      let slice = SliceBuilder(
        sliceType: 5, frameNumber: number, isField: true, isBottom: isBottom, lsb: number * 2 + (isBottom ? 1 : 0))
      return stream.add(slice, isSecondField: isBottom) {
        $0.flag(true)
        $0.ue(count - 1)
        $0.flag(false)
        $0.flag(false)
      }
    }
    // The intra frame has two fields, and the second field of a frame may refer to the first.
    var other = stream
    #expect(field(4, isBottom: false, 3, &other) == false)
    #expect(field(4, isBottom: false, 2, &stream) == true)
    other = stream
    #expect(field(4, isBottom: true, 4, &other) == false)
    #expect(field(4, isBottom: true, 3, &stream) == true)
    other = stream
    #expect(field(5, isBottom: false, 5, &other) == false)
    #expect(field(5, isBottom: false, 4, &stream) == true)
  }

  /// A field's operations count fields: 2 × frame_num − difference_of_pic_nums_minus1 (8.2.5.4.1).
  @Test(arguments: [(0, 5), (1, 4), (2, 4), (3, 3), (4, 3)] as [(UInt32, UInt32)]) func memoryManagementRemovesFields(
    distance: UInt32, gone: UInt32
  ) throws {
    var stream = try Stream(maximumReferenceFrames: 8)
    #expect(stream.p(4, 1) == true)
    #expect(stream.p(5, 1) == true)
    let slice = SliceBuilder(sliceType: 5, frameNumber: 5 + 1, isField: true, isBottom: false, lsb: 12)
    _ = stream.add(slice) {
      $0.flag(true)
      $0.ue(0)
      $0.flag(false)
      $0.flag(true)
      for value in [1, distance + 2, 0] { $0.ue(value) }
    }
    for number in UInt32(3)...5 {
      var other = stream
      let isThere = other.p(7, 1, isReference: false, modifications: [0, 7 - number - 1, 3])
      #expect(isThere == (number != gone), "\(number)")
    }
  }

  @Test func unreadableSlicesAreIncomplete() throws {
    var stream = try Stream()
    let isWhole = stream.add(SliceBuilder(sliceType: 5, pps: 9, frameNumber: 4)) { _ in }
    #expect(!isWhole)
    let empty: [UInt8] = [0, 0, 1]
    let isEmptyWhole = stream.availability.next(
      empty.span, packaging: .annexB, isSecondField: false, parameterSets: stream.sets)
    #expect(!isEmptyWhole)
    // A slice of one byte behind a good one.
    let header = SliceBuilder(frameNumber: 4, lsb: 8).nalUnit { $0.flag(false) }
    for (tail, expected) in [([], true), ([0, 0, 0, 0], true), ([0, 0, 0, 1, 0x41], false)] as [([UInt8], Bool)] {
      var other = stream
      let packet = MinimalStream.prefixed([header]) + tail
      let isWhole = other.availability.next(
        packet.span, packaging: .lengthPrefixed(.four), isSecondField: false, parameterSets: stream.sets)
      #expect(isWhole == expected)
    }
  }
}
