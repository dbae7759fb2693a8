// SPDX-License-Identifier: MPL-2.0

/// Counts the frames that precede a frame in decoding order and follow it in output order: the least
/// `max_num_reorder_frames` that the stream could signal.
struct ReorderDepth: Sendable {
  /// The highest picture order counts of the sequence, ascending, `limit` at most.
  private var highest: [Int32] = []
  /// More frames than any decoded picture buffer can hold.
  private static let limit = 64
  /// The greatest depth so far.
  private(set) var maximum = 0

  /// Takes the next frame in decoding order.
  ///
  /// - Returns: its depth, and whether a frame before it in the sequence has the same picture order count.
  mutating func add(_ order: Int32, resets: Bool) -> (depth: Int, isRepeated: Bool) {
    if resets { highest = [] }
    var place = highest.count
    while place > 0, highest[place - 1] > order { place -= 1 }
    let depth = highest.count - place
    let isRepeated = place > 0 && highest[place - 1] == order
    highest.insert(order, at: place)
    if highest.count > Self.limit { highest.removeFirst() }
    maximum = max(maximum, depth)
    return (depth, isRepeated)
  }
}
