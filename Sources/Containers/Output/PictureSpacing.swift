// SPDX-License-Identifier: MPL-2.0

/// How far apart the latest pictures are shown. FLV, and transport streams of video without a frame rate, do not have
/// the durations of pictures. Without a duration, the last picture would not be shown.
struct PictureSpacing {
  /// Presentation times, ascending.
  private var times: [Int64] = []

  /// More pictures than can be decoded before a picture that is shown earlier.
  private static let limit = 17
  /// 1/25 second in nanoseconds, if nothing is known.
  private static let usualDuration: Int64 = 40_000_000

  /// Takes the presentation time of the next picture in decoding order.
  mutating func add(_ time: Int64) {
    let place = times.firstIndex { $0 >= time } ?? times.endIndex
    times.insert(time, at: place)
    if times.count > Self.limit { times.removeFirst() }
  }

  /// The duration of a picture of which none is known: the shortest distance of two others.
  var duration: Int64 {
    let distances = zip(times, times.dropFirst()).lazy.map { $1.subtractingReportingOverflow($0).partialValue }
    return distances.filter { $0 > 0 }.min() ?? Self.usualDuration
  }
}
