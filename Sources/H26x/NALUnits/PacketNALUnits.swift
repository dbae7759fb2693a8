// SPDX-License-Identifier: MPL-2.0

extension LengthPrefixed {
  /// The start codes found so far in a packet that should have none, so that its NAL units can be read one by one.
  package struct StartCodes: Sendable, Hashable {
    /// Whether the lengths do not add up, so that a start code may stand in place of one.
    var replaceLengths = false
    /// NAL units up to here, in bytes, are separated by start codes.
    var end = 0
    /// Start codes found so far.
    package private(set) var count = 0
    /// Whether there are any, as far as the packet was read.
    package var exist: Bool { count > 0 || end > 0 }

    /// A packet of which nothing is known.
    init() {}

    /// A packet whose lengths do not add up.
    ///
    /// - Parameter size: of the packet, in bytes, if it is a byte stream; nil if it has lengths.
    init(replacingAll size: Int?) {
      replaceLengths = true
      end = size ?? 0
    }

    /// Bytes were removed from the front of the packet.
    mutating func discard(_ byteCount: Int) { end = max(0, end - byteCount) }

    fileprivate mutating func found() { count += 1 }
  }

  /// The NAL units of a packet in which a careless muxer may have left start codes. They may replace all lengths, or
  /// the lengths behind the first NAL unit, or separate NAL units under one length. No legal NAL unit holds a start
  /// code, so nothing is lost.
  package struct PacketNALUnits: ~Escapable {
    /// A NAL unit.
    package struct Element {
      /// Its bytes.
      package let range: Range<Int>
      /// Length of its length prefix or start code, in bytes.
      package let prefixLength: Int
      /// The offset of the next NAL unit.
      package let end: Int
    }

    private let bytes: Span<UInt8>
    private let lengthSize: NALLengthSize
    private var lengths: NALUnits
    private var startCoded: AnnexB.NALUnits
    /// The offset from which ``startCoded`` counts.
    private var origin = 0
    private var pending: AnnexB.NALUnit?
    /// The findings about start codes.
    package private(set) var startCodes: StartCodes

    /// Iterates over a packet, or over the rest of one.
    @_lifetime(copy bytes)
    package init(_ bytes: Span<UInt8>, lengthSize: NALLengthSize, _ startCodes: StartCodes) {
      self.bytes = bytes
      self.lengthSize = lengthSize
      self.startCodes = startCodes
      lengths = NALUnits(bytes, lengthSize: lengthSize, from: startCodes.end)
      startCoded = AnnexB.NALUnits(bytes.extracting(first: min(startCodes.end, bytes.count)))
      pending = startCoded.next()
    }

    /// The end of the last good NAL unit, in bytes.
    package var position: Int { lengths.position }

    /// The next NAL unit; nil after the last one.
    ///
    /// - Parameter isSearched: whether start codes are looked for in a NAL unit with this first byte.
    /// - Throws: `.truncated` or `.lengthOutOfBounds` at a bad length. The iteration is then over, at ``position``.
    package mutating func next(
      where isSearched: (UInt8) -> Bool = { _ in true }
    ) throws(BitstreamError) -> Element? {
      while true {
        if let unit = nextStartCoded() { return unit }
        let start = lengths.position
        if startCodes.replaceLengths, LengthPrefixed.hasStartCode(bytes, at: start) {
          begin(start..<bytes.count)
          continue
        }
        guard let range = try lengths.next() else { return nil }
        guard isSearched(bytes[range.lowerBound]), let first = AnnexB.startCode(in: bytes.extracting(range)) else {
          return Element(range: range, prefixLength: lengthSize.byteCount, end: range.upperBound)
        }
        // Anything in front of the first start code is a NAL unit of its own.
        var end = range.lowerBound + first
        while end > range.lowerBound, bytes[end - 1] == 0 { end -= 1 }
        begin(end..<range.upperBound)
        if end > range.lowerBound {
          return Element(range: range.lowerBound..<end, prefixLength: lengthSize.byteCount, end: end)
        }
      }
    }

    private mutating func begin(_ range: Range<Int>) {
      origin = range.lowerBound
      startCodes.end = range.upperBound
      startCoded = AnnexB.NALUnits(bytes.extracting(range))
      pending = startCoded.next()
      lengths = NALUnits(bytes, lengthSize: lengthSize, from: range.upperBound)
    }

    private mutating func nextStartCoded() -> Element? {
      guard let unit = pending else { return nil }
      startCodes.found()
      pending = startCoded.next()
      let end = pending.map { origin + $0.startCodeOffset } ?? startCodes.end
      return Element(
        range: origin + unit.range.lowerBound..<origin + unit.range.upperBound, prefixLength: unit.startCodeLength,
        end: end)
    }
  }
}
