// SPDX-License-Identifier: MPL-2.0
import AVFormat
import StreamReport

/// What MP4's edit lists make of the streams beside the video: when they begin, and where they end. libavformat is set
/// to ignore edit lists.
struct StreamEdits {
  /// The parts that each stream shows, by its place; none for a stream without an edit list.
  private let parts: [Int: [MP4.ShownRange]]

  /// - Parameter movie: `nil` for a container without edit lists.
  init(_ movie: MP4.Movie?, of streams: [StreamDescription]) {
    var parts: [Int: [MP4.ShownRange]] = [:]
    for stream in streams {
      guard let movie else { break }
      let track = movie.tracks.first { $0.id == UInt32(exactly: stream.id) }
      parts[stream.index] = track?.shownRanges(movieTimescale: movie.timescale)
    }
    self.parts = parts
  }

  /// The ticks that are added to the times of a stream.
  func shift(of stream: Int) -> Int64 { parts[stream]?.first.map { $0.time &- $0.start } ?? 0 }

  /// Reduces a packet with shifted times to the part before the end. Returns whether there is any.
  func clip(_ packet: inout MediaPacket, at time: Int64) -> Bool {
    // If there are several parts, the whole stream is copied.
    guard let parts = parts[packet.stream], parts.count == 1, let part = parts.first, let last = part.end else {
      return true
    }
    let end = last &- part.start &+ part.time
    guard time < end else { return false }
    packet.duration = min(packet.duration, end &- time)
    return true
  }

  /// Whether a packet with shifted times is of no use: it is hidden in front of the part that is shown, and so is the
  /// next one. The decoder of the first packet that is heard begins with the packet in front of that.
  func hides(_ packet: borrowing MediaPacket, at time: Int64) -> Bool {
    // If there are several parts, the whole stream is copied.
    guard let parts = parts[packet.stream], parts.count == 1, let part = parts.first else { return false }
    return time &+ 2 &* max(packet.duration, 0) <= part.time
  }

  /// The edits of these streams that a copy does not have, for the user.
  func losses(of streams: Set<Int>) -> [String] {
    parts.filter { $0.value.count > 1 && streams.contains($0.key) }.sorted { $0.key < $1.key }.map { stream, parts in
      "\(Text.count(parts.count, "edit")) of stream \(stream), so all of it is heard or shown once"
    }
  }
}
