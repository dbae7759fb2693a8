// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// A codec in use, and how far it has come.
struct RunningCodec {
  let codec: any CodecBoundary
  /// Access units that frame threads are still decoding.
  private var inFlight = RingQueue<UInt64>()
  /// It is being drained.
  private(set) var isDraining = false
  /// The youngest access unit that it has taken.
  private var youngest: UInt64?

  init(_ codec: any CodecBoundary) { self.codec = codec }

  /// It has taken an access unit.
  mutating func take(_ index: UInt64) {
    inFlight.append(index)
    youngest = index
  }

  /// The access unit whose decoding ends because threads are still at so many later ones; nil when none ends.
  mutating func takeDecoded(behind threads: Int) -> UInt64? { inFlight.count > threads ? inFlight.popFirst() : nil }

  /// The access unit whose decoding ends next; nil when none is left.
  mutating func takeDecoded() -> UInt64? { inFlight.popFirst() }

  /// It is drained from now on.
  mutating func beginDraining() { isDraining = true }

  /// Forgets what its codec, which was flushed, has forgotten.
  mutating func forget() {
    inFlight.removeAll()
    isDraining = false
  }

  /// Whether it has come at least as far as `other`.
  func isAsFar(as other: RunningCodec) -> Bool {
    guard let reached = other.youngest else { return true }
    return youngest.map { $0 >= reached } ?? false
  }
}
