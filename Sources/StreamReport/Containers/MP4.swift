// SPDX-License-Identifier: MPL-2.0

/// The ISO base media file format as far as video samples need it: MP4, MOV and their fragmented forms
/// (ISO/IEC 14496-12 and 14496-15).
///
/// Tables are read entry by entry from the bytes of the `moov` and `moof` boxes. Memory is in proportion to the size
/// of these boxes, never to a count that they state.
public enum MP4 {
  /// The reason that a file cannot be read, and its place.
  public struct ReadError: Error, Sendable, Hashable {
    /// The reasons.
    public enum Reason: UInt8, Sendable {
      /// The bytes end inside the box.
      case truncated
      /// The size of the box is less than its header, or more than the box around it.
      case badSize
      /// The box is larger than 512 MiB, the most that is read into memory, or has more samples than the file has
      /// bytes.
      case tooLarge
      /// A field has a value that is not allowed or not supported.
      case unsupported
      /// A mandatory box is missing.
      case missing
      /// The file could not be read.
      case unreadable
    }

    /// The reason.
    public let reason: Reason
    /// The type of the box.
    public let box: FourCharacterCode
    /// The offset of the box in the file, in bytes.
    public let offset: UInt64

    /// Creates an error.
    package init(_ reason: Reason, _ box: FourCharacterCode, at offset: UInt64) {
      self.reason = reason
      self.box = box
      self.offset = offset
    }
  }

  /// A box in an array of bytes.
  package struct Box: Sendable, Hashable {
    /// The type.
    package let type: FourCharacterCode
    /// The range of the whole box, header included.
    package let range: Range<Int>
    /// The range of its content, after the header.
    package let content: Range<Int>
  }

  /// Iterates over the boxes in a range of bytes.
  package struct Boxes: ~Escapable {
    private let bytes: Span<UInt8>
    private var position: Int
    private let end: Int

    /// Iterates over `bytes[range]`, as far as the range is in `bytes`.
    @_lifetime(copy bytes)
    package init(_ bytes: Span<UInt8>, in range: Range<Int>) {
      self.bytes = bytes
      position = max(0, min(range.lowerBound, bytes.count))
      end = max(position, min(range.upperBound, bytes.count))
    }

    /// The next box; nil after the last. Fewer than eight bytes at the end are padding.
    ///
    /// - Throws: `.badSize`, `.truncated`.
    mutating func next() throws(ReadError) -> Box? {
      guard end - position >= 8 else { return nil }
      let header = try BoxHeader(bytes, at: position, limit: UInt64(end - position))
      // The header's size is at most the limit, which is an Int.
      let range = position..<position + Int(header.size)
      let box = Box(
        type: header.type, range: range, content: position + header.length..<range.upperBound)
      position = range.upperBound
      return box
    }

    /// The next box; nil after the last, and if a box is damaged. For boxes without which a file can be read.
    package mutating func nextIntact() -> Box? {
      do throws(ReadError) { return try next() } catch {
        position = end
        return nil
      }
    }

    /// The next box of this type; nil if there is none before a damaged one.
    package mutating func firstIntact(_ type: FourCharacterCode) -> Box? {
      while let box = nextIntact() { if box.type == type { return box } }
      return nil
    }

    /// The next box of this type; nil if there is none.
    ///
    /// - Throws: `.badSize`, `.truncated`.
    mutating func first(_ type: FourCharacterCode) throws(ReadError) -> Box? {
      while let box = try next() { if box.type == type { return box } }
      return nil
    }
  }

  /// The size and type that a box begins with (ISO/IEC 14496-12, 4.2.2).
  package struct BoxHeader: Sendable, Hashable {
    package let type: FourCharacterCode
    /// Bytes of the header: 8, or 16 with a `largesize`; 16 more with a `usertype`.
    package let length: Int
    /// Bytes of the whole box.
    package let size: UInt64

    /// The longest header.
    package static let maximumLength = 32

    /// Reads a header.
    ///
    /// - Parameter limit: bytes up to the end of the box around it, or of the file.
    /// - Throws: `.truncated`, or `.badSize` for a box that is longer than the limit.
    package init(_ bytes: Span<UInt8>, at offset: Int, limit: UInt64) throws(ReadError) {
      guard let size32 = bytes.uint32(at: offset), let code = bytes.uint32(at: offset + 4) else {
        throw ReadError(.truncated, FourCharacterCode(rawValue: 0), at: UInt64(max(offset, 0)))
      }
      type = FourCharacterCode(rawValue: code)
      var length = 8
      var size = UInt64(size32)
      if size32 == 1 {
        guard let large = bytes.uint64(at: offset + 8) else {
          throw ReadError(.truncated, type, at: UInt64(offset))
        }
        size = large
        length = 16
      } else if size32 == 0 {
        // Up to the end of the file.
        size = limit
      }
      if type == FourCharacterCode("uuid") { length += 16 }
      guard size >= UInt64(length), size <= limit else {
        throw ReadError(.badSize, type, at: UInt64(offset))
      }
      self.length = length
      self.size = size
    }
  }
}

extension Span<UInt8> {
  /// The byte at an offset; nil outside the span.
  func uint8(at offset: Int) -> UInt8? { offset >= 0 && offset < count ? self[offset] : nil }

  /// The big-endian number of 16 bits at an offset; nil if it is not inside the span.
  func uint16(at offset: Int) -> UInt16? {
    guard offset >= 0, offset <= count - 2 else { return nil }
    return UInt16(self[offset]) << 8 | UInt16(self[offset + 1])
  }

  /// The big-endian number of 32 bits at an offset; nil if it is not inside the span.
  func uint32(at offset: Int) -> UInt32? {
    guard offset >= 0, offset <= count - 4 else { return nil }
    var value: UInt32 = 0
    for index in offset..<offset + 4 { value = value << 8 | UInt32(self[index]) }
    return value
  }

  /// The big-endian number of 64 bits at an offset; nil if it is not inside the span.
  func uint64(at offset: Int) -> UInt64? {
    guard let high = uint32(at: offset), let low = uint32(at: offset + 4) else { return nil }
    return UInt64(high) << 32 | UInt64(low)
  }

  /// A copy of a range; nil if it is not inside the span.
  func array(_ range: Range<Int>) -> [UInt8]? {
    guard range.lowerBound >= 0, range.upperBound <= count else { return nil }
    let part = extracting(range)
    return [UInt8](capacity: part.count) { output in
      for index in part.indices { output.append(part[index]) }
    }
  }
}
