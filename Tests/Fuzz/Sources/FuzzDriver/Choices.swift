// SPDX-License-Identifier: MPL-2.0

/// What a subject decides by the input: the first eight bytes, again and again. The rest is the subject's data.
///
/// A handful of bytes at a fixed place lets the fuzzer change a decision without changing the data, and the data
/// without changing the decisions.
public struct Choices: ~Escapable {
  /// How many bytes in front are decisions.
  public static let length = 8

  private let bytes: Span<UInt8>
  private var next = 0

  /// What follows the decisions.
  public let data: Span<UInt8>

  /// Splits an input. Decisions that it is too short for are 0.
  @_lifetime(copy input)
  public init(_ input: Span<UInt8>) {
    let split = min(Self.length, input.count)
    bytes = input.extracting(first: split)
    data = input.extracting(droppingFirst: split)
  }

  /// The next decision.
  public mutating func byte() -> UInt8 {
    defer { next = (next + 1) % Self.length }
    return next < bytes.count ? bytes[next] : 0
  }

  /// The next decision, a number below `bound` (1 to 256).
  public mutating func below(_ bound: Int) -> Int { Int(byte()) % max(1, bound) }

  /// The next decision, yes or no.
  public mutating func flag() -> Bool { byte() & 1 != 0 }
}

extension [UInt8] {
  /// Copies a part of a span.
  public init(_ bytes: Span<UInt8>, _ range: Range<Int>) {
    self.init()
    reserveCapacity(range.count)
    for index in range { append(bytes[index]) }
  }
}
