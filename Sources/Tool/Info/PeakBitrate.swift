// SPDX-License-Identifier: MPL-2.0
import H26x

/// The highest bitrate of a video stream, measured over one second of decoding.
struct PeakBitrate {
  /// Slots of time in a second.
  private static let slots: Int64 = 100

  /// Times that may belong to a later access unit, in order. Presentation times are not in the order of decoding: the
  /// n-th access unit gets the n-th time.
  private var times: [Double] = []
  /// The sizes of as many access units, in decoding order.
  private var sizes: ArraySlice<Int> = []
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
    sizes.append(size)
    times.insert(seconds, at: times.lastIndex { $0 <= seconds }.map { $0 + 1 } ?? 0)
    if times.count > FormatDescription.deepestReordering { countNext() }
  }

  private mutating func countNext() {
    let (size, seconds) = (sizes.removeFirst(), times.removeFirst())
    var slot = Int64((max(-1e12, min(1e12, seconds)) * Double(Self.slots)).rounded())
    if let end = window.last?.slot, slot < end {
      // Clocks that start again go back further.
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
      window.append((slot, size))
    }
    highest = max(highest, bytes)
    first = min(first ?? slot, slot)
    last = max(last, slot)
  }

  /// Bits in the second with the most of them; `nil` for a stream of less than a second.
  var bitsPerSecond: Double? {
    var all = self
    while !all.times.isEmpty { all.countNext() }
    guard let first = all.first, all.last - first >= Self.slots - 1 else { return nil }
    return Double(all.highest) * 8
  }
}
