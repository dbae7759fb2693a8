// SPDX-License-Identifier: MPL-2.0

/// The byte stream format: NAL units behind start codes (ITU-T H.264 and H.265, Annex B).
public enum AnnexB {
  /// A NAL unit's place in a byte stream.
  public struct NALUnit: Sendable, Hashable {
    /// The bytes of the NAL unit, start code and `trailing_zero_8bits` left out. Never empty.
    public let range: Range<Int>

    /// The length of the start code in front, 3 or 4 bytes.
    public let startCodeLength: Int

    /// Creates a place.
    public init(range: Range<Int>, startCodeLength: Int) {
      self.range = range
      self.startCodeLength = startCodeLength
    }

    /// Where the start code begins.
    public var startCodeOffset: Int { range.lowerBound - startCodeLength }
  }

  /// Searches for two zero bytes in a row, with which start codes begin and emulation prevention bytes have to do.
  ///
  /// - Parameters:
  ///   - bytes: any bytes.
  ///   - offset: where to begin; values outside `bytes` find nothing.
  /// - Returns: the index of the first of the two bytes, or nil.
  package static func zeroPair(in bytes: Span<UInt8>, from offset: Int = 0) -> Int? {
    BulkBytes.firstZeroPair(in: bytes, from: offset)
  }

  /// Searches for `start_code_prefix_one_3bytes`, 00 00 01.
  ///
  /// - Parameters:
  ///   - bytes: any bytes.
  ///   - offset: where to begin; values outside `bytes` find nothing.
  /// - Returns: the index of the first of the three bytes, or nil. A prefix cut off by the end is not found:
  ///   search again from two bytes before the end when there is more data.
  public static func startCode(in bytes: Span<UInt8>, from offset: Int = 0) -> Int? {
    guard offset >= 0, offset <= bytes.count - 3 else { return nil }
    var next = offset
    while var zero = BulkBytes.firstZeroPair(in: bytes, from: next) {
      while zero < bytes.count - 2, bytes[zero + 2] == 0 { zero += 1 }
      guard zero < bytes.count - 2 else { return nil }
      if bytes[zero + 2] == 1 { return zero }
      next = zero + 3
    }
    return nil
  }

  /// The header byte of the NAL unit whose start code, of 3 or 4 bytes, begins at `offset`; nil when it is not there.
  static func header(in bytes: Span<UInt8>, behind offset: Int) -> UInt8? {
    guard let prefix = startCode(in: bytes, from: offset), prefix + 3 < bytes.count else { return nil }
    return bytes[prefix + 3]
  }

  /// Cuts a byte stream that arrives in pieces into NAL units, looking at each byte once.
  ///
  /// It is a plain value of two integers that count from the start of the caller's bytes. The caller shows it
  /// the same bytes again, with more behind them, and calls ``discard(_:)`` when it takes bytes off the front.
  public struct Scanner: Sendable, Hashable {
    /// The start code that waits for its NAL unit's end: where it begins, or nil before the first one.
    public private(set) var pendingStartCode: Int?

    /// Everything before this offset was searched and need not be shown to the search again.
    public private(set) var searchedOffset: Int

    private var pendingNALUnit = 0

    /// Creates a scanner that begins at `offset`.
    public init(from offset: Int = 0) { searchedOffset = max(0, offset) }

    /// The next NAL unit.
    ///
    /// - Parameters:
    ///   - bytes: the data from the same origin as in the calls before.
    ///   - isComplete: true when no more data will follow, so that the end of the data ends the last NAL unit.
    /// - Returns: a NAL unit whose end is known, or nil when there is none (yet).
    public mutating func next(in bytes: Span<UInt8>, isComplete: Bool) -> NALUnit? {
      while true {
        let end: Int
        if let prefix = AnnexB.startCode(in: bytes, from: searchedOffset) {
          let finished = take(upTo: prefix, in: bytes)
          // The zero_byte in front makes a start code of four bytes of it. It may not be part of another start code.
          let hasZeroByte = prefix > 0 && prefix > (finished?.range.upperBound ?? floor) && bytes[prefix - 1] == 0
          pendingStartCode = hasZeroByte ? prefix - 1 : prefix
          pendingNALUnit = prefix + 3
          searchedOffset = prefix + 3
          if let finished { return finished }
          continue
        }
        end = bytes.count
        guard isComplete else {
          // A start code may have begun in the last two bytes.
          searchedOffset = max(searchedOffset, end - 2)
          return nil
        }
        let last = take(upTo: end, in: bytes)
        pendingStartCode = nil
        searchedOffset = max(searchedOffset, end)
        return last
      }
    }

    /// The caller took `count` bytes off the front of its data.
    public mutating func discard(_ count: Int) {
      searchedOffset = max(0, searchedOffset - count)
      if let start = pendingStartCode {
        if start >= count {
          pendingStartCode = start - count
          pendingNALUnit -= count
        } else {
          pendingStartCode = nil
        }
      }
    }

    private var floor: Int { pendingStartCode == nil ? 0 : pendingNALUnit }

    private func take(upTo limit: Int, in bytes: Span<UInt8>) -> NALUnit? {
      guard let start = pendingStartCode, pendingNALUnit < limit else { return nil }
      var end = limit
      while end > pendingNALUnit, bytes[end - 1] == 0 { end -= 1 }
      guard end > pendingNALUnit else { return nil }
      return NALUnit(range: pendingNALUnit..<end, startCodeLength: pendingNALUnit - start)
    }
  }

  /// The NAL units of bytes that are all there.
  ///
  /// Bytes before the first start code are passed over, empty NAL units are skipped.
  public struct NALUnits: ~Escapable {
    private let bytes: Span<UInt8>
    private var scanner: Scanner

    /// Iterates over `bytes[offset...]`.
    @_lifetime(copy bytes)
    public init(_ bytes: Span<UInt8>, from offset: Int = 0) {
      self.bytes = bytes
      scanner = Scanner(from: offset)
    }

    /// The next NAL unit, or nil after the last one.
    public mutating func next() -> NALUnit? { scanner.next(in: bytes, isComplete: true) }
  }
}
