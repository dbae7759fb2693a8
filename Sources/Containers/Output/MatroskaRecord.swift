// SPDX-License-Identifier: MPL-2.0
import H26x

/// Completes the record of Dolby Vision in a Matroska file that libavformat writes, which makes the reserved bits 0.
struct MatroskaRecord {
  private let record: [UInt8]
  /// The header of `BlockAddIDExtraData` (RFC 9559, 5.1.4.1.17.4) with the size of a record, and the record's beginning.
  private let pattern: [UInt8]
  /// Whether the file has the record.
  private(set) var isWritten = false

  private static let header: [UInt8] = [0x41, 0xED, 0x98]
  /// The file's description is in front of the media, within so many bytes.
  static let reach: Int64 = 1 << 20

  /// - Returns: `nil` if libavformat writes the record as it is.
  init?(_ record: DolbyVision.Configuration) {
    let bytes = record.bytes
    guard record.reserved.contains(where: { $0 != 0 }), bytes.count == DolbyVision.Configuration.byteCount else {
      return nil
    }
    (self.record, pattern) = (bytes, Self.header + bytes.prefix(4))
  }

  /// The bytes with the record; `nil` if it is not in them. The muxer writes its description twice.
  mutating func completed(_ bytes: Span<UInt8>) -> [UInt8]? {
    var completed = [UInt8](copying: bytes)
    let length = Self.header.count + record.count
    guard
      let place = completed.indices.dropLast(length - 1)
        .first(where: { completed[$0] == pattern[0] && completed[$0..<$0 + pattern.count].elementsEqual(pattern) })
    else { return nil }
    completed.replaceSubrange(place + Self.header.count..<place + length, with: record)
    isWritten = true
    return completed
  }
}
