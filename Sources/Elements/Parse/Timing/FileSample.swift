// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// A part of a file, and how long it lasts by a sample of it.
struct FileSample: Sendable {
  /// Where the part begins, in bytes.
  let start: UInt64
  /// Where it ends, not before it begins.
  let end: UInt64
  /// How long it lasts, in nanoseconds.
  private(set) var time: UInt64 = 0

  /// Parts of about equal size that make up a file of `size` bytes, none of them empty.
  static func parts(of size: UInt64) -> [FileSample] {
    guard size > 0 else { return [] }
    let count = min(max(size / UInt64(ParserLimits.samplePart), 1), UInt64(ParserLimits.sampleCount))
    return (0..<count).map { index in
      FileSample(start: index.scaled(by: size, over: count), end: (index + 1).scaled(by: size, over: count))
    }
  }

  /// Bytes of the part.
  var size: UInt64 { end - start }

  /// The bytes to look at: all of them, or as many as a sample has, in the middle.
  var window: Range<UInt64> {
    let margin = (size - min(size, UInt64(ParserLimits.sampleSize))) / 2
    return start + margin..<end - margin
  }

  /// Takes how long the pictures last that begin in ``window``.
  mutating func measure(_ duration: ClockTime) {
    time = duration.nanoseconds.scaled(by: size, over: window.upperBound - window.lowerBound)
  }
}
