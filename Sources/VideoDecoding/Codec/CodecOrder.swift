// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// The codec's next step. The session carries it out, and reports the outcome to its core.
enum CodecOrder {
  /// Open a codec. If there is one, it is lost: keep it if none has come further, for the pictures inside.
  case open
  /// Decode the packet of an access unit, possibly in a replay.
  case decode(Packet, index: UInt64, isRepeated: Bool = false)
  /// Finish decoding the replayed access units.
  case finishReplay
  /// Output everything inside.
  case drain
  /// Discard everything inside.
  case flush
  /// Continue with the lost codec that has come furthest, and output everything inside.
  case drainLost
  /// Close the lost codec: another one has taken its place.
  case closeLost
  /// Close the codec.
  case close
}
