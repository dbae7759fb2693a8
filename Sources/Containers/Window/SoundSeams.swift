// SPDX-License-Identifier: MPL-2.0
import AVFormat

/// Joins the sound of several ranges. Packets stay whole: each follows the one before it without a gap, and lies at most
/// half a packet from its place, however many ranges there are.
struct SoundSeams {
  /// When the last packet of a stream ends, in ticks of its file, since the beginning of the presentation.
  private var ends: [Int: (ticks: Int64, base: TimeBase)] = [:]
  /// How much later packets of the range are written than they belong, in the same ticks.
  private var shifts: [Int: Int64] = [:]

  /// Begins the next range.
  mutating func beginRange() { shifts = [:] }

  /// Moves a packet behind the packet in front of it. Returns false if the packet belongs to no range.
  ///
  /// - Parameters:
  ///   - stream: the number of the stream in the first file.
  ///   - zero: the time of the packet's media at which the presentation begins, in ticks of the stream.
  ///   - start: the time of the packet's media at which its range begins, in the same ticks; `nil` if no range is in front
  ///     of it.
  ///   - end: the time of the packet's media at which another range follows, in the same ticks; `nil` if none does.
  mutating func place(
    _ packet: inout OtherStreams.Packet, of stream: Int, zero: Int64, start: Int64?, end: Int64?
  ) -> Bool {
    guard packet.stream.kind == .audio, let begin = packet.packet.presentation else { return true }
    let (base, duration) = (packet.stream.timeBase, max(packet.packet.duration, 0))
    let (place, half) = (begin &- zero, (duration &+ 1) / 2)
    if shifts[stream] == nil {
      let (last, first) = (ends[stream].map { base.rescaled($0.ticks, from: $0.base) }, start.map { $0 &- zero })
      if let last, first.map({ $0 &- last < duration }) ?? true {
        guard place &+ half >= last else { return false }
        // Silence in the source stays.
        shifts[stream] = place &- last <= half ? last &- place : 0
      } else {
        // The range in front ends with silence.
        guard first.map({ place &+ half >= $0 }) ?? true else { return false }
        shifts[stream] = 0
      }
    }
    let shift = shifts[stream] ?? 0
    guard self.end(stream, base, place &+ shift, duration, end.map { $0 &- zero }) else { return false }
    packet.packet.presentation = begin &+ shift
    packet.packet.decoding = packet.packet.decoding.map { $0 &+ shift }
    return true
  }

  /// Returns whether more of a packet lies in front of the range's end than behind it. The stream ends with it then.
  private mutating func end(
    _ stream: Int, _ base: TimeBase, _ place: Int64, _ duration: Int64, _ end: Int64?
  ) -> Bool {
    if let end, place &+ duration / 2 >= end { return false }
    ends[stream] = (place &+ duration, base)
    return true
  }
}
