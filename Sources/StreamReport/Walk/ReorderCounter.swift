// SPDX-License-Identifier: MPL-2.0

/// Counts the frames that precede a frame in decoding order and follow it in output order: the least
/// `max_num_reorder_frames` that the stream could signal.
struct ReorderCounter: Sendable {
  /// The highest picture order counts of the sequence, ascending, `limit` at most, and whether the frames are output.
  private var highest: [(order: Int32, isOutput: Bool)] = []
  /// More frames than any decoded picture buffer can hold.
  private static let limit = 64
  /// The greatest depth so far.
  private(set) var maximum = 0

  /// Takes the next frame in decoding order. One that is not output has no depth.
  ///
  /// - Returns: its depth, and whether a frame before it in the sequence has the same picture order count.
  mutating func add(_ order: Int32, resets: Bool, isOutput: Bool = true) -> (depth: Int, isRepeated: Bool) {
    if resets { highest = [] }
    var place = highest.count
    var depth = 0
    while place > 0, highest[place - 1].order > order {
      place -= 1
      if isOutput, highest[place].isOutput { depth += 1 }
    }
    let isRepeated = place > 0 && highest[place - 1].order == order
    highest.insert((order, isOutput), at: place)
    if highest.count > Self.limit { highest.removeFirst() }
    maximum = max(maximum, depth)
    return (depth, isRepeated)
  }
}
