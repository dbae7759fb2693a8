// SPDX-License-Identifier: MPL-2.0
import Containers
import GStreamer
import H26x
import Synchronization

/// Watches the packets of a stream: keeps faulty packets from the depayloader, and records why no picture came.
final class RTPPackets: Sendable {
  private struct State {
    /// Datagrams at the socket, if this program has opened it.
    var datagrams = 0
    var transportStream = 0
    /// The payload type of the last RTP packet at the socket.
    var payloadType: UInt8?
    /// Packets that reached the depayloader.
    var packets = 0
    var broken = 0
    var likely: [FormatDescription.Codec: Int] = [:]
    var times = RTPTimes()
  }
  private let state = Mutex(State())

  /// Packets that were kept from the depayloader.
  var broken: Int { state.withLock { $0.broken } }

  /// Counts the packets from a socket.
  func count(at pad: PipelinePad?) {
    pad?.decideBuffers { [self] _, bytes in
      let packet = RTPPacket(bytes)
      let isTransport = Self.isTransport(bytes, packet?.payload ?? 0..<bytes.count)
      state.withLock { state in
        state.datagrams += 1
        if isTransport { state.transportStream += 1 }
        if let packet { state.payloadType = packet.payloadType }
      }
      return .pass
    }
  }

  /// Drops broken packets in front of a depayloader.
  ///
  /// - Parameter keepsTimes: whether times follow RTP timestamps only.
  func check(at pad: PipelinePad?, _ codec: FormatDescription.Codec, keepsTimes: Bool) {
    pad?.decideBuffers { [self] pts, bytes in
      let packet = RTPPacket(bytes)
      let likely = packet?.likelyCodec(bytes)
      return state.withLock { state in
        state.packets += 1
        if let likely { state.likely[likely, default: 0] += 1 }
        guard let packet, packet.isSound(bytes, codec) else {
          state.broken += 1
          return .drop
        }
        return keepsTimes ? .retime(state.times.next(packet, arrival: pts)) : .pass
      }
    }
  }

  private static func isTransport(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
    range.count >= 188 && bytes[range.lowerBound] == 0x47
  }

  /// Why no picture was received, as far as that is known: ` in 600 packets, which …`; empty if nothing came.
  func reason(_ codec: FormatDescription.Codec, payload: Int32?) -> String {
    let state = state.withLock { $0 }
    let count = max(state.datagrams, state.packets)
    guard count > 0 else { return "" }
    let other: FormatDescription.Codec = codec == .h264 ? .h265 : .h264
    let reason =
      if state.transportStream * 2 > count {
        "which contain MPEG-TS; expected \(codec.name) in RTP"
      } else if let type = state.payloadType, let payload, type != payload, state.packets == 0 {
        "of payload type \(type), not \(payload): --payload \(type)"
      } else if state.packets == 0, state.payloadType == nil {
        "which are not RTP"
      } else if state.likely[other, default: 0] > state.likely[codec, default: 0] {
        payload == nil
          ? "which look like \(other.name), not \(codec.name)"
          : "which look like \(other.name): --codec h\(other.digits)"
      } else if state.broken * 2 > state.packets {
        "which are not \(codec.name)"
      } else {
        "without parameter sets, or before a keyframe came"
          + (payload == nil ? "" : ": the sender's SDP file may have them (h26x receive FILE.sdp)")
      }
    return " in \(Text.count(count, "packet")), \(reason)"
  }
}
