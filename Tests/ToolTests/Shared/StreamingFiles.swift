// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// The playlists and segments that `h26x repack -o NAME.m3u8` writes.
struct StreamingFiles {
  /// The folder of `NAME.m3u8`.
  let url: URL
  /// The lines of the multivariant playlist.
  let lines: [String]

  init(_ playlist: String, in folder: Folder) throws {
    let file = folder.url.appending(path: playlist)
    url = file.deletingLastPathComponent()
    lines = try Self.lines(of: file)
  }

  private static func lines(of file: URL) throws -> [String] {
    let text = try String(contentsOf: file, encoding: .utf8)
    #expect(text.hasPrefix("#EXTM3U\n") && text.hasSuffix("\n"))
    return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
  }

  /// The attributes of a line of a kind: `EXT-X-STREAM-INF`.
  func attributes(_ tag: String) -> [[String: String]] {
    lines.filter { $0.hasPrefix("#\(tag):") }.map { line in
      line.matches(of: /([A-Z-]+)=("[^"]*"|[^",]*)/).reduce(into: [:]) { $0[String($1.1)] = String($1.2) }
    }
  }

  /// The playlist of segments that a reference leads to.
  func media(_ reference: String) throws -> Media {
    try Media(url.appending(path: reference.trimmingCharacters(in: ["\""])))
  }

  /// The playlist of the video.
  var video: Media { get throws { try media(try #require(lines.last)) } }
  /// The playlists of sounds.
  var sounds: [Media] {
    get throws {
      try attributes("EXT-X-MEDIA").filter { $0["TYPE"] == "AUDIO" }.map { try media($0["URI"] ?? "") }
    }
  }

  /// A playlist of segments.
  struct Media {
    let lines: [String]
    let initialization: Data
    /// Durations as they are written, and bytes.
    let segments: [(duration: String, bytes: Data)]

    init(_ file: URL) throws {
      let folder = file.deletingLastPathComponent()
      let lines = try StreamingFiles.lines(of: file)
      let maps = lines.compactMap { line in line.firstMatch(of: /^#EXT-X-MAP:URI="(.*)"$/).map { String($0.1) } }
      initialization = try Data(contentsOf: folder.appending(path: try #require(maps.first)))
      segments = try zip(lines, lines.dropFirst()).compactMap { line, name in
        guard let duration = line.firstMatch(of: /^#EXTINF:([0-9.]+),$/)?.1 else { return nil }
        return (String(duration), try Data(contentsOf: folder.appending(path: name)))
      }
      self.lines = lines
      #expect(lines.last == "#EXT-X-ENDLIST")
    }

    /// The whole movie.
    var joined: Data { segments.reduce(initialization) { $0 + $1.bytes } }

    /// The sum of all durations, in nanoseconds.
    var total: Int { segments.reduce(0) { $0 + Self.nanoseconds($1.duration) } }

    private static func nanoseconds(_ text: String) -> Int {
      let parts = text.split(separator: ".")
      let decimals = parts.count > 1 ? parts[1] : ""
      return (Int(parts[0]) ?? -1) * 1_000_000_000
        + (Int(decimals + String(repeating: "0", count: max(0, 9 - decimals.count))) ?? -1)
    }

    func number(_ tag: String) -> Int? {
      lines.first { $0.hasPrefix("#\(tag):") }.flatMap { Int($0.dropFirst(tag.count + 2)) }
    }
  }
}
