// SPDX-License-Identifier: MPL-2.0

import TestSupport
import Testing

@testable import H26x

/// How far the pictures of a sequence are read before the first of them goes out.
@Suite struct PictureLookAheadTests {
  /// A slice of a picture: its type and POC.
  private typealias Slice = (type: H265.NALUnitType, order: Int)

  /// An SPS that allows two pictures to be reordered, or as many as given, and a PPS.
  private func sets(reorder: UInt8 = 2) throws -> H265.ParameterSets {
    var sps = H265Samples.plainSPS()
    sps.buffering = [.init(maximumDecodedPictures: 5, maximumReorderPictures: reorder)]
    return try H265Samples.store(sps)
  }

  private func bytes(_ slices: [Slice]) -> [UInt8] {
    MinimalStream.annexB(
      slices.map { H265Samples.slice($0.type, count: UInt32(truncatingIfNeeded: $0.order & 0xFF)) })
  }

  /// The POCs of the pictures that are read when all of these slices follow the first one, and how many slices had to
  /// be there.
  private func read(
    after first: H265.NALUnitType = .idrWithRADL, at order: UInt32 = 0, _ slices: [Slice], reorder: UInt8 = 2,
    endsWithLeadingPictures: Bool = false, mayWait: Bool = false
  ) throws -> (orders: [Int32], needed: Int?) {
    let sets = try sets(reorder: reorder)
    let sps = try #require(sets.sequenceParameterSet(0))
    var reader = H265.PictureReader()
    let picture = reader.picture(try H265.SliceSegmentHeader(bytes: H265Samples.slice(first, count: order), sets), sps)
    func lookAhead() -> PictureLookAhead<H265> {
      var lookAhead = PictureLookAhead<H265>(
        picture, of: sps, reader: reader, parameterSets: sets, from: 0, mayWait: mayWait)
      if endsWithLeadingPictures { lookAhead.endWithLeadingPictures() }
      return lookAhead
    }
    let needed = (0...slices.count).first { count in
      // The next start code is there.
      let stream = bytes(Array(slices.prefix(count))) + [0, 0, 1]
      var lookAhead = lookAhead()
      return lookAhead.advance(stream.span, isComplete: false)
    }
    var all = lookAhead()
    let stream = bytes(slices)
    same(all.advance(stream.span, isComplete: true), true)
    return (all.pictures.map(\.order), needed)
  }

  private func pictures(_ orders: [Int]) -> [Slice] { orders.map { (.trailingR, $0) } }

  /// Twice no picture is missing between those before and one that is shown after all of them.
  @Test(
    arguments: [
      ([1, 2, 3, 4, 5, 6, 7], 2), ([2, 1, 4, 3, 6, 5, 8], 3), ([3, 1, 2, 6, 4, 5, 7], 4), ([4, 2, 8, 6, 12, 10], 3),
    ]) func readsTwoWholeGroups(_ orders: [Int], _ needed: Int) throws
  {
    let found = try read(pictures(orders))
    #expect(found.orders == [0] + orders.prefix(needed).map(Int32.init) && found.needed == needed)
  }

  /// The stream begins with an open GOP: its POCs are counted from the least.
  @Test func groupsMayBeginWithAnyCount() throws {
    let found = try read(after: .cra, at: 100, pictures([103, 106, 109, 112]))
    #expect(found.orders == [100, 103, 106] && found.needed == 2)
    let leading = try read(after: .cra, at: 100, [(.raslN, 98), (.raslN, 99)] + pictures([101, 102, 103, 104]))
    #expect(leading.orders == [100, 98, 99, 101, 102] && leading.needed == 4)
  }

  /// A picture is missing all the time: as many as the reorder depth explains.
  @Test(arguments: [(UInt8(1), 3), (2, 5), (3, 7)]) func readsAtMostTheReorderDepth(
    _ reorder: UInt8, _ needed: Int
  ) throws {
    let orders = [6, 4, 12, 10, 18, 16, 24, 22, 30]
    let found = try read(pictures(orders), reorder: reorder)
    #expect(found.orders == [0] + orders.prefix(needed).map(Int32.init) && found.needed == needed)
  }

  @Test func readsNothingAheadWithoutReordering() throws {
    let found = try read(pictures([1, 2, 3]), reorder: 0)
    #expect(found.orders == [0] && found.needed == 0)
  }

  /// The stream may reorder all the same. Groups that are whole do not show that it does not.
  @Test(arguments: [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [1, 4, 2, 3, 8, 6, 5, 7, 9, 10]])
  func verifiesThatNothingIsReorderedIfThereIsTime(_ orders: [Int]) throws {
    let found = try read(pictures(orders), reorder: 0, mayWait: true)
    #expect(found.orders == [0] + orders.prefix(9).map(Int32.init) && found.needed == 9)
    let deeper = try read(pictures(orders), reorder: 2, mayWait: true)
    #expect(deeper.needed == 2)
  }

  /// The next sequence ends it, and its first picture is the last one.
  @Test func endsAtTheNextSequence() throws {
    let found = try read(pictures([6, 4]) + [(.idrWithRADL, 0)] + pictures([6, 4]))
    #expect(found.orders == [0, 6, 4, 0] && found.needed == 3)
  }

  @Test func endsWithTheStream() throws {
    let found = try read(pictures([6, 4]))
    #expect(found.orders == [0, 6, 4] && found.needed == nil)
  }

  /// Leading pictures are all that is asked for, and more than the reorder depth explains are read.
  @Test func readsUpToTheFirstTrailingPicture() throws {
    let leading = [-2, -16, -14, -12, -10, -8, -6, -4].map { (type: H265.NALUnitType.radlN, order: $0) }
    let found = try read(leading + pictures([1, 2, 3]), endsWithLeadingPictures: true)
    #expect(found.orders == [0] + leading.map { Int32($0.order) } && found.needed == leading.count + 1)
    let reset = try read(Array(leading.prefix(1)) + [(.idrWithRADL, 0)], endsWithLeadingPictures: true)
    #expect(reset.orders == [0, -2] && reset.needed == 2)
  }

  /// In the middle of a stream, a random access point waits for its leading pictures and for no more.
  @Test func randomAccessPointsWaitForTheirLeadingPictures() throws {
    let sets = try sets()
    var timeline = H265.Timeline()
    func read(_ type: H265.NALUnitType, before slices: [Slice], isContinued: Bool = false) throws -> Bool {
      let slice = try H265.SliceSegmentHeader(bytes: H265Samples.slice(type), sets)
      let stream = bytes(slices) + [0, 0, 0, 1]
      return timeline.read(
        slice, isContinued: isContinued, endsSequence: false, rate: Ratio(25, 1), parameterSets: sets, generation: 1,
        lookingAt: stream.span, from: 0, isComplete: false)
    }
    #expect(try read(.idrWithRADL, before: pictures([1, 2])))
    #expect(timeline.takeTimes() == PresentationTimes(presentation: 80_000_000, decoding: 0, duration: 40_000_000))
    let leading: [Slice] = [(.radlN, -2), (.radlN, -1)]
    #expect(try !read(.idrWithRADL, before: leading))
    #expect(try read(.idrWithRADL, before: leading + pictures([1]), isContinued: true))
    // After the two that are shown before it.
    let times = PresentationTimes(presentation: 200_000_000, decoding: 40_000_000, duration: 40_000_000)
    #expect(timeline.takeTimes() == times)
    // By its type, this one has none.
    #expect(try read(.idrWithoutLeading, before: []))
  }
}
