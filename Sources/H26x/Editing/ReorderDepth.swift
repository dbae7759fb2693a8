// SPDX-License-Identifier: MPL-2.0

/// Measures the reorder depth of a stream: how many pictures at most precede a picture in decoding order and follow it
/// in output order. It is `max_num_reorder_frames` (H.264 E.2.1) or `sps_max_num_reorder_pics` (H.265 7.4.3.2.1).
package struct ReorderDepth: Sendable {
  /// The depth of the pictures so far.
  package private(set) var pictures = 0
  /// The most frames that are compared with the next one: those of the highest picture order counts.
  private let limit: Int
  /// Picture order counts of the coded video sequence so far, and whether the frames are output. The last ones, `limit`
  /// at most, are the highest in ascending order; the others wait to be removed together.
  private var orders: [(order: Int32, isOutput: Bool)] = []

  /// - Parameter limit: the most frames that are compared with the next one. Those far behind in output order follow no
  ///   later picture.
  package init(limit: Int = 2048) { self.limit = limit }

  /// A coded video sequence begins.
  package mutating func beginSequence() { orders.removeAll(keepingCapacity: true) }

  /// Takes the picture order count of the next frame in decoding order. Returns whether the depth has grown.
  package mutating func add(_ order: Int32) -> Bool {
    let before = pictures
    return add(order, isOutput: true).depth > before
  }

  /// Takes the picture order count of the next frame in decoding order. One that is not output has no depth.
  ///
  /// - Returns: its depth, and whether a frame before it in the sequence has the same picture order count.
  package mutating func add(_ order: Int32, isOutput: Bool) -> (depth: Int, isRepeated: Bool) {
    if orders.count >= 2 * limit { orders.removeFirst(orders.count - limit) }
    let lowest = max(0, orders.count - limit)
    var place = orders.count
    var depth = 0
    while place > lowest, orders[place - 1].order > order {
      place -= 1
      if isOutput, orders[place].isOutput { depth += 1 }
    }
    let isRepeated = place > lowest && orders[place - 1].order == order
    orders.insert((order, isOutput), at: place)
    pictures = max(pictures, depth)
    return (depth, isRepeated)
  }
}
