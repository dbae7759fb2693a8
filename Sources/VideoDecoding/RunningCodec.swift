// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// A codec in use, and how far it has come.
struct RunningCodec {
  let codec: any CodecBoundary
  /// Access units that frame threads are still decoding.
  var inFlight = RingQueue<UInt64>()
  /// It is being drained.
  var isDraining = false
  /// The youngest access unit that it has taken.
  var youngest: UInt64?

  init(_ codec: any CodecBoundary) { self.codec = codec }

  /// Discards everything inside.
  mutating func flush() {
    codec.flush()
    inFlight.removeAll()
    isDraining = false
  }

  /// Whether it has come at least as far as `other`.
  func isAsFar(as other: RunningCodec) -> Bool {
    guard let reached = other.youngest else { return true }
    return youngest.map { $0 >= reached } ?? false
  }
}
