// SPDX-License-Identifier: MPL-2.0

/// `clock_timestamp()` of H.264's picture timing (D.1.3), and a clock timestamp of H.265's time code (D.2.27).
public struct ClockTimestamp: Sendable, Hashable {
  /// `ct_type`, of H.264 only: 0 progressive, 1 interlaced, 2 unknown, 3 reserved.
  public var scanType: UInt8 = 0
  /// `nuit_field_based_flag`, `units_field_based_flag`.
  public var isFieldBased = false
  /// `counting_type`, 0 to 31 (H.264 table D-3, H.265 table D.11); 4 is drop frame.
  public var countingType: UInt8 = 0
  /// `discontinuity_flag`.
  public var isDiscontinuous = false
  /// `cnt_dropped_flag`.
  public var hasDroppedCount = false
  /// `n_frames`, 0 to 255 in H.264, 0 to 511 in H.265.
  public var frames: UInt16 = 0
  /// `seconds_value`; nil if absent.
  public var seconds: UInt8?
  /// `minutes_value`; nil if absent, as when `seconds` is.
  public var minutes: UInt8?
  /// `hours_value`; nil if absent, as when `minutes` is.
  public var hours: UInt8?
  /// `full_timestamp_flag`: all three are present, without flags between them.
  public var isFull = false
  /// `time_offset_length`, 0 to 31 bits, of H.265 only: H.264 has it in its HRD parameters.
  public var timeOffsetLength: UInt8 = 0
  /// `time_offset`, `time_offset_value`.
  public var timeOffset: Int32 = 0

  /// Creates one of zero frames and nothing else.
  public init() {}

  /// Reads the syntax that both codecs have, up to the time offset.
  ///
  /// - Parameters:
  ///   - fieldBased: the name of the flag.
  ///   - frameBits: length of `n_frames`.
  mutating func readClock(
    _ reader: inout BitReader, fieldBased: StaticString, frameBits: Int
  ) throws(BitstreamError) {
    isFieldBased = try reader.flag(fieldBased)
    countingType = try reader.u8(5, "counting_type")
    isFull = try reader.flag("full_timestamp_flag")
    isDiscontinuous = try reader.flag("discontinuity_flag")
    hasDroppedCount = try reader.flag("cnt_dropped_flag")
    frames = UInt16(truncatingIfNeeded: try reader.u(frameBits, "n_frames"))
    // Values out of range are kept as sent, as h264parse does: they harm nothing.
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
  }

  /// Reads the time offset: i(v), two's complement of at most 31 bits.
  mutating func readOffset(_ reader: inout BitReader, bits count: Int, _ name: StaticString) throws(BitstreamError) {
    guard count > 0 else { return }
    let bits = try reader.u(count, name)
    timeOffset = Int32(bitPattern: bits << UInt32(32 - count)) >> Int32(32 - count)
  }

  /// Writes the syntax that both codecs have, up to the time offset.
  func writeClock(to writer: inout BitWriter, frameBits: Int) {
    writer.flag(isFieldBased)
    writer.u(5, UInt32(countingType))
    let isFull = isFull && seconds != nil && minutes != nil && hours != nil
    writer.flag(isFull)
    writer.flag(isDiscontinuous)
    writer.flag(hasDroppedCount)
    writer.u(frameBits, min(UInt32(frames), (1 << UInt32(frameBits)) - 1))
    let parts: [(UInt8?, Int)] = [(seconds, 6), (minutes, 6), (hours, 5)]
    for (value, length) in parts {
      if !isFull { writer.flag(value != nil) }
      guard let value else { break }
      writer.u(length, UInt32(value))
    }
  }
}
