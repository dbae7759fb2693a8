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
  /// The reason that the stream so far has no access unit; nil if it has one, or if no data has come.
  var missingFormat: DecodeError? { get }
}

struct StreamCutter<Codec: ElementCodecSyntax>: StreamCutting {
  /// An access unit at the start of the unused bytes.
  private struct Found {
    /// Its bytes and the zeros behind them.
    var size: Int
    /// The scanner's findings in it.
    var scanned: ScannedAccessUnit<Codec.SliceHeader>
    /// Whether it waited for more of the stream, which shows when it is presented.
    var hasWaited = false
  }

  private var scanner = Codec.Scanner()
  private var clock: StreamClock<Codec>?
  private var found: Found?
  private var bytes: [UInt8] = []
  /// The offset of the first unused byte in ``bytes``.
  private var start = 0
  private var count: UInt64 = 0
  private var byteCount: UInt64 = 0
  private var hasFormat = false
  private(set) var isAtEnd = false

  init(times: StreamTimes = .none) {
    guard case .pictureOrder(let fallbackRate) = times else { return }
    clock = StreamClock(fallbackRate: fallbackRate)
    scanner.sliceDepth = .referenceMarking
  }

  mutating func append(_ piece: [UInt8]) {
    bytes.removeSubrange(..<start)
    start = 0
    byteCount += UInt64(piece.count)
    if bytes.isEmpty { bytes = piece } else { bytes += piece }
  }

  mutating func end() { isAtEnd = true }

  var missingFormat: DecodeError? {
    guard !hasFormat, byteCount > 0 else { return nil }
    return DecodeError(
      .invalidFormatDescription,
      detail: "no readable parameter sets of \(Codec.name) were found in \(byteCount) bytes")
  }

  mutating func next() -> AccessUnit? {
    while var current = found.take() ?? scan() {
      let format = hasFormat ? nil : describe()
      // Slices whose parameter sets cannot be read make no session.
      guard hasFormat || format != nil else {
        start += current.size
        continue
      }
      guard readTimes(of: current) else {
        current.hasWaited = true
        found = current
        return nil
      }
      return take(current, format)
    }
    return nil
  }

  /// The next access unit; nil when it needs more of the stream.
  private mutating func scan() -> Found? {
    let bytes = bytes
    while start < bytes.count {
      switch scanner.next(in: bytes.span.extracting(start...), isMarked: false, isDraining: isAtEnd) {
      case .needsMoreData:
        // Longer access units are dropped, as in the parser element.
        if bytes.count - start > AccessUnitLimits.size {
          scanner.resetPosition()
          start = bytes.count
        }
        return nil
      case .garbage(let size), .unusable(let size):
        start += size
      case .accessUnit(let size):
        return Found(size: size, scanned: scanner.takeAccessUnit())
      }
    }
    return nil
  }

  /// The stream's format; nil as long as its parameter sets cannot be read.
  private func describe() -> FormatDescription? {
    try? Codec.formatDescription(scanner.parameterSets, sequenceParameterSetID: nil, nalLengthSize: nil)
  }

  /// Reads the presentation time of an access unit. Returns whether it is known; else more of the stream has to come
  /// first.
  private mutating func readTimes(of found: Found) -> Bool {
    guard clock != nil else { return true }
    let bytes = bytes
    let isComplete = isAtEnd || bytes.count - start > AccessUnitLimits.size / 2
    return clock?.read(
      found.scanned, scanner, lookingAt: bytes.span.extracting(start...), from: found.size,
      isContinued: found.hasWaited, isComplete: isComplete) ?? true
  }

  private mutating func take(_ found: Found, _ format: FormatDescription?) -> AccessUnit {
    let contents = found.scanned.contents
    let times = clock?.takeTimes(contents)
    let accessUnit = AccessUnit(
      Array(bytes[start..<start + found.scanned.end]), tag: count,
      time: times.map { .nanoseconds(Int64(clamping: $0.presentation)) },
      decodingTime: times.map { .nanoseconds(Int64(clamping: $0.decoding)) },
      duration: times.map { .nanoseconds(Int64(clamping: $0.duration)) },
      isRandomAccessPoint: !contents.isDisjoint(with: [.randomAccess, .recoveryPoint]), format: format)
    hasFormat = true
    count += 1
    start += found.size
    return accessUnit
  }
}
