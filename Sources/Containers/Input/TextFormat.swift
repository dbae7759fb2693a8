// SPDX-License-Identifier: MPL-2.0

/// Kinds of text files that name media, of which none is opened.
enum TextFormat {
  /// The kind, for people; `nil` for bytes that are no text.
  static func name(of bytes: [UInt8]) -> String? {
    // UTF-16, as Windows writes it.
    let isWide = bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF])
    let mark = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    let text = isWide ? bytes.dropFirst(2).filter { $0 != 0 } : Array(bytes.dropFirst(mark))
    guard isText(text) else { return nil }
    let trimmed = text.drop { $0 == 32 || (9...13).contains($0) }
    if let named = beginnings.first(where: { trimmed.starts(with: $0.text.utf8) }) { return named.name }
    // Comments may precede the root element.
    guard trimmed.first == UInt8(ascii: "<") else { return "text" }
    let named = elements.first { element in
      trimmed.indices.contains { trimmed[$0...].starts(with: element.text.utf8) }
    }
    return named?.name ?? "text"
  }

  private static let segments = "which names segments to read"

  private static let beginnings: [(text: String, name: String)] = [
    ("#EXTM3U", "an HLS playlist, \(segments)"),
    ("v=0", "a session description (SDP), which h26x receive reads"),
    ("ffconcat ", "a concat script, which names files to read"),
    ("[playlist]", "a playlist, which names files to read"),
    ("[Reference]", "a playlist, which names files to read"),
    ("rtsp://", "an address, which h26x receive reads"),
  ]

  private static let elements: [(text: String, name: String)] = [
    ("<MPD", "a DASH manifest, \(segments)"), ("<SmoothStreamingMedia", "a Smooth Streaming manifest, \(segments)"),
    ("<manifest", "an HDS manifest, \(segments)"), ("<smil", "a playlist, which names files to read"),
    ("<playlist", "a playlist, which names files to read"), ("<asx", "a playlist, which names files to read"),
    ("<ASX", "a playlist, which names files to read"),
  ]

  /// Whether there are no control characters but white space, and at least nine of ten bytes are ASCII.
  private static func isText(_ bytes: [UInt8]) -> Bool {
    bytes.allSatisfy { $0 >= 32 && $0 != 127 || (9...13).contains($0) }
      && bytes.count(where: { $0 < 128 }) >= bytes.count / 10 * 9
  }
}
