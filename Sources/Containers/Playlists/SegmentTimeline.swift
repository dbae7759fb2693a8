// SPDX-License-Identifier: MPL-2.0
import AVFormat

/// The segments of a rendition with their exact durations: the next segment begins where one ends.
struct SegmentTimeline {
  /// A segment's file.
  struct Segment {
    let name: String
    /// In nanoseconds.
    let duration: Int64
    /// In bytes.
    let size: Int64
  }

  private(set) var segments: [Segment] = []

  /// - Parameters:
  ///   - ticks: of the segments' times.
  ///   - origin: when the presentation begins, in nanoseconds, which is no later than the first segment.
  init(_ segments: [SegmentFiles.Segment], _ ticks: TimeBase, from origin: Int64) {
    let written = segments.filter { $0.size > 0 }
    // Ends of segments are starts of the next ones, so errors of rounding do not add up.
    var bounds = [origin]
    for segment in written.dropFirst() { bounds.append(max(ticks.nanoseconds(segment.start), bounds.last ?? 0)) }
    bounds.append(max(ticks.nanoseconds(segments.map(\.end).max() ?? 0), bounds.last ?? 0))
    for (segment, (start, end)) in zip(written, zip(bounds, bounds.dropFirst())) {
      self.segments.append(Segment(name: segment.name, duration: end - start, size: segment.size))
    }
  }

  /// The longest duration, in nanoseconds.
  var longest: Int64 { segments.map(\.duration).max() ?? 0 }

  /// The same in seconds, rounded up or to the nearest.
  func longestInSeconds(roundedUp: Bool) -> Int64 {
    let (whole, rest) = longest.quotientAndRemainder(dividingBy: 1_000_000_000)
    return whole + (rest >= (roundedUp ? 1 : 500_000_000) ? 1 : 0)
  }

  /// Bits a second on average.
  var averageBitrate: Int64 {
    Self.bitrate(segments.reduce(0) { $0 + $1.size }, segments.reduce(0) { $0 + $1.duration })
  }

  /// The peak segment bit rate: the highest one of contiguous segments that last 0.5 to 1.5 times the target duration
  /// (RFC 8216, 4.1). The average if no segments do.
  func peakBitrate(targetDuration: Int64) -> Int64 {
    let target = Double(targetDuration) * 1e9
    var peak: Int64 = 0
    for first in segments.indices {
      var (size, duration): (Int64, Int64) = (0, 0)
      for segment in segments[first...] {
        (size, duration) = (size + segment.size, duration + segment.duration)
        guard Double(duration) <= 1.5 * target else { break }
        if Double(duration) >= 0.5 * target { peak = max(peak, Self.bitrate(size, duration)) }
      }
    }
    return peak > 0 ? peak : averageBitrate
  }

  /// Bits a second, rounded up.
  private static func bitrate(_ size: Int64, _ duration: Int64) -> Int64 {
    duration > 0 ? Int64((Double(size) * 8e9 / Double(duration)).rounded(.up)) : 0
  }

  /// The media playlist (RFC 8216, 4.3.3).
  ///
  /// - Parameters:
  ///   - targetDuration: in seconds, no less than any segment lasts, rounded to the nearest second.
  ///   - initialization: the name of the file in front of all segments.
  ///   - isIndependent: whether each segment can be decoded without another one.
  func playlist(targetDuration: Int64, initialization: String, isIndependent: Bool) -> String {
    // EXT-X-MAP needs version 6.
    var lines = ["#EXTM3U", "#EXT-X-VERSION:6", "#EXT-X-TARGETDURATION:\(targetDuration)", "#EXT-X-PLAYLIST-TYPE:VOD"]
    if isIndependent { lines.append("#EXT-X-INDEPENDENT-SEGMENTS") }
    lines.append("#EXT-X-MAP:URI=\"\(initialization)\"")
    for segment in segments { lines += ["#EXTINF:\(Self.seconds(segment.duration)),", segment.name] }
    lines.append("#EXT-X-ENDLIST")
    return lines.map { "\($0)\n" }.joined()
  }

  /// Nanoseconds as seconds, with as many decimals as they have: 6.006, 0.033366667.
  private static func seconds(_ nanoseconds: Int64) -> String {
    let (whole, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    var decimals = "\(1_000_000_000 + rest)".dropFirst()
    while decimals.count > 1, decimals.last == "0" { decimals.removeLast() }
    return "\(whole).\(decimals)"
  }
}
