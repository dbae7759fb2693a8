// SPDX-License-Identifier: MPL-2.0

/// The part of a file that is looked at. What comes next in the file is read together with what was asked for, so that
/// small pieces cost no call each.
struct FileWindow {
  /// Bytes read together: they stay in the processor's cache while they are looked at.
  private static let pieceSize = 512 << 10
  /// Pieces that are no farther apart follow one another; sound may stand in between.
  private static let gap: UInt64 = 64 << 10

  /// The bytes at hand.
  private(set) var bytes: [UInt8] = []
  private var origin: UInt64 = 0

  /// Reads a range of the file where it is not at hand. Answers where in ``bytes`` it is; shorter where the file ends.
  mutating func load(_ range: Range<UInt64>, from source: FileBytes) -> Range<Int> {
    let upper = min(range.upperBound, source.size)
    guard range.lowerBound < upper else { return 0..<0 }
    let end = origin + UInt64(bytes.count)
    if range.lowerBound < origin || upper > end { fill(range.lowerBound..<upper, end: end, from: source) }
    let first = Int(clamping: range.lowerBound - origin)
    return first..<max(first, min(bytes.count, Int(clamping: upper - origin)))
  }

  private mutating func fill(_ range: Range<UInt64>, end: UInt64, from source: FileBytes) {
    let follows = range.lowerBound >= origin && range.lowerBound <= end.addingReportingOverflow(Self.gap).partialValue
    // What is at hand of it is kept.
    let kept = follows && range.lowerBound < end ? Int(clamping: end - range.lowerBound) : 0
    bytes.removeFirst(bytes.count - kept)
    origin = range.lowerBound
    let wanted = max(Int(clamping: range.upperBound - range.lowerBound), follows ? Self.pieceSize : 0)
    let count = min(wanted, Int(clamping: source.size - origin)) - kept
    if count > 0 { source.read(at: origin + UInt64(kept), count: count, appendingTo: &bytes) }
  }
}
