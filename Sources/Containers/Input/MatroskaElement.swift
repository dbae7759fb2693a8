// SPDX-License-Identifier: MPL-2.0

/// An element of EBML (RFC 8794), the syntax of Matroska, in bytes that are in memory.
struct MatroskaElement: Hashable {
  /// The ID of the element that has all others but the header of the file.
  static let segment: UInt32 = 0x1853_8067

  /// The ID, with the bits that mark its length.
  let id: UInt32
  /// The range of its content.
  let content: Range<Int>

  /// The header in front of an element's content.
  struct Header: Hashable {
    /// The ID, with the bits that mark its length.
    let id: UInt32
    /// Bytes of the header itself.
    let length: Int
    /// Bytes of the content; `nil` if the size is not known, as in a live stream.
    let size: UInt64?

    /// The longest header: four bytes of an ID, eight of a size.
    static let maximumLength = 12

    /// - Returns: `nil` for bytes that are none.
    init?(_ bytes: [UInt8], at place: Int = 0) {
      guard bytes.indices.contains(place) else { return nil }
      let idLength = bytes[place].leadingZeroBitCount + 1
      let sizePlace = place + idLength
      guard idLength <= 4, bytes.indices.contains(sizePlace) else { return nil }
      let sizeLength = bytes[sizePlace].leadingZeroBitCount + 1
      guard sizeLength <= 8, sizePlace + sizeLength <= bytes.count else { return nil }
      id = bytes[place..<sizePlace].reduce(0) { $0 << 8 | UInt32($1) }
      length = idLength + sizeLength
      let value = bytes[sizePlace..<sizePlace + sizeLength].reduce(0) { $0 << 8 | UInt64($1) }
      // All bits set: unknown.
      let mask = UInt64(1) << (7 * UInt64(sizeLength)) - 1
      size = value & mask == mask ? nil : value & mask
    }
  }

  /// The elements in a part of bytes, up to the first one that is cut off.
  static func all(in range: Range<Int>, of bytes: [UInt8]) -> [MatroskaElement] {
    var (found, place): ([MatroskaElement], Int) = ([], range.lowerBound)
    while place < range.upperBound, let header = Header(bytes, at: place) {
      let start = place + header.length
      guard let size = header.size.flatMap({ Int(exactly: $0) }), start <= range.upperBound,
        size <= range.upperBound - start
      else { break }
      found.append(MatroskaElement(id: header.id, content: start..<start + size))
      place = start + size
    }
    return found
  }

  /// The elements inside a master element.
  func children(_ bytes: [UInt8]) -> [MatroskaElement] { Self.all(in: content, of: bytes) }

  /// Its value, an unsigned integer of at most eight bytes.
  func number(_ bytes: [UInt8]) -> UInt64 { bytes[content].suffix(8).reduce(0) { $0 << 8 | UInt64($1) } }

  /// Its value, a text; zeros may follow it.
  func text(_ bytes: [UInt8]) -> String { String(decoding: bytes[content].prefix { $0 != 0 }, as: UTF8.self) }
}
