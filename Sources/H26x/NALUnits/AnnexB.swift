// SPDX-License-Identifier: MPL-2.0

/// The byte stream format: NAL units after start codes (ITU-T H.264 and H.265, Annex B).
public enum AnnexB {
  /// The position of a NAL unit in a byte stream.
  public struct NALUnit: Sendable, Hashable {
    /// The NAL unit's bytes, without start code and `trailing_zero_8bits`. Never empty.
    public let range: Range<Int>

    /// Length of the start code in front, 3 or 4 bytes.
    public let startCodeLength: Int

    /// Creates a position.
    public init(range: Range<Int>, startCodeLength: Int) {
      self.range = range
      self.startCodeLength = startCodeLength
    }

    /// The offset of the start code.
    public var startCodeOffset: Int { range.lowerBound - startCodeLength }
  }

  /// Splits a byte stream that arrives in pieces into NAL units, reading each byte once.
  ///
  /// A plain value of offsets from the start of the caller's bytes. The caller passes the same bytes again, with more
  /// after them, and calls ``discard(_:)`` when it removes bytes from the front.
  public struct Scanner: Sendable, Hashable {
    /// The offset of the start code of the NAL unit whose end is not known yet; nil before the first one.
    public private(set) var pendingStartCode: Int?

    /// Everything before this offset was searched.
    public private(set) var searchedOffset: Int

    private var pendingNALUnit = 0

    /// Creates a scanner that begins at `offset`.
    public init(from offset: Int = 0) { searchedOffset = max(0, offset) }

    /// The next NAL unit.
    ///
    /// - Parameters:
    ///   - bytes: the data, from the same origin as in earlier calls.
    ///   - isComplete: whether no more data follows, so that the end of the data ends the last NAL unit.
    /// - Returns: a NAL unit whose end is known, or nil if there is none (yet).
    public mutating func next(in bytes: Span<UInt8>, isComplete: Bool) -> NALUnit? {
      while true {
        let end: Int
        if let prefix = AnnexB.startCode(in: bytes, from: searchedOffset) {
          let finished = take(upTo: prefix, in: bytes)
          // A zero_byte in front makes it a start code of four bytes, unless it belongs to the start code before.
          let hasZeroByte = prefix > 0 && prefix > (finished?.range.upperBound ?? floor) && bytes[prefix - 1] == 0
          pendingStartCode = hasZeroByte ? prefix - 1 : prefix
          pendingNALUnit = prefix + 3
          searchedOffset = prefix + 3
          if let finished { return finished }
          continue
        }
        end = bytes.count
        guard isComplete else {
          // A start code may begin in the last two bytes.
          searchedOffset = max(searchedOffset, end - 2)
          return nil
        }
        let last = take(upTo: end, in: bytes)
        pendingStartCode = nil
        searchedOffset = max(searchedOffset, end)
        return last
      }
    }

    /// The caller has removed `count` bytes from the front of its data.
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

  /// The NAL units of a whole byte stream.
  ///
  /// Ignores bytes before the first start code, and empty NAL units.
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

  /// Searches for two consecutive zero bytes, with which start codes and emulation prevention begin.
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
  /// - Returns: the index of the first of the three bytes, or nil. A prefix truncated by the end is not found: when
  ///   there is more data, search again from two bytes before the end.
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

  /// The header byte of the NAL unit whose start code, of 3 or 4 bytes, begins at `offset`; nil if it is truncated.
  static func header(in bytes: Span<UInt8>, behind offset: Int) -> UInt8? {
    guard let prefix = startCode(in: bytes, from: offset), prefix + 3 < bytes.count else { return nil }
    return bytes[prefix + 3]
  }
}
