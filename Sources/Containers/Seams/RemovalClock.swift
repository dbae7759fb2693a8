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
  /// When the last encoded picture is removed, in ticks since the last buffering period.
  private var lastCount: Int64 = 0
  /// How full the buffer is at first, from 0 to 1; `nil` if that is not known.
  private var initial: Double?
  /// The latest access units: when they were removed, and how many bits they had.
  private var removed: [(time: Int64, bits: Double)] = []
  /// More than a buffer holds, in most streams.
  private static let removedLimit = 1024

  /// Whether nothing was removed from the buffer yet.
  var isAtStart: Bool { removed.isEmpty }

  /// Begins with a buffer that is so full, from 0 to 1; `nil` if that is not known.
  mutating func begin(fullness: Double?) { if isAtStart { initial = fullness } }

  /// Takes a copied access unit.
  mutating func take(_ accessUnit: MediaOutput.AccessUnit) {
    begin(at: accessUnit.presentation)
    if accessUnit.role.start != .none { (period, lastCount) = (accessUnit.decoding, 0) }
    end = max(end ?? .min, accessUnit.presentation &+ accessUnit.duration)
    remove(accessUnit)
  }

  /// Takes an access unit out of the buffer.
  mutating func remove(_ accessUnit: MediaOutput.AccessUnit) {
    if removed.count == 2 * Self.removedLimit {
      removed.removeFirst(Self.removedLimit)
      initial = nil
    }
    removed.append((accessUnit.decoding, Double(accessUnit.bytes.count) * 8))
  }

  /// How full the buffer is before an encoded picture that begins a seam, from 0 to 1.
  ///
  /// - Parameters:
  ///   - time: the decoding time.
  ///   - limit: bits a second into the buffer, and its size.
  ///   - usual: how full it is at first if that is not known.
  ///   - isConstant: whether bits come at a constant rate. Otherwise, it is never fuller than usual.
  mutating func fullness(
    at time: Int64, presentation: Int64, _ limit: (bitRate: Int, bufferSize: Int), usual: Double, isConstant: Bool
  ) -> Double {
    begin(at: presentation)
    let size = Double(limit.bufferSize)
    guard size > 0, var last = removed.first?.time else { return usual }
    var bits = size * (initial ?? usual)
    func fill(until time: Int64) {
      bits = min(size, bits + Double(max(0, time &- last)) / 1e9 * Double(limit.bitRate))
      last = max(last, time)
    }
    for picture in removed {
      fill(until: picture.time)
      bits = max(0, bits - picture.bits)
    }
    fill(until: time)
    return isConstant ? bits / size : min(bits / size, usual)
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
    end = pictures.map { $0.presentation &+ $0.duration }.reduce(end ?? .min, max)
    guard let tick, tick > 0 else {
      (period, lastCount) = (first.decoding, 0)
      return []
    }
    var delays: [Delays] = []
    for (number, picture) in pictures.enumerated() {
      let removal = removalCount(of: picture, tick: tick)
      if number == 0 { (period, lastCount) = (first.decoding, 0) } else { lastCount = removal ?? 0 }
      let output = ticks(picture.presentation &- first.decoding, tick) - lastCount
      delays.append(
        Delays(
          removal: UInt32(truncatingIfNeeded: removal ?? 0), output: UInt32(truncatingIfNeeded: max(output, 0))))
    }
    return delays
  }

  /// When an access unit is removed: in ticks since the last one with a buffering period; `nil` without one.
  ///
  /// - Parameter tick: in nanoseconds.
  mutating func removalCount(of accessUnit: MediaOutput.AccessUnit, tick: Double) -> Int64? {
    begin(at: accessUnit.presentation)
    // Pictures are removed one after another, however close their times are.
    return period.map { max(ticks(accessUnit.decoding &- $0, tick), lastCount + 1) }
  }

  private func ticks(_ time: Int64, _ tick: Double) -> Int64 {
    let count = tick > 0 ? (Double(time) / tick).rounded() : 0
    return abs(count) < 1e15 ? Int64(count) : 0
  }

  /// Ends a range. The pictures of the next one follow at once.
  mutating func finishRange() {
    guard let end else { return }
    rest = period.map { end &- $0 }
    for place in removed.indices { removed[place].time &-= end }
    (period, self.end, lastCount) = (nil, nil, 0)
  }

  private mutating func begin(at presentation: Int64) {
    guard end == nil else { return }
    period = rest.map { presentation &- $0 }
    for place in removed.indices { removed[place].time &+= presentation }
    end = presentation
  }
}
