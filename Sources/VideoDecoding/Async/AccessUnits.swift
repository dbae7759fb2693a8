// SPDX-License-Identifier: MPL-2.0
public import H26x

/// The access units of an Annex B byte stream that arrives in pieces, as from a file or a socket.
///
/// ```swift
/// for try await accessUnit in AccessUnits(of: pieces, codec: .h264) { … }
/// ```
///
/// Tags count from 0. ``AccessUnit/isRandomAccessPoint`` is set if decoding may begin at the access unit. Bytes
/// before the first parameter sets, bytes outside NAL units and access units of more than 64 MiB are dropped. A
/// stream without parameter sets, or of the other codec, thus has no access unit: ``DecodedPictures`` then ends with
/// the error `invalidFormatDescription`.
public struct AccessUnits<Source: AsyncSequence>: AsyncSequence where Source.Element == [UInt8] {
  /// An access unit; the first one has the format.
  public typealias Element = AccessUnit
  /// The source's failure.
  public typealias Failure = Source.Failure

  let source: Source
  let codec: FormatDescription.Codec
  let times: StreamTimes

  /// Cuts a stream into access units.
  ///
  /// - Parameters:
  ///   - source: the stream in pieces of any size.
  ///   - codec: the stream's codec.
  ///   - times: the source of the access units' times; a live stream has the least delay with `.none`.
  public init(of source: Source, codec: FormatDescription.Codec, times: StreamTimes = .none) {
    self.source = source
    self.codec = codec
    self.times = times
  }

  /// An iterator over the stream, from its beginning.
  public func makeAsyncIterator() -> Iterator {
    let cutter: any StreamCutting =
      switch codec {
      case .h264: StreamCutter<H264>(times: times)
      case .h265: StreamCutter<H265>(times: times)
      }
    return Iterator(source: source.makeAsyncIterator(), cutter: cutter)
  }

  /// Requests a piece from the source whenever the bytes so far do not end an access unit.
  public struct Iterator: AsyncIteratorProtocol {
    var source: Source.AsyncIterator
    var cutter: any StreamCutting

    /// The next access unit, nil after the last.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(Source.Failure) -> AccessUnit? {
      while true {
        if let accessUnit = cutter.next() { return accessUnit }
        guard !cutter.isAtEnd else { return nil }
        if let piece = try await source.next(isolation: actor) {
          cutter.append(piece)
        } else {
          cutter.end()
        }
      }
    }
  }
}

extension AccessUnits.Iterator: FormatSearching {
  var missingFormat: DecodeError? { cutter.missingFormat }
}

/// Looks for the format of a stream in the stream itself.
protocol FormatSearching {
  /// The reason that there was no access unit so far; nil if there was one, or if no data has come.
  var missingFormat: DecodeError? { get }
}

extension AccessUnits: Sendable where Source: Sendable {}

extension AccessUnits where Source == WholeStream {
  /// Cuts a stream that is in memory as a whole.
  public init(
    of bytes: [UInt8], codec: FormatDescription.Codec, times: StreamTimes = .pictureOrder()
  ) {
    self.init(of: WholeStream(bytes), codec: codec, times: times)
  }
}

/// The source of the access units' times for a byte stream, which has no timestamps.
public enum StreamTimes: Sendable, Hashable {
  /// There are none. Each access unit is returned as soon as it is complete.
  case none
  /// Times follow from the pictures' order and the frame rate that the stream signals. To find the presentation order
  /// of its pictures, the first access unit waits for those after it: as many as the stream may reorder.
  ///
  /// Decoding times count from zero.
  ///
  /// - Parameter fallbackRate: frames a second for a stream that does not signal its frame rate; nil to leave the times
  ///   of such a stream unknown.
  case pictureOrder(fallbackRate: Ratio? = nil)
}

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
