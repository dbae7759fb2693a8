// SPDX-License-Identifier: MPL-2.0

/// The timestamps of packets that do not begin and end with access units, such as PES packets.
///
/// They belong to the first access unit that begins in the packet; others have none (ISO/IEC 13818-1, 2.4.3.7).
struct PacketTimes: Sendable {
  private struct Packet {
    let offset: UInt64
    let sample: AccessUnitRecord.Sample?
  }

  /// The packets in which an access unit may begin that was not asked for yet, in order.
  private var packets: [Packet] = []
  /// More packets than any access unit has: the oldest are given up.
  private static let limit = 1 << 16

  /// Adds the packet whose first byte is at this offset of the stream.
  mutating func add(_ sample: AccessUnitRecord.Sample?, at offset: UInt64) {
    if packets.count == Self.limit { packets.removeFirst(Self.limit / 2) }
    packets.append(Packet(offset: offset, sample: sample))
  }

  /// The timestamps of the access unit that begins at this offset. Offsets ascend from call to call.
  mutating func take(at offset: UInt64) -> AccessUnitRecord.Sample? {
    guard let next = packets.firstIndex(where: { $0.offset > offset }) ?? (packets.isEmpty ? nil : packets.count),
      next > 0
    else { return nil }
    defer { packets.removeFirst(next) }
    return packets[next - 1].sample
  }
}
