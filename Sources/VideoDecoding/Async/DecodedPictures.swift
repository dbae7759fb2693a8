// SPDX-License-Identifier: MPL-2.0

/// The pictures of a sequence of access units, in presentation order.
///
/// ```swift
/// for try await picture in DecodedPictures(of: accessUnits) { … }
/// ```
///
/// An access unit is requested only when a picture is. A slow reader thus holds the source back, and decoding runs no
/// further ahead than reordering and the codec's threads need. Decoding runs in the task that iterates, on its actor.
/// When that task is cancelled, the sequence ends; `Task.isCancelled` distinguishes this from the end of the stream.
/// When the access units end, the sequence first returns all remaining pictures.
///
/// An access unit without a picture is skipped here; ``Iterator/nextResult(isolation:)`` reports it. Errors end the
/// sequence. An error of the source comes after the pictures of the access units before it. An error that makes a
/// session impossible also ends it, such as ``AccessUnits`` finding no parameter sets.
public struct DecodedPictures<Source: AsyncSequence>: AsyncSequence where Source.Element == AccessUnit {
  /// A picture, free to cross threads.
  public typealias Element = DecodedPicture
  /// An error of the source or of the session.
  public typealias Failure = DecodingFailure<Source.Failure>

  let source: Source
  let configuration: SessionConfiguration
  let allocator: (any PictureAllocator)?

  /// Decodes access units in sessions of its own: a new session for each format that the previous session cannot
  /// take.
  ///
  /// - Parameters:
  ///   - source: the access units, the first with a format.
  ///   - configuration: how to decode.
  ///   - allocator: the allocator of picture memory; nil for the session's own memory.
  public init(
    of source: Source, configuration: SessionConfiguration = SessionConfiguration(),
    allocator: (any PictureAllocator)? = nil
  ) {
    self.source = source
    self.configuration = configuration
    self.allocator = allocator
  }

  /// An iterator over the pictures; the session is opened with the first access unit.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// Decodes access units until there is a picture.
  public struct Iterator: AsyncIteratorProtocol {
    private var source: Source.AsyncIterator
    private let configuration: SessionConfiguration
    private let allocator: (any PictureAllocator)?
    private var session: DecompressionSession?
    /// The access unit that waits for the last results of the session before.
    private var waiting: AccessUnit?
    private var isAtEnd = false
    /// The source's error, thrown when everything before it was returned.
    private var sourceFailure: Source.Failure?

    init(_ pictures: DecodedPictures) {
      source = pictures.source.makeAsyncIterator()
      configuration = pictures.configuration
      allocator = pictures.allocator
    }

    /// The current session's counts; all 0 before the first access unit.
    public var statistics: SessionStatistics { session?.statistics ?? SessionStatistics() }

    /// The next picture; nil after the last.
    public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws(Failure)
      -> DecodedPicture?
    {
      while let result = try await nextResult(isolation: actor) {
        if case .frame(let picture) = result { return picture }
      }
      return nil
    }

    /// The next result: pictures in presentation order, and between them access units that gave none. Nil after the
    /// last.
    public mutating func nextResult(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(Failure) -> SessionResult? {
      while true {
        guard !Task.isCancelled else {
          session?.invalidate()
          (session, waiting, isAtEnd) = (nil, nil, true)
          return nil
        }
        if let result = session?.nextResult() { return result }
        do throws(DecodeError) {
          if let accessUnit = waiting.take() {
            session = nil
            try decode(accessUnit)
            continue
          }
        } catch {
          throw fail(.decoding(error))
        }
        if let error = sourceFailure.take() { throw fail(.source(error)) }
        guard !isAtEnd else { return nil }
        let next: AccessUnit?
        do throws(Source.Failure) {
          next = try await source.next(isolation: actor)
        } catch {
          (sourceFailure, isAtEnd) = (error, true)
          session?.drain()
          continue
        }
        do throws(DecodeError) {
          guard let next else {
            if session == nil, let error = (source as? any FormatSearching)?.missingFormat { throw error }
            isAtEnd = true
            session?.drain()
            continue
          }
          try decode(next)
        } catch {
          throw fail(.decoding(error))
        }
      }
    }

    /// Decodes an access unit, or drains the session that cannot take it.
    private mutating func decode(_ accessUnit: AccessUnit) throws(DecodeError) {
      if let session, let format = accessUnit.format, !session.canAccept(format) {
        session.drain()
        waiting = accessUnit
        return
      }
      if session == nil, let format = accessUnit.format {
        session = try DecompressionSession(format: format, configuration: configuration, allocator: allocator)
      }
      guard let session else {
        throw DecodeError(
          .invalidFormatDescription, tag: accessUnit.tag,
          detail: "the first access unit has no format (AccessUnit.format), which AccessUnits would set")
      }
      try session.decode(accessUnit)
    }

    /// Ends the sequence with an error.
    private mutating func fail(_ failure: Failure) -> Failure {
      session?.invalidate()
      (session, waiting, isAtEnd) = (nil, nil, true)
      return failure
    }
  }
}

extension DecodedPictures: Sendable where Source: Sendable {}

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

/// The reason that there are no more pictures.
public enum DecodingFailure<SourceFailure: Error>: Error {
  /// The source of access units failed.
  case source(SourceFailure)
  /// A session could not be opened, or refused an access unit.
  case decoding(DecodeError)
}

extension DecodingFailure: CustomStringConvertible {
  /// The error that the source or the session has thrown.
  public var description: String {
    switch self {
    case .source(let error): "\(error)"
    case .decoding(let error): "\(error)"
    }
  }
}
