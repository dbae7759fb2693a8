// SPDX-License-Identifier: MPL-2.0
import H26x

/// Splits a byte stream that is read in pieces into NAL units. Memory is in proportion to the longest NAL unit, up to
/// `limit`.
struct ByteStreamReader: Sendable {
  /// Bytes of one read: few enough to stay in the processor's cache until they are processed.
  static let pieceSize = 256 << 10
  /// The bytes at the start that are searched to recognize the format.
  static let frontSize = 1 << 20
  /// The most bytes of a NAL unit; a longer one is split. A picture of level 6.2 may have 100 MB.
  static let limit = 256 << 20

  /// The next part of the stream.
  enum Step: Sendable {
    /// A NAL unit: its range in `bytes`, the length of its start code, and its offset in the file.
    case nalUnit(range: Range<Int>, prefix: Int, offset: UInt64)
    /// This many bytes before the first start code.
    case garbage(UInt64, offset: UInt64)
    /// More bytes are needed.
    case needsMore
    /// The end of the stream.
    case end
  }

  /// The bytes that have been read and are still needed.
  private(set) var bytes: [UInt8] = []
  private var scanner = AnnexB.Scanner()
  /// The offset of `bytes` in the file.
  private var origin: UInt64 = 0
  private var isComplete = false
  private var hasBegun = false
  /// The end in the file of the last byte before the first start code that is not zero.
  private var garbageEnd: UInt64 = 0

  /// The offset of the next piece in the file.
  var position: UInt64 { origin + UInt64(bytes.count) }

  /// Appends bytes to `bytes`; none means the end.
  mutating func append(_ piece: [UInt8]) {
    discardDone()
    if piece.isEmpty { isComplete = true }
    bytes += piece
  }

  /// Reads the next piece; nothing more means the end.
  mutating func read(from source: FileBytes) {
    discardDone()
    let count = bytes.count
    source.read(at: position, count: Self.pieceSize, appendingTo: &bytes)
    if bytes.count == count { isComplete = true }
  }

  private mutating func discardDone() {
    let done = min(scanner.pendingStartCode ?? max(0, scanner.searchedOffset - 1), bytes.count)
    if done > 0 {
      if !hasBegun { noteGarbage(before: done) }
      bytes.removeFirst(done)
      scanner.discard(done)
      origin += UInt64(done)
    }
  }

  /// The next part of the stream.
  mutating func next() -> Step {
    if !hasBegun, !bytes.isEmpty || isComplete, let step = begin() { return step }
    let bytes = bytes
    if let unit = scanner.next(in: bytes.span, isComplete: isComplete) {
      return .nalUnit(
        range: unit.range, prefix: unit.startCodeLength, offset: origin + UInt64(unit.range.lowerBound))
    }
    guard !isComplete else { return .end }
    if let start = scanner.pendingStartCode, bytes.count - start > Self.limit {
      let first = start + (start + 2 < bytes.count && bytes[start + 2] == 0 ? 4 : 3)
      let step = Step.nalUnit(range: first..<bytes.count, prefix: first - start, offset: origin + UInt64(first))
      scanner = AnnexB.Scanner(from: bytes.count)
      return step
    }
    return .needsMore
  }

  /// Looks for the first start code. Bytes before it that are not zero are garbage.
  private mutating func begin() -> Step? {
    let start = AnnexB.startCode(in: bytes.span)
    guard start != nil || isComplete else { return nil }
    hasBegun = true
    noteGarbage(before: start ?? bytes.count)
    return garbageEnd > 0 ? .garbage(garbageEnd, offset: 0) : nil
  }

  private mutating func noteGarbage(before end: Int) {
    if let last = bytes[..<end].lastIndex(where: { $0 != 0 }) { garbageEnd = origin + UInt64(last) + 1 }
  }
}
