// SPDX-License-Identifier: MPL-2.0

/// Stage: GstBaseParse's minimum frame size, which decides what parsing costs. In pull mode it reads that much again
/// whenever it holds less; in push mode it copies all it holds into one piece for every attempt.
struct MinimumFrameSize: Sendable {
  /// The least to request: a start code and a header byte. Length-prefixed, a packet may be of any length: one
  /// that stayed in the base class would be joined with the next.
  private var least = ParserLimits.minimumInput
  private var wanted = ParserLimits.minimumInput
  private var requested = 0
  /// The largest access unit so far.
  private var largest = 0

  /// Upstream's caps are known.
  mutating func configure(isLengthPrefixed: Bool) {
    least = isLengthPrefixed ? 1 : ParserLimits.minimumInput
    wanted = least
  }

  /// An access unit of `size` bytes was found: the next one will probably need as many.
  ///
  /// - Parameter mayBatch: several may go into one frame.
  mutating func found(_ size: Int, isPulling: Bool, mayBatch: Bool) {
    largest = max(largest, size)
    // One of two sizes, not one for each access unit: memory of the same size is used again and again.
    let batch = largest > ParserLimits.batchSize / 4 ? ParserLimits.largeBatchSize : ParserLimits.batchSize
    wanted = isPulling ? max(size + size / 8 + 4096, mayBatch ? batch : 0) : least
  }

  /// Data was skipped.
  mutating func skipped() { wanted = least }

  /// An access unit does not end in `available` bytes: requests more than the next few buffers, but at most what
  /// shows that it is too large.
  mutating func needsMore(than available: Int, isPulling: Bool) {
    let limit = ParserLimits.accessUnitSize + 1
    if isPulling {
      wanted = min(max(available * 2, 64 << 10), limit)
    } else if available >= 1 << 20 {
      // Not with every small buffer: each attempt copies all that is held.
      wanted = min(available + available / 8, limit)
    }
  }

  /// The value for the base class; nil when it has it.
  mutating func takeChange() -> Int? {
    guard wanted != requested else { return nil }
    requested = wanted
    return wanted
  }
}
