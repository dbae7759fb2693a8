// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// What the codec is to do next. The session carries it out, and reports to its core how that went.
enum CodecOrder {
  /// Open a codec.
  case open
  /// Decode the packet of an access unit; again, where it is replayed.
  case decode(Packet, index: UInt64, isRepeated: Bool = false)
  /// Output everything inside.
  case drain
  /// Discard everything inside.
  case flush
  /// The codec is lost: keep it if none has come further, for the pictures inside.
  case setAside
  /// Continue with the lost codec that has come furthest.
  case takeBack
  /// Close the lost codec: another one has taken its place.
  case closeLost
  /// Close the codec.
  case close
}

/// How far a codec's output is behind its input.
struct CodecStatus {
  /// Frames held back for reordering.
  var reorderDepth = 0
  /// Frames held back by frame threads.
  var threadDelay = 0
}

/// What happens while a codec carries out an order.
enum CodecEvent: ~Copyable {
  /// Decoding of an access unit has ended, perhaps with an error; libavcodec found these errors in its picture.
  case decoded(index: UInt64, AVError?, FrameErrors)
  /// An error that has ended no decoding.
  case failed(index: UInt64, AVError)
  /// A picture comes out; libavcodec found these errors in it.
  case picture(Frame, FrameErrors, isDraining: Bool, CodecStatus)
}
