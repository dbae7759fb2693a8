// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// The times of a video at which ranges may begin and end.
struct CutTimeline {
  /// See ``CutRequest/ranges(duration:chapters:pictureTimes:)``.
  let duration: Int64?
  let pictureTimes: [Int64]

  /// - Throws: a `Failure` if the range begins at or behind the end of the video, or is empty.
  func resolve(_ range: CutRange) throws(Failure) -> ResolvedRange {
    guard let start = time(of: range.start), start < duration ?? .max else {
      throw Failure("range \(range.text): the video ends before \(range.start.text)\(length(for: range.start))")
    }
    guard let wanted = range.end else { return ResolvedRange(start: start, name: range.name) }
    let isAtEnd = isEnd(wanted)
    guard let end = time(of: wanted), end < duration ?? .max else {
      return ResolvedRange(start: start, name: range.name, missingEnd: isAtEnd ? nil : wanted)
    }
    guard start < end else { throw Failure("range \(range.text): its end is not after its start") }
    return ResolvedRange(start: start, end: end, name: range.name)
  }

  /// - Returns: `nil` if no part of the video is in the chapter.
  func range(of chapter: CutChapter) -> ResolvedRange? {
    let start = max(chapter.start, 0)
    guard start < min(chapter.end, duration ?? .max) else { return nil }
    return ResolvedRange(
      start: start, end: chapter.end < duration ?? .max ? chapter.end : nil, name: chapter.title)
  }

  /// In nanoseconds since the first picture; `nil` for a picture that the video does not have.
  private func time(of position: CutPosition) -> Int64? {
    switch position {
    case .time(let time): time
    case .picture(let number): pictureTimes.indices.contains(number) ? pictureTimes[number] : nil
    }
  }

  private func isEnd(_ position: CutPosition) -> Bool {
    switch position {
    case .time(let time):
      duration.map { (time.subtractingReportingOverflow($0).partialValue) <= Window.tolerance } ?? true
    case .picture(let number): number == pictureTimes.count
    }
  }

  /// The length of the video, for the user.
  private func length(for position: CutPosition) -> String {
    switch position {
    case .time: duration.map { ": it lasts \(Text.time(ClockTime(positive: $0)))" } ?? ""
    case .picture: ": it has \(Text.count(pictureTimes.count, "picture"))"
    }
  }
}
