// SPDX-License-Identifier: MPL-2.0

/// A picture's position in output order, by picture order count.
struct OutputOrder: Comparable {
  /// Counts the pictures up to it that begin a new sequence of counts.
  let sequence: UInt64
  /// `PicOrderCnt()`.
  let count: Int32

  static func < (one: OutputOrder, other: OutputOrder) -> Bool {
    (one.sequence, one.count) < (other.sequence, other.count)
  }
}
