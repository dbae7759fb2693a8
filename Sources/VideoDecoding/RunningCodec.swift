// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// A codec in use, and where it is.
struct RunningCodec {
  let codec: any CodecBoundary
  /// Access units whose decoding is not finished, because frames are decoded in parallel.
  var inFlight = RingQueue<UInt64>()
  /// It is putting everything out.
  var isDraining = false
  /// The youngest access unit that it has taken.
  var youngest: UInt64?

  init(_ codec: any CodecBoundary) { self.codec = codec }

  /// It forgets everything.
  mutating func flush() {
    codec.flush()
    inFlight.removeAll()
    isDraining = false
  }

  /// Whether it has come at least as far as another.
  func isAsFar(as other: RunningCodec) -> Bool {
    guard let reached = other.youngest else { return true }
    return youngest.map { $0 >= reached } ?? false
  }
}
