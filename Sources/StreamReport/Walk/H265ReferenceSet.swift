// SPDX-License-Identifier: MPL-2.0
import H26x
import Slices

extension H265PictureWalk {
  /// The pictures that a picture may refer to (8.3.2).
  struct ReferenceSet: Sendable {
    /// The distances of `RefPicSetStCurrBefore`, `RefPicSetStCurrAfter` and `RefPicSetLtCurr` in picture order count; nil
    /// for a picture that is missing.
    var distances: [Int32?] = []
    /// The number of those in `RefPicSetStCurrBefore`.
    var earlierCount = 0
    /// The number of those in `RefPicSetStCurrAfter`.
    var laterCount = 0

    /// The reference picture lists of a slice (8.3.4).
    ///
    /// - Parameter refersToItself: `pps_curr_pic_ref_enabled_flag`.
    func lists(_ coding: H265.SliceCoding, refersToItself: Bool) -> SliceReferences {
      let itself: [Int32?] = refersToItself ? [0] : []
      let earlier = distances.prefix(earlierCount)
      let later = distances.dropFirst(earlierCount).prefix(laterCount)
      let longTerm = distances.dropFirst(earlierCount + laterCount)
      let prediction = coding.prediction
      let count = Int(coding.referenceCountList0)
      var list0 = Self.list(earlier + later + longTerm + itself, prediction.listEntries0, count)
      // Without modification, a list that is too short for the picture itself ends with it.
      if refersToItself, prediction.listEntries0.isEmpty, distances.count + 1 > count, !list0.isEmpty {
        list0[list0.count - 1] = 0
      }
      let list1 = Self.list(
        later + earlier + longTerm + itself, prediction.listEntries1, Int(coding.referenceCountList1))
      return SliceReferences(list0: list0, list1: list1)
    }

    private static func list(_ initial: ArraySlice<Int32?>, _ entries: [UInt8], _ count: Int) -> [Int32?] {
      let pictures = Array(initial)
      guard !pictures.isEmpty else { return [] }
      return (0..<count).map { index in
        let place = index < entries.count ? Int(entries[index]) : index % pictures.count
        return place < pictures.count ? pictures[place] : nil
      }
    }
  }
}
