// SPDX-License-Identifier: MPL-2.0

/// Stage: how many bytes to ask the base class for, which decides what parsing costs: when it pulls, it reads that much
/// anew whenever it holds less, and when it is pushed to, it copies all it holds together for every try.
struct MinimumFrameSize: Sendable {
  /// What any data needs: a start code and a header byte. A packet is whole however short it is; left in the base class,
  /// it would stand in front of the next.
  private var least = ParserLimits.minimumInput
  private var wanted = ParserLimits.minimumInput
  private var told = 0
  /// The largest access unit so far.
  private var largest = 0

  /// Upstream's caps are known.
  mutating func configure(isLengthPrefixed: Bool) {
    least = isLengthPrefixed ? 1 : ParserLimits.minimumInput
    wanted = least
  }

  /// An access unit of so many bytes ends: the next one will probably need as many.
  ///
  /// - Parameter mayBatch: several may be cut at once.
  mutating func found(_ size: Int, isPulling: Bool, mayBatch: Bool) {
    largest = max(largest, size)
    // One of two sizes, not one for each access unit: memory of the same size is used again and again.
    let batch = largest > ParserLimits.batchSize / 4 ? ParserLimits.largeBatchSize : ParserLimits.batchSize
    wanted = isPulling ? max(size + size / 8 + 4096, mayBatch ? batch : 0) : least
  }

  /// What was there was of no use.
  mutating func skipped() { wanted = least }

  /// An access unit does not end in so many bytes: asks for more than the next few, but never for more than shows that
  /// it is too large.
  mutating func needsMore(than available: Int, isPulling: Bool) {
    let limit = ParserLimits.accessUnitSize + 1
    if isPulling {
      wanted = min(max(available * 2, 64 << 10), limit)
    } else if available >= 1 << 20 {
      // Not with every small buffer: each time, all is copied together.
      wanted = min(available + available / 8, limit)
    }
  }

  /// What the base class is to be told; nil when it knows.
  mutating func takeChange() -> Int? {
    guard wanted != told else { return nil }
    told = wanted
    return wanted
  }
}
