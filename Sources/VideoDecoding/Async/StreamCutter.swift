// SPDX-License-Identifier: MPL-2.0
import H26x

/// Cuts a byte stream into access units.
protocol StreamCutting {
  /// Takes more of the stream.
  mutating func append(_ piece: [UInt8])
  /// Nothing more comes.
  mutating func end()
  /// Whether ``end()`` was called.
  var isAtEnd: Bool { get }
  /// The next access unit; nil when it needs more of the stream, or when there is none at its end.
  mutating func next() -> AccessUnit?
}

struct StreamCutter<Codec: VideoCodecSyntax>: StreamCutting {
  private var scanner = Codec.Scanner()
  private var bytes: [UInt8] = []
  /// Where what is not used up begins in ``bytes``.
  private var start = 0
  private var count: UInt64 = 0
  private var hasFormat = false
  private(set) var isAtEnd = false

  mutating func append(_ piece: [UInt8]) {
    bytes.removeSubrange(..<start)
    start = 0
    if bytes.isEmpty { bytes = piece } else { bytes += piece }
  }

  mutating func end() { isAtEnd = true }

  mutating func next() -> AccessUnit? {
    let bytes = bytes
    while start < bytes.count {
      switch scanner.next(in: bytes.span.extracting(start...), isMarked: false, isDraining: isAtEnd) {
      case .needsMoreData:
        // What is longer is dropped, as by the parser element.
        if bytes.count - start > AccessUnitLimits.size {
          scanner.resetPosition()
          start = bytes.count
        }
        return nil
      case .garbage(let size), .unusable(let size):
        start += size
      case .accessUnit(let size):
        let end = start + scanner.takeAccessUnit().end
        defer { start += size }
        var accessUnit = AccessUnit([], tag: count)
        if !hasFormat {
          // Slices whose parameter sets cannot be read make no session.
          guard
            let format = try? Codec.formatDescription(
              scanner.parameterSets, sequenceParameterSetID: nil, nalLengthSize: nil)
          else { continue }
          accessUnit.format = format
          hasFormat = true
        }
        count += 1
        accessUnit.bytes = Array(bytes[start..<end])
        return accessUnit
      }
    }
    return nil
  }
}
