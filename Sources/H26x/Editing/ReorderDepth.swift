// SPDX-License-Identifier: MPL-2.0

/// Measures how deep the pictures of a stream are reordered: how many precede one in decoding order and follow it in
/// output order, at most (`max_num_reorder_frames`, H.264 E.2.1; `sps_max_num_reorder_pics`, H.265 7.4.3.2.1).
package struct ReorderDepth: Sendable {
  /// The depth of the pictures so far.
  package private(set) var pictures = 0
  /// Picture order counts of the coded video sequence so far, ascending.
  private var orders: [Int32] = []

  package init() {}

  /// A coded video sequence begins.
  package mutating func beginSequence() { orders.removeAll(keepingCapacity: true) }

  /// Takes the picture order count of the next frame in decoding order. Returns whether the depth has grown.
  package mutating func add(_ order: Int32) -> Bool {
    var (low, high) = (0, orders.count)
    while low < high {
      let middle = (low + high) / 2
      if orders[middle] > order { high = middle } else { low = middle + 1 }
    }
    orders.insert(order, at: low)
    let depth = orders.count - 1 - low
    // Those far behind in output order follow no later picture.
    if orders.count > 4096 { orders.removeFirst(2048) }
    guard depth > pictures else { return false }
    pictures = depth
    return true
  }

  /// The edit that writes a depth, in frames; what each SPS needs with it does not depend on the others.
  package static func edit(_ depth: Int, of _: [[UInt8]], _: FormatDescription.Codec) -> StreamEdit {
    .reordering(UInt8(clamping: depth), buffer: nil)
  }
}
