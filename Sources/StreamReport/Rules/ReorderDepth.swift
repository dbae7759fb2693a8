// SPDX-License-Identifier: MPL-2.0

/// How many frames precede a frame in decoding order and follow it in output order: the real
/// `max_num_reorder_frames`.
struct ReorderDepth: Sendable {
  /// The highest order counts of the sequence, ascending; more than any buffer could hold.
  private var highest: [Int32] = []
  private static let limit = 64
  /// The deepest so far.
  private(set) var maximum = 0

  /// Takes the next frame in decoding order.
  ///
  /// - Returns: its depth, and whether a frame of the same count came before.
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
