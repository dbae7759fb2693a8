// SPDX-License-Identifier: MPL-2.0

/// The messages of all pictures of a stream, in the order of presentation. A message that repeats the one before takes
/// four bytes.
package struct PictureMessageStore: Sendable {
  /// Messages of one row of bytes, each with its length in front, two bytes.
  private var pieces: [[UInt8]] = []
  /// For each picture, the piece and the offset of its message in it.
  private var places: [UInt32] = []

  private static let pieceSizeLog2: UInt32 = 16
  private static var pieceSize: Int { 1 << Int(pieceSizeLog2) }
  /// The most bytes of a message.
  package static var messageLimit: Int { pieceSize - 2 }

  package init() {}

  /// The number of pictures.
  package var count: Int { places.count }

  /// Adds the message of the next picture.
  ///
  /// - Returns: false if there is no room for it.
  package mutating func append(_ message: [UInt8]) -> Bool {
    if let last = places.last, self.message(at: places.count - 1) == message {
      places.append(last)
      return true
    }
    guard message.count <= Self.messageLimit else { return false }
    if pieces.isEmpty || pieces[pieces.count - 1].count + message.count + 2 > Self.pieceSize {
      guard pieces.count < 1 << (32 - Int(Self.pieceSizeLog2)) else { return false }
      pieces.append([])
      pieces[pieces.count - 1].reserveCapacity(Self.pieceSize)
    }
    let piece = pieces.count - 1
    places.append(UInt32(truncatingIfNeeded: piece << Int(Self.pieceSizeLog2) | pieces[piece].count))
    pieces[piece].append(UInt8(truncatingIfNeeded: message.count >> 8))
    pieces[piece].append(UInt8(truncatingIfNeeded: message.count))
    pieces[piece] += message
    return true
  }

  /// Adds a picture with the message of the picture before. Does nothing without one.
  package mutating func repeatLast() { if let last = places.last { places.append(last) } }

  /// The message of a picture; nil if there is no such picture.
  package func message(at picture: Int) -> [UInt8]? {
    guard places.indices.contains(picture) else { return nil }
    let piece = Int(places[picture] >> Self.pieceSizeLog2)
    let offset = Int(places[picture] & (1 << Self.pieceSizeLog2 - 1))
    guard pieces.indices.contains(piece), offset + 2 <= pieces[piece].count else { return nil }
    let bytes = pieces[piece]
    let count = Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
    return Array(bytes[(offset + 2)...].prefix(count))
  }

  /// Whether a picture has the message of the picture before.
  package func isRepeated(at picture: Int) -> Bool {
    picture > 0 && picture < places.count && places[picture] == places[picture - 1]
  }
}
