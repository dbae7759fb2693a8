// SPDX-License-Identifier: MPL-2.0
import Slices
import Testing

@testable import StreamReport

/// Reference picture lists of H.265 (8.3.4), as distances in picture order count.
@Suite struct H265ReferenceSetTests {
  /// Two pictures before, one after, and a long-term picture.
  private let set: H265PictureWalk.ReferenceSet = {
    var set = H265PictureWalk.ReferenceSet()
    (set.distances, set.earlierCount, set.laterCount) = ([-1, -4, 2, -40], 2, 1)
    return set
  }()

  @Test func listsBeginOnTheirSide() {
    let lists = set.lists(.init(count: 4), .init(count: 3), refersToItself: false)
    #expect(lists.list0 == [-1, -4, 2, -40] && lists.list1 == [2, -1, -4] && lists.areFrames)
  }

  @Test func shortSetsRepeat() {
    let lists = set.lists(.init(count: 6), .init(count: 0), refersToItself: false)
    #expect(lists.list0 == [-1, -4, 2, -40, -1, -4] && lists.list1.isEmpty)
  }

  @Test func entriesSelectPictures() {
    let lists = set.lists(
      .init(count: 3, entries: [3, 0, 0]), .init(count: 2, entries: [1, 7]), refersToItself: false)
    // An entry that is too large names no picture.
    #expect(lists.list0 == [-40, -1, -1] && lists.list1 == [-1, nil])
  }

  @Test func pictureItselfIsLast() {
    #expect(set.lists(.init(count: 5), .init(count: 0), refersToItself: true).list0 == [-1, -4, 2, -40, 0])
    // List 0 has no room for it, and ends with it all the same.
    let short = set.lists(.init(count: 2), .init(count: 2), refersToItself: true)
    #expect(short.list0 == [-1, 0] && short.list1 == [2, -1])
    let alone = H265PictureWalk.ReferenceSet().lists(.init(count: 1), .init(count: 0), refersToItself: true)
    #expect(alone.list0 == [0])
  }
}
