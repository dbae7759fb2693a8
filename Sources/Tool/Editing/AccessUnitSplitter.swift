// SPDX-License-Identifier: MPL-2.0
import H26x

/// Splits a byte stream into access units, and the bytes between them.
struct AccessUnitSplitter {
  private var scanner: any AccessUnitScanning
  private var pending: [UInt8] = []
  private var start = 0

  init(_ codec: FormatDescription.Codec) { scanner = codec == .h264 ? H264.Scanner() : H265.Scanner() }

  /// How many bytes wait for the end of an access unit.
  var pendingCount: Int { pending.count - start }

  mutating func append(_ bytes: [UInt8]) {
    pending.removeFirst(start)
    start = 0
    pending += bytes
  }

  /// The next access unit, or bytes that are none; nil if more is needed, and at the end.
  mutating func next(isLast: Bool) -> (bytes: [UInt8], isAccessUnit: Bool)? {
    guard start < pending.count else { return nil }
    switch scan(isLast: isLast) {
    case .accessUnit(let size): return (take(size), true)
    case .garbage(let size), .unusable(let size): return (take(size), false)
    case .needsMoreData: return isLast ? (take(pending.count - start), false) : nil
    }
  }

  private mutating func scan(isLast: Bool) -> ScannerFinding {
    let bytes = pending
    return scanner.next(in: bytes.span.extracting(start...), isMarked: false, isDraining: isLast)
  }

  private mutating func take(_ size: Int) -> [UInt8] {
    let end = min(pending.count, start + max(size, 1))
    defer { start = end }
    return Array(pending[start..<end])
  }
}
