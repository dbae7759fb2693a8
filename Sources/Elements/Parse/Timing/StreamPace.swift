// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// Stage: how long the bytes of a raw file last, which gives its duration and the position of a time.
///
/// The part that was read from the start without a gap is known. The rest is estimated from the pictures that begin
/// in samples of it. The samples are taken before the first picture is output: the first pictures of a file are not
/// like the others.
struct StreamPace: Sendable {
  /// Bytes, and how long they last in nanoseconds.
  private struct Amount: Sendable {
    var bytes: UInt64 = 0
    var time: UInt64 = 0
  }

  /// The part that was read from the start without a gap.
  private var read = Amount()
  /// The pictures since the last call of ``consume(_:at:)``, in nanoseconds.
  private var pending: UInt64 = 0
  /// Parts of the file in order, by their samples; nil before they were taken.
  private var samples: [FileSample]?
  /// The duration of the file in nanoseconds, if all of it was read.
  private var total: UInt64?

  // MARK: Reading

  /// Whether samples are yet to be taken.
  var awaitsSamples: Bool { samples == nil }

  /// Takes samples of the whole file; none if it cannot be sampled.
  mutating func learn(_ samples: [FileSample]) {
    // Pictures may be so large that none begins in a sample.
    self.samples = samples.contains { $0.time > 0 } ? samples : []
    total = samples.allSatisfy(\.isWhole) ? samples.reduce(0) { $0.plus($1.time) } : nil
  }

  /// A picture, or a part of one, was found in the current data.
  mutating func notice(lasting duration: ClockTime?) { pending = pending.plus(duration?.nanoseconds ?? 0) }

  /// Data was consumed, with the pictures noticed since the last call.
  mutating func consume(_ size: Int, at offset: UInt64?) {
    // After a seek the same data comes again, or other data.
    if size > 0, offset == read.bytes {
      read = Amount(bytes: read.bytes.plus(UInt64(size)), time: read.time.plus(pending))
    }
    pending = 0
  }

  /// The current data will come again.
  mutating func interrupt() { pending = 0 }

  // MARK: Answers

  /// The average bitrate of the file in bit/s, or of the part that was read; nil if unknown.
  var bitrate: UInt32? {
    let end = samples?.last?.end ?? read.bytes
    guard let time = time(at: end), time > 0 else { return nil }
    return UInt32(clamping: end.scaled(by: 8 * ClockTime.second.nanoseconds, over: time))
  }

  /// The time in nanoseconds at a position in bytes; nil if unknown.
  func time(at position: UInt64) -> UInt64? {
    guard read.time > 0 else { return nil }
    guard position > read.bytes else { return position.scaled(by: read.time, over: read.bytes) }
    if let total, total >= read.time, position == samples?.last?.end { return total }
    var reached = read
    for sample in samples ?? [] where sample.end > reached.bytes && position > reached.bytes {
      let end = min(sample.end, position)
      let time = (end - reached.bytes).scaled(by: sample.time, over: sample.size)
      reached = Amount(bytes: end, time: reached.time.plus(time))
    }
    return position.scaled(by: reached.time, over: reached.bytes)
  }

  /// The position in bytes at a time in nanoseconds; nil if unknown.
  func position(at time: UInt64) -> UInt64? {
    guard read.time > 0 else { return nil }
    guard time > read.time else { return time.scaled(by: read.bytes, over: read.time) }
    var reached = read
    for sample in samples ?? [] where sample.end > reached.bytes {
      let rest = sample.end - reached.bytes
      let end = Amount(bytes: sample.end, time: reached.time.plus(rest.scaled(by: sample.time, over: sample.size)))
      guard end.time < time else {
        return reached.bytes.plus((time - reached.time).scaled(by: rest, over: end.time - reached.time))
      }
      reached = end
    }
    return time.scaled(by: reached.bytes, over: reached.time)
  }
}
