// SPDX-License-Identifier: MPL-2.0

/// The decisions of a subject: the first eight bytes of the input, used in a cycle. The rest is the subject's data.
///
/// A few bytes at a fixed offset let the fuzzer change a decision without changing the data, and the data
/// without changing the decisions.
public struct Choices: ~Escapable {
  /// The number of bytes for decisions.
  public static let length = 8

  private let bytes: Span<UInt8>
  private var next = 0

  /// The bytes after the decisions.
  public let data: Span<UInt8>

  /// Splits an input. Decisions beyond its end are 0.
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
