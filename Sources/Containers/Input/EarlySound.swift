// SPDX-License-Identifier: MPL-2.0
import AVFormat

/// Sound in front of time 0, such as the priming of AAC: in Matroska, libavformat gives it no times. It is held until
/// the next packets of its stream show when it ends and how long a packet lasts.
struct EarlySound {
  typealias Packet = OtherStreams.Packet

  final class HeldPacket {
    var packet: Packet?

    init(_ packet: consuming Packet) { self.packet = .some(packet) }
  }

  /// Held packets by the index of their stream, in the order of the file.
  private var held: [Int: [HeldPacket]] = [:]

  /// Packets whose time never became known.
  private(set) var untimed = 0

  /// More packets than prime any decoder are not held.
  private var isFull: Bool { held.values.reduce(0) { $0 + $1.count } >= 64 }

  func holds(_ stream: Int) -> Bool { held[stream] != nil }

  /// Takes a packet without a time.
  ///
  /// - Parameter isEarly: whether its stream has not begun to have times.
  mutating func hold(_ packet: consuming Packet, _ isEarly: Bool) {
    if isEarly, !isFull { hold(packet) } else { untimed += 1 }
  }

  private mutating func hold(_ packet: consuming Packet) {
    held[packet.stream.index, default: []].append(HeldPacket(packet))
  }

  /// Takes the next packet with a time of a stream of which packets are held.
  ///
  /// - Returns: all of them, with times, once the packet has a duration. The first packet with a time may have none.
  mutating func take(_ packet: consuming Packet) -> [HeldPacket] {
    let (stream, usual) = (packet.stream, packet.packet.duration)
    hold(packet)
    guard usual > 0 else { return [] }
    let packets = held.removeValue(forKey: stream.index) ?? []
    var next: Int64?
    for held in packets.reversed() {
      guard var packet = held.packet.take() else { continue }
      if packet.packet.duration <= 0 { packet.packet.duration = usual }
      if let ticks = packet.packet.decoding ?? packet.packet.presentation {
        next = ticks
      } else if let end = next {
        let ticks = end &- packet.packet.duration
        (packet.packet.presentation, packet.packet.decoding) = (ticks, ticks)
        packet.time = stream.timeBase.nanoseconds(ticks)
        next = ticks
      }
      held.packet = consume packet
    }
    return packets
  }

  /// Takes the end of the file. Returns the held packets with a time.
  mutating func finish() -> [HeldPacket] {
    var timed: [HeldPacket] = []
    for held in held.values.joined() {
      guard let packet = held.packet.take() else { continue }
      if packet.packet.decoding ?? packet.packet.presentation == nil {
        untimed += 1
      } else {
        timed.append(HeldPacket(packet))
      }
    }
    held = [:]
    return timed
  }
}
