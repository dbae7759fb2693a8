// SPDX-License-Identifier: MPL-2.0
import Containers
import GStreamer

/// Times of a recording that follow the RTP timestamps alone, starting at 0.
///
/// A jitter buffer that corrects times by the arrival of packets, as display needs, puts the times of B-frames out of
/// order. Without that correction, it gives the first packet the time 0, and drops all packets that come later than
/// its latency.
struct RTPTimes {
  private var source: UInt32 = 0
  private var timestamp: UInt32 = 0
  private var arrival: Int64?
  /// The time, in nanoseconds, that timestamps count from, and the units of 1/90000 s since; `nil` before any packet.
  private var origin: Int64?
  private var ticks: Int64 = 0
  /// A step that differs by more than this from the step of arrival, in nanoseconds: the sender was started again.
  private static let greatestDifference: Int64 = 1_000_000_000
  /// The step from the last picture of a sender to the first of the next, in nanoseconds: their times must differ.
  private static let leastStep: Int64 = 10_000_000

  /// The time of the next packet.
  ///
  /// - Parameter arrival: the time that the jitter buffer gave it.
  mutating func next(_ packet: RTPPacket, arrival: ClockTime?) -> ClockTime {
    let arrival = arrival.map { Int64(clamping: $0.nanoseconds) } ?? self.arrival
    let step = Int64(Int32(bitPattern: packet.timestamp &- timestamp))
    let real = if let arrival, let before = self.arrival { arrival - before } else { Int64(0) }
    if origin == nil {
      origin = 0
    } else if packet.source != source || abs(Self.nanoseconds(step) - real) > Self.greatestDifference {
      (origin, ticks) = (time + max(real, Self.leastStep), 0)
    } else {
      ticks += step
    }
    (source, timestamp, self.arrival) = (packet.source, packet.timestamp, arrival)
    return ClockTime(nanoseconds: UInt64(max(time, 0)))
  }

  private var time: Int64 { (origin ?? 0) + Self.nanoseconds(ticks) }
  private static func nanoseconds(_ ticks: Int64) -> Int64 { ticks * 100_000 / 9 }
}
