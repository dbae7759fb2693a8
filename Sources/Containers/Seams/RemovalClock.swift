// SPDX-License-Identifier: MPL-2.0
import H26x

/// Follows the coded picture buffer. Counts when encoded pictures leave it, as picture timing of H.264 does (C.1.2):
/// since the last access unit with a buffering period.
struct RemovalClock {
  /// The delays of a picture in clock ticks, modulo 2³².
  struct Delays {
    /// `cpb_removal_delay`.
    let removal: UInt32
    /// `dpb_output_delay`.
    let output: UInt32
  }

  /// The decoding time of the last access unit with a buffering period; `nil` for none. Entries have one.
  private var period: Int64?
  /// The end of the range's pictures up to now; `nil` before the first one.
  private var end: Int64?
  /// The time from the last buffering period to the end of the range before.
  private var rest: Int64?
  /// The latest access units: when they were removed, and how many bits they had.
  private var removed: [(time: Int64, bits: Double)] = []
  /// More than a buffer holds, in most streams.
  private static let removedLimit = 1024

  /// Takes a copied access unit.
  mutating func take(_ accessUnit: MediaOutput.AccessUnit) {
    begin(at: accessUnit.presentation)
    if accessUnit.role.start != .none { period = accessUnit.decoding }
    end = max(end ?? .min, accessUnit.presentation &+ accessUnit.duration)
    remove(accessUnit)
  }

  /// Takes an access unit out of the buffer.
  mutating func remove(_ accessUnit: MediaOutput.AccessUnit) {
    if removed.count == 2 * Self.removedLimit { removed.removeFirst(Self.removedLimit) }
    removed.append((accessUnit.decoding, Double(accessUnit.bytes.count) * 8))
  }

  /// How full the buffer is before an encoded picture that begins a seam, from 0 to 1.
  ///
  /// - Parameters:
  ///   - time: the decoding time.
  ///   - limit: bits a second into the buffer, and its size.
  ///   - initial: how full it is at first.
  mutating func fullness(
    at time: Int64, presentation: Int64, _ limit: (bitRate: Int, bufferSize: Int), initial: Double
  ) -> Double {
    begin(at: presentation)
    let size = Double(limit.bufferSize)
    guard size > 0, var last = removed.first?.time else { return initial }
    var bits = size * initial
    func fill(until time: Int64) {
      bits = min(size, bits + Double(max(0, time &- last)) / 1e9 * Double(limit.bitRate))
      last = max(last, time)
    }
    for picture in removed {
      fill(until: picture.time)
      bits = max(0, bits - picture.bits)
    }
    fill(until: time)
    return min(bits / size, initial)
  }

  /// Takes the encoded pictures of a seam, of which the first has a buffering period.
  ///
  /// - Parameters:
  ///   - pictures: with their decoding times.
  ///   - tick: in nanoseconds; `nil` if the pictures have no delays.
  /// - Returns: the delays of each; empty if they have none.
  mutating func delays(of pictures: [MediaOutput.AccessUnit], tick: Double?) -> [Delays] {
    guard let first = pictures.first else { return [] }
    begin(at: first.presentation)
    defer { period = first.decoding }
    end = pictures.map { $0.presentation &+ $0.duration }.reduce(end ?? .min, max)
    guard let tick, tick > 0 else { return [] }
    func ticks(_ time: Int64) -> Int64 {
      let count = (Double(time &- first.decoding) / tick).rounded()
      return abs(count) < 1e15 ? Int64(count) : 0
    }
    var last: Int64 = -1
    return pictures.enumerated().map { number, picture in
      // Pictures are removed one after another, however close their times are.
      let removed = max(ticks(picture.decoding), last + 1)
      last = removed
      let sincePeriod = number > 0 ? removed : period.map { max(1, -ticks($0)) } ?? 0
      return Delays(
        removal: UInt32(truncatingIfNeeded: sincePeriod),
        output: UInt32(truncatingIfNeeded: max(ticks(picture.presentation) - removed, 0)))
    }
  }

  /// Ends a range. The pictures of the next one follow at once.
  mutating func finishRange() {
    guard let end else { return }
    rest = period.map { end &- $0 }
    for place in removed.indices { removed[place].time &-= end }
    (period, self.end) = (nil, nil)
  }

  private mutating func begin(at presentation: Int64) {
    guard end == nil else { return }
    period = rest.map { presentation &- $0 }
    for place in removed.indices { removed[place].time &+= presentation }
    end = presentation
  }
}
