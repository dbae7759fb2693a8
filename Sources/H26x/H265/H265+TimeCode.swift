// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// `time_code()` (D.2.27): up to three clock timestamps of a picture.
  public struct TimeCode: Sendable, Hashable {
    /// Up to three, nil if `clock_timestamp_flag` is 0.
    public var clockTimestamps: [ClockTimestamp?]

    /// A clock timestamp.
    public typealias ClockTimestamp = H26x.ClockTimestamp

    /// Creates one; see ``payload()``.
    public init(clockTimestamps: [ClockTimestamp?] = []) { self.clockTimestamps = clockTimestamps }

    /// Reads a message of type ``SEIPayloadType/timeCode``.
    ///
    /// - Throws: `.truncated`.
    public init(_ message: borrowing SEIMessages.Message) throws(BitstreamError) {
      var reader = message.reader
      clockTimestamps = []
      for _ in 0..<(try reader.u(2, "num_clock_ts")) {
        let isPresent = try reader.flag("clock_timestamp_flag")
        clockTimestamps.append(isPresent ? try Self.timestamp(&reader) : nil)
      }
    }

    /// The payload: the inverse of ``init(_:)``.
    public func payload() -> [UInt8] {
      var writer = BitWriter(addsEmulationPrevention: false)
      let timestamps = clockTimestamps.prefix(3)
      writer.u(2, UInt32(timestamps.count))
      for timestamp in timestamps {
        writer.flag(timestamp != nil)
        if let timestamp { Self.write(timestamp, to: &writer) }
      }
      if !writer.isByteAligned { writer.trailingBits() }
      return writer.bytes
    }

    private static func timestamp(_ reader: inout BitReader) throws(BitstreamError) -> ClockTimestamp {
      var timestamp = ClockTimestamp()
      try timestamp.readClock(&reader, fieldBased: "units_field_based_flag", frameBits: 9)
      timestamp.timeOffsetLength = try reader.u8(5, "time_offset_length")
      try timestamp.readOffset(&reader, bits: Int(timestamp.timeOffsetLength), "time_offset_value")
      return timestamp
    }

    private static func write(_ timestamp: ClockTimestamp, to writer: inout BitWriter) {
      timestamp.writeClock(to: &writer, frameBits: 9)
      writer.u(5, UInt32(timestamp.timeOffsetLength))
      writer.u(Int(timestamp.timeOffsetLength), UInt32(bitPattern: timestamp.timeOffset))
    }
  }
}
