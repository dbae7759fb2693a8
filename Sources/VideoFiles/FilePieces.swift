// SPDX-License-Identifier: MPL-2.0
public import H26x
public import StreamReport
public import VideoDecoding

/// The bytes of a file from beginning to end, in pieces.
public struct FilePieces<File: ByteSource>: AsyncSequence {
  /// A piece.
  public typealias Element = [UInt8]
  /// Nothing can fail: an unreadable piece ends the sequence.
  public typealias Failure = Never

  let file: File
  /// Bytes of a piece: many pictures of usual bit rates, and few enough to stay in the processor's cache.
  static var pieceSize: Int { 256 << 10 }

  /// Creates the sequence.
  public init(_ file: File) { self.file = file }

  /// Begins with the first piece.
  public func makeAsyncIterator() -> Iterator { Iterator(file: file) }

  /// Reads a piece whenever one is requested.
  public struct Iterator: AsyncIteratorProtocol {
    var file: File
    var offset: UInt64 = 0

    /// The next piece; nil at the end of the file, and if it cannot be read.
    public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> [UInt8]? {
      guard offset < file.size else { return nil }
      let piece = file.read(at: offset, count: Int(Swift.min(UInt64(FilePieces.pieceSize), file.size - offset)))
      offset += UInt64(piece.count)
      return piece.isEmpty ? nil : piece
    }
  }
}

extension FilePieces: Sendable where File: Sendable {}

extension AccessUnits where Source == FilePieces<LocalFile> {
  /// The access units of an Annex B byte stream in a file.
  ///
  /// ```swift
  /// for try await picture in DecodedPictures(of: try AccessUnits(fileAt: "clip.h264")) { … }
  /// ```
  ///
  /// - Parameters:
  ///   - path: the file's path. The file is read in pieces, and its size does not matter.
  ///   - codec: the stream's codec; nil to find out by its first 64 KiB.
  ///   - times: the source of the access units' times.
  /// - Throws: ``VideoFileError``; `.unknownCodec` if the codec is neither given nor evident.
  public init(
    fileAt path: String, codec: FormatDescription.Codec? = nil, times: StreamTimes = .pictureOrder()
  ) throws(VideoFileError) {
    let file = try LocalFile(at: path)
    guard let codec = codec ?? CodecGuess.codec(of: file.read(at: 0, count: 64 << 10).span) else {
      throw .unknownCodec
    }
    self.init(of: FilePieces(file), codec: codec, times: times)
  }
}
