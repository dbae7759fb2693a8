// SPDX-License-Identifier: MPL-2.0

/// Stage: where in the input the next data should be.
struct InputPosition: Sendable {
  /// The offset of the data that continues the last; nil before any came.
  private var expected: UInt64?
  /// Whether nothing was consumed yet.
  private(set) var isFresh = true

  /// Whether data at this offset does not continue what came before: the base class has sought, without an event.
  func isJump(to offset: UInt64?) -> Bool {
    guard let expected, let offset else { return false }
    return offset != expected
  }

  /// Data at this offset was handed over. It comes again, unless it is consumed or the base class seeks.
  mutating func notice(_ offset: UInt64?) { expected = expected ?? offset }

  /// `count` bytes at this offset are consumed.
  mutating func advance(by count: Int, from offset: UInt64?) {
    guard count > 0 else { return }
    (expected, isFresh) = (offset.map { $0 &+ UInt64(count) }, false)
  }

  /// The data at this offset will come again, unless the base class seeks meanwhile.
  mutating func expectAgain(_ offset: UInt64?) { (expected, isFresh) = (offset, false) }
}
