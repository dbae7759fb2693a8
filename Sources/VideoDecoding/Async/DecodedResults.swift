// SPDX-License-Identifier: MPL-2.0

/// The results of a sequence of access units: the pictures in presentation order, and between them access units that
/// gave none, each with its reason. Every access unit has exactly one. Made by ``DecodedPictures/results``.
public struct DecodedResults<Source: AsyncSequence>: AsyncSequence where Source.Element == AccessUnit {
  /// A picture, a drop with its reason, or a failure.
  public typealias Element = SessionResult
  /// An error of the source or of the session.
  public typealias Failure = DecodingFailure<Source.Failure>

  let pictures: DecodedPictures<Source>

  /// An iterator over the results; the session is opened with the first access unit.
  public func makeAsyncIterator() -> Iterator { Iterator(pictures: pictures.makeAsyncIterator()) }

  /// Decodes access units until there is a result.
  public struct Iterator: AsyncIteratorProtocol {
    var pictures: DecodedPictures<Source>.Iterator

    /// The next result; nil after the last.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(Failure) -> SessionResult? {
      try await pictures.nextResult(isolation: actor)
    }
  }
}

extension DecodedResults: Sendable where Source: Sendable {}

extension DecodedPictures {
  /// The same sequence with a result for every access unit, instead of pictures alone.
  ///
  /// ```swift
  /// for try await result in DecodedPictures(of: accessUnits).results { … }
  /// ```
  public var results: DecodedResults<Source> { DecodedResults(pictures: self) }
}
