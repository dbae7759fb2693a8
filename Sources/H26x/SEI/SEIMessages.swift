// SPDX-License-Identifier: MPL-2.0

/// The messages of one SEI NAL unit (H.264 7.3.2.3.1, H.265 7.3.5), one by one; nothing is copied.
public struct SEIMessages: ~Escapable {
  /// A message. Its payload is read by one of the typed initializers, such as `H264.RecoveryPoint(message)`.
  public struct Message: ~Escapable {
    /// `payloadType`.
    public let type: SEIPayloadType
    /// `payloadSize` in bytes, without emulation prevention bytes.
    public let size: Int
    /// A reader bounded to the payload.
    let reader: BitReader

    @_lifetime(copy reader)
    fileprivate init(type: SEIPayloadType, size: Int, reader: BitReader) {
      self.type = type
      self.size = size
      self.reader = reader
    }

    /// The payload, without emulation prevention bytes.
    ///
    /// - Throws: `.truncated`, which cannot happen, since the size was checked.
    public func payload() throws(BitstreamError) -> [UInt8] {
      var reader = reader
      return try reader.bytes(size, "sei_payload")
    }
  }

  private var reader: BitReader
  private var isDone = false

  /// Iterates over the messages.
  ///
  /// - Parameters:
  ///   - nalUnit: the NAL unit with its header.
  ///   - headerLength: bytes of the header: 1 in H.264, 2 in H.265.
  ///   - trace: records the syntax elements of messages and their payloads; nil for no record.
  @_lifetime(copy nalUnit)
  public init(_ nalUnit: Span<UInt8>, headerLength: Int = 1, trace: SyntaxTrace? = nil) {
    reader = BitReader(nalUnit, from: headerLength, trace: trace)
  }

  /// The next message, or nil after the last one.
  ///
  /// - Throws: `.truncated` when a message is longer than the NAL unit. The iteration is then over.
  @_lifetime(copy self)
  public mutating func next() throws(BitstreamError) -> Message? {
    guard !isDone, reader.moreRBSPData() else { return nil }
    isDone = true
    let type = try number("last_payload_type_byte")
    // If Int has 32 bits, a size beyond it is longer than any NAL unit.
    let size = Int(clamping: try number("last_payload_size_byte"))
    let payload = try reader.slice(bytes: size, "sei_payload")
    isDone = false
    return Message(type: SEIPayloadType(rawValue: type), size: size, reader: payload)
  }

  /// Whether an SEI NAL unit holds a message of a type.
  package static func hold(_ type: SEIPayloadType, _ nalUnit: Span<UInt8>, headerLength: Int) -> Bool {
    var messages = SEIMessages(nalUnit, headerLength: headerLength)
    do throws(BitstreamError) {
      while let message = try messages.next() {
        if message.type == type { return true }
      }
    } catch {
      // The messages before it were read.
    }
    return false
  }

  /// The sum of `ff_byte`s and a last byte.
  private mutating func number(_ element: StaticString) throws(BitstreamError) -> UInt32 {
    var sum: UInt32 = 0
    while true {
      let byte = try reader.byte(reader.startsWithOnes() ? "ff_byte" : element)
      guard sum <= 0xFFFF_FF00 - 255 else {
        throw BitstreamError(.valueOutOfRange, element, bitOffset: reader.bitOffset)
      }
      sum += UInt32(byte)
      if byte != 255 { return sum }
    }
  }
}

/// Writes an SEI NAL unit from messages.
///
/// - Parameters:
///   - messages: types and payloads without emulation prevention bytes.
///   - header: the NAL unit's header: that of H.264 (type 6), or the two bytes of an H.265 one.
/// - Returns: the NAL unit with emulation prevention bytes.
public func seiNALUnit(_ messages: [(type: SEIPayloadType, payload: [UInt8])], header: [UInt8] = [6]) -> [UInt8] {
  var writer = BitWriter()
  writer.append(header)
  for message in messages {
    for var number in [Int(message.type.rawValue), message.payload.count] {
      while number >= 255 {
        writer.u(8, 255)
        number -= 255
      }
      writer.u(8, UInt32(truncatingIfNeeded: number))
    }
    writer.append(message.payload)
  }
  writer.trailingBits()
  return writer.bytes
}
