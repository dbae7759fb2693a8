// SPDX-License-Identifier: MPL-2.0

/// The times of a container's samples, in decoding order.
struct SampleTimes: Sendable {
  /// Ticks a second; 0 without any.
  var timescale: UInt32 = 0
  /// The sample before.
  private(set) var last: AccessUnitRecord.Sample?

  /// Takes the next sample; nil for an access unit of which the container has none.
  mutating func take(_ sample: AccessUnitRecord.Sample?) { last = sample ?? last }

  /// Seconds between the sample before and this one, in decoding order; nil if the container does not have it.
  func interval(before sample: AccessUnitRecord.Sample?) -> Double? {
    guard let sample, timescale > 0 else { return nil }
    if let time = sample.dts, let last = last?.dts, time > last {
      return (Double(time) - Double(last)) / Double(timescale)
    }
    guard let duration = last?.duration, duration > 0 else { return nil }
    return Double(duration) / Double(timescale)
  }
}

/// The timestamps of packets that do not begin and end with access units, such as PES packets.
///
/// They belong to the first access unit that begins in the packet; others have none (ISO/IEC 13818-1, 2.4.3.7).
package struct PacketTimes: Sendable {
  private struct Packet {
    let offset: UInt64
    let sample: AccessUnitRecord.Sample?
  }

  /// The packets in which an access unit may begin that was not asked for yet, in order.
  private var packets: [Packet] = []
  /// More packets than any access unit has: the oldest are given up.
  private static let limit = 1 << 16

  package init() {}

  /// Adds the packet whose first byte is at this offset of the stream.
  package mutating func add(_ sample: AccessUnitRecord.Sample?, at offset: UInt64) {
    if packets.count == Self.limit { packets.removeFirst(Self.limit / 2) }
    packets.append(Packet(offset: offset, sample: sample))
  }

  /// The timestamps of the access unit that begins at this offset. Offsets ascend from call to call.
  package mutating func take(at offset: UInt64) -> AccessUnitRecord.Sample? {
    guard let next = packets.firstIndex(where: { $0.offset > offset }) ?? (packets.isEmpty ? nil : packets.count),
      next > 0
    else { return nil }
    defer { packets.removeFirst(next) }
    return packets[next - 1].sample
  }
}
