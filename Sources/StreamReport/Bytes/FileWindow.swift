// SPDX-License-Identifier: MPL-2.0

/// The part of a file that is in memory. It reads ahead, so that small ranges in ascending order need few reads.
struct FileWindow {
  /// Bytes of one read, for a range that follows the range before.
  private let pieceSize: Int
  /// The most bytes between two ranges, such as audio, that still count as ascending order.
  private static let gap: UInt64 = 64 << 10

  /// The bytes in memory.
  private(set) var bytes: [UInt8] = []
  private var origin: UInt64 = 0

  /// - Parameter pieceSize: bytes of one read. As a rule few enough to stay in the processor's cache until they are
  ///   processed.
  init(pieceSize: Int = 512 << 10) { self.pieceSize = pieceSize }

  /// Reads a range of the file, unless it is in memory. Returns its range in ``bytes``; shorter at the end of the
  /// file.
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
    // Keeps the part that is in memory.
    let kept = follows && range.lowerBound < end ? Int(clamping: end - range.lowerBound) : 0
    bytes.removeFirst(bytes.count - kept)
    origin = range.lowerBound
    let wanted = max(Int(clamping: range.upperBound - range.lowerBound), follows ? pieceSize : 0)
    let count = min(wanted, Int(clamping: source.size - origin)) - kept
    if count > 0 { source.read(at: origin + UInt64(kept), count: count, appendingTo: &bytes) }
  }
}
