// SPDX-License-Identifier: MPL-2.0

/// How much longer than usual frames are shown: with 3:2 pulldown every second one for a field period longer, with
/// frame doubling each for twice its time (`pic_struct`).
///
/// Frames are known by their place in presentation order, as if all lasted equally long. A frame that is shown before
/// those decoded so far may still be missing; it is taken to continue the cadence of the frames before it.
struct DisplayCadence: Sendable {
  /// Field periods beyond two for the frames since ``start``; nil for those that are not decoded yet.
  private var extras: [UInt8?] = []
  private var start: Int64 = 0
  /// Field periods beyond two of all frames before ``start``.
  private var settled: Int64 = 0

  /// More frames than are ever reordered.
  private static let limit = 64

  /// Whether every frame so far lasted as long as any other.
  var isRegular: Bool { settled == 0 && extras.isEmpty }

  /// A frame is shown at a place for so many field periods.
  mutating func show(at place: Int64, for periods: Int) {
    let extra = UInt8(clamping: max(periods, 2) - 2)
    if isRegular {
      guard extra > 0 else { return }
      // Frames that are shown before it may still come.
      start = max(0, place - Int64(Self.limit) / 2)
    }
    guard place >= start else { return }
    if place - start >= 2 * Int64(Self.limit) { settle(before: place - Int64(Self.limit)) }
    while Int64(extras.count) <= place - start { extras.append(nil) }
    extras[Int(place - start)] = extra
  }

  /// Field periods by which frames in front of a place last longer.
  func extra(before place: Int64) -> Int64 {
    guard place > start else { return settled }
    var sum = settled
    var (last, secondLast) = (UInt8(0), UInt8(0))
    for known in extras.prefix(Int(min(place - start, Int64(extras.count)))) {
      // Three periods come between two of two; doubled and tripled frames come in a row.
      let extra = known ?? (last == 1 ? 0 : last > 1 ? last : secondLast == 1 ? 1 : 0)
      sum += Int64(extra)
      (secondLast, last) = (last, extra)
    }
    return sum
  }

  /// Frames that are missing in front of this place do not come any more.
  private mutating func settle(before place: Int64) {
    let count = Int(min(place - start, Int64(extras.count)))
    for extra in extras.prefix(count) { settled += Int64(extra ?? 0) }
    extras.removeFirst(count)
    start = place
  }
}
