// SPDX-License-Identifier: MPL-2.0
import StreamReport

/// Changes to the boxes of an MP4 file whose `moov` is its last box, so that it may grow.
struct SmallMP4 {
  var bytes: [UInt8]

  /// The offset and size of a box, by the types of the boxes around it and its own.
  func box(_ path: [String]) -> (start: Int, size: Int)? {
    var (start, end) = (0, bytes.count)
    var found: (start: Int, size: Int)?
    for (depth, type) in path.enumerated() {
      found = nil
      while end - start >= 8, found == nil {
        let size = number(start)
        guard size >= 8, size <= end - start else { return nil }
        if bytes[start + 4..<start + 8].elementsEqual(type.utf8) { found = (start, size) } else { start += size }
      }
      guard let found else { return nil }
      // The fields in front of the boxes of a sample description and of its table.
      let header = type == "stsd" ? 16 : type.hasPrefix("avc") ? 86 : 8
      if depth < path.count - 1 { (start, end) = (found.start + header, found.start + found.size) }
    }
    return found
  }

  private func number(_ offset: Int) -> Int { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }

  /// Replaces a box, and corrects the sizes of those around it.
  mutating func replace(_ path: [String], with box: [UInt8]) {
    guard let old = self.box(path) else { return }
    let around = (1..<path.count).compactMap { self.box(Array(path.prefix($0))) }
    for outer in around {
      bytes.replaceSubrange(outer.start..<outer.start + 4, with: Self.word(outer.size + box.count - old.size))
    }
    bytes.replaceSubrange(old.start..<old.start + old.size, with: box)
  }

  /// Replaces the edit list; durations in ticks of the movie, times in ticks of the track.
  mutating func edit(_ edits: [(duration: Int, mediaTime: Int)]) {
    let entries = edits.flatMap { Self.word($0.duration) + Self.word($0.mediaTime) + Self.word(0x10000) }
    replace(
      ["moov", "trak", "edts"],
      with: Self.box("edts", Self.box("elst", Self.word(0) + Self.word(edits.count) + entries)))
  }

  static func word(_ value: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
    word(content.count + 8) + Array(type.utf8) + content
  }
}

/// A file in memory.
struct FileInMemory: ByteSource {
  let bytes: [UInt8]
  var size: UInt64 { UInt64(bytes.count) }

  func read(at offset: UInt64, count: Int) -> [UInt8] {
    guard offset < size else { return [] }
    return Array(bytes[Int(offset)...].prefix(count))
  }
}
