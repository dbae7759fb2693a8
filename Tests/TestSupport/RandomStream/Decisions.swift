// SPDX-License-Identifier: MPL-2.0

/// The source of a random stream's decisions: a seed in tests, an input's bytes in fuzzing.
public protocol DecisionSource {
  /// The next decision: a number from 0 to `bound` - 1.
  mutating func below(_ bound: Int) -> Int
}

extension DecisionSource {
  /// Yes in one of `count` cases.
  public mutating func oneIn(_ count: Int) -> Bool { below(count) == count - 1 }

  /// One of these, each with the same probability.
  public mutating func one<Element>(of elements: [Element]) -> Element { elements[below(elements.count)] }
}

extension SeededGenerator: DecisionSource {
  public mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(max(1, bound))) }
}

/// The decisions that a fuzzer's input makes: one byte each. Behind the end of the input, all of them are 0.
public struct ByteDecisions: DecisionSource {
  private let bytes: [UInt8]
  private var next = 0

  /// Creates decisions from an input.
  public init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// No byte is left.
  public var isAtEnd: Bool { next >= bytes.count }

  public mutating func below(_ bound: Int) -> Int {
    guard next < bytes.count else { return 0 }
    defer { next += 1 }
    return Int(bytes[next]) % max(1, bound)
  }
}
