// SPDX-License-Identifier: MPL-2.0
import CGStreamer

// Text forms for programs to print. In this folder, because the plugin is built without it and prints none.

extension FlowError: CustomStringConvertible {
  /// The flow return's name in GStreamer, such as `not-negotiated`.
  public var description: String {
    unsafe String(cString: gst_flow_get_name(GstFlowReturn(rawValue: rawValue)))
  }
}

extension ElementError: CustomStringConvertible {
  /// The message for users.
  public var description: String { message }
}

extension ClockTime: CustomStringConvertible {
  /// Hours, minutes, seconds and nanoseconds, as in GStreamer's logs: `0:00:01.500000000`.
  public var description: String {
    func padded(_ number: UInt64, _ digits: Int) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(digits - text.count, 0)) + text
    }
    let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: Self.second.nanoseconds)
    return "\(seconds / 3600):\(padded(seconds / 60 % 60, 2)):\(padded(seconds % 60, 2)).\(padded(rest, 9))"
  }
}

extension Fraction: CustomStringConvertible {
  /// As in caps: `25/1`.
  public var description: String { "\(numerator)/\(denominator)" }
}

extension FieldValue: CustomStringConvertible {
  /// The value without its type.
  public var description: String {
    switch self {
    case .int(let value): "\(value)"
    case .uint(let value): "\(value)"
    case .int64(let value): "\(value)"
    case .uint64(let value): "\(value)"
    case .boolean(let value): "\(value)"
    case .double(let value): "\(value)"
    case .string(let value): value
    case .fraction(let value): "\(value)"
    case .list(let values): "{ \(values.map(\.description).joined(separator: ", ")) }"
    case .array(let values): "< \(values.map(\.description).joined(separator: ", ")) >"
    case .intRange(let range): "[ \(range.lowerBound), \(range.upperBound) ]"
    case .doubleRange(let range): "[ \(range.lowerBound), \(range.upperBound) ]"
    case .fractionRange(let least, let most): "[ \(least), \(most) ]"
    }
  }
}
