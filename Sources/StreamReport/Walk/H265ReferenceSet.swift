// SPDX-License-Identifier: MPL-2.0
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

    /// The entries of a reference picture list in a slice header.
    struct ListSyntax: Sendable {
      /// `num_ref_idx_lX_active_minus1` + 1; 0 without the list.
      var count: UInt8
      /// `list_entry_lX`; empty if the list is not modified.
      var entries: [UInt8] = []
    }

    /// The reference picture lists of a slice (8.3.4).
    ///
    /// - Parameter refersToItself: `pps_curr_pic_ref_enabled_flag`.
    func lists(_ syntax0: ListSyntax, _ syntax1: ListSyntax, refersToItself: Bool) -> SliceReferences {
      let itself: [Int32?] = refersToItself ? [0] : []
      let earlier = distances.prefix(earlierCount)
      let later = distances.dropFirst(earlierCount).prefix(laterCount)
      let longTerm = distances.dropFirst(earlierCount + laterCount)
      var list0 = Self.list(earlier + later + longTerm + itself, syntax0)
      // Without modification, a list that is too short for the picture itself ends with it.
      if refersToItself, syntax0.entries.isEmpty, distances.count >= list0.count, !list0.isEmpty {
        list0[list0.count - 1] = 0
      }
      return SliceReferences(list0: list0, list1: Self.list(later + earlier + longTerm + itself, syntax1))
    }

    private static func list(_ initial: ArraySlice<Int32?>, _ syntax: ListSyntax) -> [Int32?] {
      let pictures = Array(initial)
      guard !pictures.isEmpty else { return [] }
      return (0..<Int(syntax.count)).map { index in
        let place = index < syntax.entries.count ? Int(syntax.entries[index]) : index % pictures.count
        return place < pictures.count ? pictures[place] : nil
      }
    }
  }
}
