// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// `time_code()` (D.2.27): up to three clock times of a picture.
  public struct TimeCode: Sendable, Hashable {
    /// Up to three, nil where the flag in front is 0.
    public var clockTimestamps: [ClockTimestamp?]

    /// A clock time.
    public struct ClockTimestamp: Sendable, Hashable {
      /// `units_field_based_flag`.
      public var isFieldBased = false
      /// `counting_type`, 0 to 31 (Table D.11); 4 is drop frame.
      public var countingType: UInt8 = 0
      /// `discontinuity_flag`.
      public var isDiscontinuous = false
      /// `cnt_dropped_flag`.
      public var hasDroppedCount = false
      /// `n_frames`, 0 to 511.
      public var frames: UInt16 = 0
      /// `seconds_value`; nil when absent.
      public var seconds: UInt8?
      /// `minutes_value`; nil when absent, as when `seconds` is.
      public var minutes: UInt8?
      /// `hours_value`; nil when absent, as when `minutes` is.
      public var hours: UInt8?
      /// `full_timestamp_flag`: all three are there, and no flags between them.
      public var isFull = false
      /// `time_offset_length`, 0 to 31 bits.
      public var timeOffsetLength: UInt8 = 0
      /// `time_offset_value`.
      public var timeOffset: Int32 = 0

      /// Creates one that says zero frames and nothing else.
      public init() {}
    }

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
        clockTimestamps.append(isPresent ? try ClockTimestamp(&reader) : nil)
      }
    }

    /// The payload: the inverse of ``init(_:)``.
    public func payload() -> [UInt8] {
      var writer = BitWriter(addsEmulationPrevention: false)
      let timestamps = clockTimestamps.prefix(3)
      writer.u(2, UInt32(timestamps.count))
      for timestamp in timestamps {
        writer.flag(timestamp != nil)
        timestamp?.write(to: &writer)
      }
      if !writer.isByteAligned { writer.trailingBits() }
      return writer.bytes
    }
  }
}

extension H265.TimeCode.ClockTimestamp {
  fileprivate init(_ reader: inout BitReader) throws(BitstreamError) {
    isFieldBased = try reader.flag("units_field_based_flag")
    countingType = try reader.u8(5, "counting_type")
    isFull = try reader.flag("full_timestamp_flag")
    isDiscontinuous = try reader.flag("discontinuity_flag")
    hasDroppedCount = try reader.flag("cnt_dropped_flag")
    frames = UInt16(truncatingIfNeeded: try reader.u(9, "n_frames"))
    // Out-of-range clock values are kept as sent: they harm nothing.
    if isFull {
      seconds = try reader.u8(6, "seconds_value")
      minutes = try reader.u8(6, "minutes_value")
      hours = try reader.u8(5, "hours_value")
    } else if try reader.flag("seconds_flag") {
      seconds = try reader.u8(6, "seconds_value")
      if try reader.flag("minutes_flag") {
        minutes = try reader.u8(6, "minutes_value")
        if try reader.flag("hours_flag") { hours = try reader.u8(5, "hours_value") }
      }
    }
    timeOffsetLength = try reader.u8(5, "time_offset_length")
    guard timeOffsetLength > 0 else { return }
    let bits = try reader.u(Int(timeOffsetLength), "time_offset_value")
    // i(v): two's complement of at most 31 bits.
    timeOffset = Int32(bitPattern: bits << UInt32(32 - timeOffsetLength)) >> Int32(32 - timeOffsetLength)
  }

  fileprivate func write(to writer: inout BitWriter) {
    writer.flag(isFieldBased)
    writer.u(5, UInt32(countingType))
    let isFull = isFull && seconds != nil && minutes != nil && hours != nil
    writer.flag(isFull)
    writer.flag(isDiscontinuous)
    writer.flag(hasDroppedCount)
    writer.u(9, UInt32(frames))
    let parts: [(UInt8?, Int)] = [(seconds, 6), (minutes, 6), (hours, 5)]
    for (value, length) in parts {
      if !isFull { writer.flag(value != nil) }
      guard let value else { break }
      writer.u(length, UInt32(value))
    }
    writer.u(5, UInt32(timeOffsetLength))
    writer.u(Int(timeOffsetLength), UInt32(bitPattern: timeOffset))
  }
}
