// SPDX-License-Identifier: MPL-2.0

/// The highest bitrate of a video stream, measured over one second of decoding.
struct PeakBitrate {
  /// Slots of time in a second.
  private static let slots: Int64 = 100

  /// The bytes of the last second, in the order of their slots.
  private var window: ArraySlice<(slot: Int64, bytes: Int)> = []
  private var bytes = 0
  private var highest = 0
  private var first: Int64?
  private var last: Int64 = 0

  /// Adds an access unit.
  ///
  /// - Parameters:
  ///   - size: its bytes.
  ///   - seconds: its decoding time, or its presentation time if that is not known.
  mutating func add(_ size: Int, at seconds: Double) {
    var slot = Int64((max(-1e12, min(1e12, seconds)) * Double(Self.slots)).rounded())
    if let end = window.last?.slot, slot < end {
      // Presentation times are out of order. Clocks that start again go back further.
      if end - slot > Self.slots { (window, bytes) = ([], 0) } else { slot = end }
    }
    while let oldest = window.first, oldest.slot <= slot - Self.slots {
      bytes &-= oldest.bytes
      window.removeFirst()
    }
    bytes &+= size
    if window.last?.slot == slot {
      window[window.endIndex - 1].bytes &+= size
    } else {
      // Appending to a slice copies what is left of it when its buffer is full: a second at most.
      window.append((slot, size))
    }
    highest = max(highest, bytes)
    first = min(first ?? slot, slot)
    last = max(last, slot)
  }

  /// Bits in the second with the most of them; `nil` for a stream of less than a second.
  var bitsPerSecond: Double? {
    guard let first, last - first >= Self.slots - 1 else { return nil }
    return Double(highest) * 8
  }
}
