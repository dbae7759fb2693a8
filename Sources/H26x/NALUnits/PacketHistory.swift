// SPDX-License-Identifier: MPL-2.0

extension LengthPrefixed {
  /// The evidence in the packets of a stream so far: whether lengths or start codes separate their NAL units.
  ///
  /// Lengths of 256 to 511 look like start codes of three bytes. In a damaged packet neither leads to its end, so the
  /// packets before it decide.
  package struct PacketHistory: Sendable {
    private enum Separation { case lengths, startCodes }

    private var separation: Separation?
    private var lengthSize: NALLengthSize?
    /// A bit for each first byte that a NAL unit has had in packets whose lengths add up.
    private var headers = (UInt64.zero, UInt64.zero, UInt64.zero, UInt64.zero)

    /// A stream of which nothing is known.
    package init() {}

    /// Finds the part of the next packet in which start codes separate the NAL units.
    package mutating func judge(_ bytes: Span<UInt8>, lengthSize: NALLengthSize) -> StartCodes {
      if lengthSize != self.lengthSize {
        self = PacketHistory()
        self.lengthSize = lengthSize
      }
      if isByteStreamByChance(bytes, lengthSize) { return StartCodes(replacingAll: bytes.count) }
      var seen = headers
      var count = 0
      var units = NALUnits(bytes, lengthSize: lengthSize)
      do throws(BitstreamError) {
        while let range = try units.next() {
          Self.insert(bytes[range.lowerBound], into: &seen)
          count += 1
        }
        if count > 0 { separation = .lengths }
        headers = seen
        return StartCodes()
      } catch {
        guard isByteStream(bytes, lengthSize, wholeCount: count) else { return StartCodes(replacingAll: nil) }
        if separation == nil { separation = .startCodes }
        return StartCodes(replacingAll: bytes.count)
      }
    }

    /// Lengths of one and two bytes may add up by chance. A start code that would be empty NAL units and one of one
    /// byte is taken for a start code.
    private func isByteStreamByChance(_ bytes: Span<UInt8>, _ lengthSize: NALLengthSize) -> Bool {
      switch lengthSize {
      case .one: hasStartCode(bytes, at: 0) || hasShortStartCode(bytes)
      case .two: hasStartCode(bytes, at: 0)
      case .four: false
      }
    }

    /// Whether a packet whose lengths do not add up is a byte stream.
    ///
    /// - Parameter wholeCount: the NAL units in front of the first bad length.
    private func isByteStream(_ bytes: Span<UInt8>, _ lengthSize: NALLengthSize, wholeCount: Int) -> Bool {
      let isLong = hasStartCode(bytes, at: 0)
      guard isLong || hasShortStartCode(bytes) else { return false }
      // As a length, any other start code would be of a NAL unit of one byte at most.
      guard lengthSize == .four, !isLong, bytes.count > 4 else { return true }
      // No NAL unit begins with forbidden_zero_bit.
      if bytes[3] & 0x80 != 0 { return false }
      if separation == .lengths {
        let asLength = contains(bytes[4])
        if asLength != contains(bytes[3]) { return !asLength }
      }
      let end = 4 + 256 + Int(bytes[3])
      let isWhole = end <= bytes.count
      guard let next = AnnexB.startCode(in: bytes, from: 4) else {
        // A NAL unit holds no start code, be it truncated.
        return separation == .startCodes || !isWhole && separation == nil
      }
      if isWhole, next >= end, wholeCount > 1 || hasStartCode(bytes, at: end) { return separation == .startCodes }
      return separation != .lengths
    }

    private static func insert(_ byte: UInt8, into set: inout (UInt64, UInt64, UInt64, UInt64)) {
      let bit = UInt64(1) << UInt64(byte & 63)
      switch byte >> 6 {
      case 0: set.0 |= bit
      case 1: set.1 |= bit
      case 2: set.2 |= bit
      default: set.3 |= bit
      }
    }

    private func contains(_ byte: UInt8) -> Bool {
      let words =
        switch byte >> 6 {
        case 0: headers.0
        case 1: headers.1
        case 2: headers.2
        default: headers.3
        }
      return words & UInt64(1) << UInt64(byte & 63) != 0
    }
  }

  /// Whether a packet that should be length-prefixed is a byte stream instead.
  ///
  /// It begins with a start code, and its lengths do not add up. Lengths of one and two bytes may add up by chance.
  /// If a start code, read as lengths, would be empty NAL units and a NAL unit of one byte, it is taken for a start
  /// code.
  public static func isAnnexB(_ bytes: Span<UInt8>, lengthSize: NALLengthSize) -> Bool {
    var history = PacketHistory()
    return history.judge(bytes, lengthSize: lengthSize).end > 0
  }

  /// Whether a start code of three bytes is at the front.
  private static func hasShortStartCode(_ bytes: Span<UInt8>) -> Bool {
    bytes.count >= 3 && bytes[0] == 0 && bytes[1] == 0 && bytes[2] == 1
  }

  /// Whether a start code of four bytes is at an offset. One of three may be a length.
  static func hasStartCode(_ bytes: Span<UInt8>, at offset: Int) -> Bool {
    offset <= bytes.count - 4 && bytes[offset] == 0 && bytes[offset + 1] == 0 && bytes[offset + 2] == 0
      && bytes[offset + 3] == 1
  }
}
