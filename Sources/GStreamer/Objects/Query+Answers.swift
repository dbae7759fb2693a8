// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// Answers to queries. Each returns whether the query is of that kind and format, so that it is answered.
extension Query {
  /// The unit of a position (`GstFormat`).
  public enum Format: Sendable {
    /// Nanoseconds.
    case time
    /// Bytes.
    case bytes
    /// Another unit, such as samples.
    case other

    init(_ format: GstFormat) {
      self = format == GST_FORMAT_TIME ? .time : format == GST_FORMAT_BYTES ? .bytes : .other
    }

    var raw: GstFormat {
      switch self {
      case .time: GST_FORMAT_TIME
      case .bytes: GST_FORMAT_BYTES
      case .other: GST_FORMAT_UNDEFINED
      }
    }
  }

  /// The format that a position, duration or seeking query requests; `nil` for other queries.
  public var format: Format? {
    var format = GST_FORMAT_UNDEFINED
    switch kind {
    case .position: unsafe gst_query_parse_position(raw, &format, nil)
    case .duration: unsafe gst_query_parse_duration(raw, &format, nil)
    case .seeking: unsafe gst_query_parse_seeking(raw, &format, nil, nil, nil)
    default: return nil
    }
    return Format(format)
  }

  /// Answers a position query in time.
  @discardableResult
  public func setPosition(_ time: ClockTime) -> Bool {
    guard kind == .position, format == .time else { return false }
    unsafe gst_query_set_position(raw, GST_FORMAT_TIME, gint64(clamping: time.nanoseconds))
    return true
  }

  /// Answers a position query in bytes.
  @discardableResult
  public func setPosition(bytes: UInt64) -> Bool {
    guard kind == .position, format == .bytes else { return false }
    unsafe gst_query_set_position(raw, GST_FORMAT_BYTES, gint64(clamping: bytes))
    return true
  }

  /// Answers a duration query in time.
  @discardableResult
  public func setDuration(_ time: ClockTime) -> Bool {
    guard kind == .duration, format == .time else { return false }
    unsafe gst_query_set_duration(raw, GST_FORMAT_TIME, gint64(clamping: time.nanoseconds))
    return true
  }

  /// Answers a duration query in bytes.
  @discardableResult
  public func setDuration(bytes: UInt64) -> Bool {
    guard kind == .duration, format == .bytes else { return false }
    unsafe gst_query_set_duration(raw, GST_FORMAT_BYTES, gint64(clamping: bytes))
    return true
  }

  /// Answers a seeking query in time: the range that can be sought, `nil` when none can.
  @discardableResult
  public func setSeeking(_ range: Range<ClockTime>?) -> Bool {
    guard kind == .seeking, format == .time else { return false }
    let start = gint64(clamping: range?.lowerBound.nanoseconds ?? 0)
    let end = range.map { gint64(clamping: $0.upperBound.nanoseconds) } ?? -1
    unsafe gst_query_set_seeking(raw, GST_FORMAT_TIME, range == nil ? 0 : 1, start, end)
    return true
  }

  /// The request of a convert query: a value, its format, and the wanted format; `nil` for other queries.
  public var conversion: (value: Int64, from: Format, to: Format)? {
    guard kind == .convert else { return nil }
    var (from, to) = (GST_FORMAT_UNDEFINED, GST_FORMAT_UNDEFINED)
    var value: gint64 = 0
    unsafe gst_query_parse_convert(raw, &from, &value, &to, nil)
    return (Int64(value), Format(from), Format(to))
  }

  /// Answers a convert query between times and bytes.
  @discardableResult
  public func setConversion(_ result: Int64) -> Bool {
    guard let asked = conversion, asked.from != .other, asked.to != .other else { return false }
    unsafe gst_query_set_convert(raw, asked.from.raw, gint64(asked.value), asked.to.raw, gint64(result))
    return true
  }
}
