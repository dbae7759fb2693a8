// SPDX-License-Identifier: MPL-2.0
import H26x

/// Cuts NAL units out of a byte stream that is read in pieces. Memory is in proportion to the longest NAL unit, up to a
/// limit.
struct ByteStreamReader: Sendable {
  /// Bytes asked for at once: they stay in the processor's cache while they are looked at.
  static let pieceSize = 256 << 10
  /// So much is looked at to see what the file is, and to find a start code in.
  static let frontSize = 1 << 20
  /// The longest NAL unit that is looked at whole. A picture of level 6.2 may have 100 MB; a broken stream, no end.
  static let limit = 256 << 20

  /// What comes next in the bytes at hand.
  enum Step: Sendable {
    /// A NAL unit of the bytes at hand.
    case nalUnit(range: Range<Int>, prefix: Int, offset: UInt64)
    /// Bytes that are none.
    case garbage(UInt64, offset: UInt64)
    /// More bytes are needed.
    case needsMore
    /// The stream is over.
    case end
  }

  /// The bytes at hand.
  private(set) var bytes: [UInt8] = []
  private var scanner = AnnexB.Scanner()
  /// Where the bytes at hand begin in the file.
  private var origin: UInt64 = 0
  private var isComplete = false
  private var hasBegun = false

  /// Where the next piece is in the file.
  var position: UInt64 { origin + UInt64(bytes.count) }

  /// Adds bytes behind those at hand; none means the end.
  mutating func append(_ piece: [UInt8]) {
    discardDone()
    if piece.isEmpty { isComplete = true }
    bytes += piece
  }

  /// Reads what comes behind the bytes at hand; nothing means the end.
  mutating func read(from source: FileBytes) {
    discardDone()
    let count = bytes.count
    source.read(at: position, count: Self.pieceSize, appendingTo: &bytes)
    if bytes.count == count { isComplete = true }
  }

  private mutating func discardDone() {
    let done = min(scanner.pendingStartCode ?? max(0, scanner.searchedOffset - 1), bytes.count)
    if done > 0 {
      bytes.removeFirst(done)
      scanner.discard(done)
      origin += UInt64(done)
    }
  }

  /// What comes next.
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

  /// Zero bytes may stand in front of the first start code, and nothing else.
  private mutating func begin() -> Step? {
    guard let start = AnnexB.startCode(in: bytes.span) else {
      guard isComplete || bytes.count > Self.frontSize * 4 else { return nil }
      hasBegun = true
      return bytes.isEmpty ? nil : .garbage(UInt64(bytes.count), offset: origin)
    }
    hasBegun = true
    var count = start
    while count > 0, bytes[count - 1] == 0 { count -= 1 }
    return count > 0 ? .garbage(UInt64(count), offset: origin) : nil
  }
}
