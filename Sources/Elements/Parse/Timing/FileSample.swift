// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// A part of a file, and how long it lasts by a sample of it.
struct FileSample: Sendable {
  /// The beginning of the part, in bytes.
  let start: UInt64
  /// The end, not before the beginning.
  let end: UInt64
  /// Its duration, in nanoseconds.
  private(set) var time: UInt64 = 0
  /// The pictures that were found in ``window``.
  private(set) var pictures = 0
  /// The most bytes to look at.
  private var sampleSize = UInt64(ParserLimits.sampleSize)

  init(start: UInt64, end: UInt64) { (self.start, self.end) = (start, end) }

  /// Parts of about equal size that make up a file of `size` bytes, none of them empty.
  static func parts(of size: UInt64) -> [FileSample] {
    guard size > 0 else { return [] }
    let count = min(max(size / UInt64(ParserLimits.samplePart), 1), UInt64(ParserLimits.sampleCount))
    return (0..<count).map { index in
      FileSample(start: index.scaled(by: size, over: count), end: (index + 1).scaled(by: size, over: count))
    }
  }

  /// Whether all of the part is looked at.
  var isWhole: Bool { sampleSize >= size }

  /// Bytes of the part.
  var size: UInt64 { end - start }

  /// The bytes to look at: all of them, or as many as a sample has, in the middle.
  var window: Range<UInt64> {
    let margin = (size - min(size, sampleSize)) / 2
    return start + margin..<end - margin
  }

  /// The same parts with more bytes of each, if these had too few pictures for an average. Returns nil if they had
  /// enough, or were read as a whole.
  static func enlarged(_ samples: [FileSample]) -> [FileSample]? {
    let found = samples.reduce(0) { $0 + $1.pictures }
    guard found < ParserLimits.sampledPictures, !samples.allSatisfy(\.isWhole) else { return nil }
    let factor = UInt64((ParserLimits.sampledPictures + found) / max(found, 1))
    return samples.map { sample in
      var larger = sample
      larger.sampleSize = min(sample.sampleSize * factor, UInt64(ParserLimits.largeSampleSize))
      return larger
    }
  }

  /// Takes how long the pictures last that begin in ``window``, and their number.
  mutating func measure(_ duration: ClockTime, pictures: Int) {
    self.pictures = pictures
    time = duration.nanoseconds.scaled(by: size, over: window.upperBound - window.lowerBound)
  }
}
