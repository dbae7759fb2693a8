// SPDX-License-Identifier: MPL-2.0
import StreamReport

/// The highest frame rate of a video, measured over half a second of presentation. A single interval would exaggerate
/// the rounding of times.
struct PeakFrameRate {
  private var queue = PresentationQueue<Int64>()
  /// When the frames of the last half second are shown, and the frame in front of them, in nanoseconds.
  private var times: ArraySlice<Int64> = []
  /// Frames a second; 0 for less than half a second.
  private var highest = 0.0

  /// In nanoseconds.
  private static let span: Int64 = 500_000_000

  /// Takes the next frame in decoding order.
  ///
  /// - Parameter time: when it is shown, in nanoseconds.
  mutating func add(_ time: Int64) {
    guard time >= 0, let next = queue.add(time, sequence: UInt64(time), order: 0) else { return }
    count(next)
  }

  private mutating func count(_ time: Int64) {
    times.append(time)
    while times.count > 2, time - times[times.startIndex + 1] >= Self.span { times.removeFirst() }
    guard let first = times.first, time - first >= Self.span else { return }
    highest = max(highest, Double(times.count - 1) * 1e9 / Double(time - first))
  }

  /// Frames a second; `nil` for a video of less than half a second.
  var framesPerSecond: Double? {
    var (all, rest) = (self, queue)
    for time in rest.finish() { all.count(time) }
    return all.highest > 0 ? all.highest : nil
  }
}
