// SPDX-License-Identifier: MPL-2.0

/// A stream in one piece.
public struct WholeStream: AsyncSequence, Sendable {
  /// The piece.
  public typealias Element = [UInt8]
  /// Nothing can fail.
  public typealias Failure = Never

  let bytes: [UInt8]

  /// A stream that is in memory as a whole.
  public init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Begins with the piece.
  public func makeAsyncIterator() -> Iterator { Iterator(bytes: bytes) }

  /// Gives the piece, then nothing.
  public struct Iterator: AsyncIteratorProtocol {
    var bytes: [UInt8]?

    /// The piece the first time, then nil.
    public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> [UInt8]? { bytes.take() }
  }
}
