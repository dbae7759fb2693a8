// SPDX-License-Identifier: MPL-2.0
package import GStreamer

/// Numbers, times and lists as text.
package enum Text {
  /// A number with this many decimals.
  package static func fixed(_ number: Double, _ decimals: Int) -> String {
    guard number.isFinite, abs(number) < 1e15 else { return "\(number)" }
    var factor = 1.0
    for _ in 0..<decimals { factor *= 10 }
    let scaled = Int64((abs(number) * factor).rounded())
    let sign = number < 0 && scaled > 0 ? "-" : ""
    let whole = scaled / Int64(factor)
    guard decimals > 0 else { return "\(sign)\(whole)" }
    let part = String(scaled % Int64(factor))
    return "\(sign)\(whole).\(String(repeating: "0", count: decimals - part.count))\(part)"
  }

  /// Hours, minutes, seconds and milliseconds: 0:01:02.480.
  package static func time(_ time: ClockTime) -> String {
    // No sum, because damaged files have the largest possible times.
    let (whole, part) = time.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
    let milliseconds = whole + (part >= 500_000 ? 1 : 0)
    let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
    return "\(seconds / 3600):\(two(seconds / 60 % 60)):\(two(seconds % 60)).\(two(rest / 10))\(rest % 10)"
  }

  /// Minutes and seconds: 62:02.
  package static func clock(_ seconds: Double) -> String {
    let whole = UInt64(min(max(seconds, 0), 1e9))
    return "\(whole / 60):\(two(whole % 60))"
  }

  private static func two(_ number: UInt64) -> String { number < 10 ? "0\(number)" : "\(number)" }

  /// The dynamic range by `transfer_characteristics` (H.273 table 3): PQ, HLG or SDR.
  static func dynamicRange(transfer: UInt8?) -> String {
    switch transfer {
    case 16: "PQ"
    case 18: "HLG"
    default: "SDR"
    }
  }

  /// Text with spaces after it, up to a width.
  package static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(width - text.count, 0))
  }

  /// Wraps a line to at most `width` characters, if possible, at spaces outside of brackets.
  ///
  /// - Parameter indent: spaces in front of all lines but the first.
  package static func wrapped(_ line: String, width: Int, indent: Int) -> String {
    var words: [String] = []
    var depth = 0
    for word in line.split(separator: " ") {
      if depth > 0 { words[words.count - 1] += " \(word)" } else { words.append(String(word)) }
      depth += word.count(where: { $0 == "[" || $0 == "<" }) - word.count(where: { $0 == "]" || $0 == ">" })
    }
    var lines: [String] = []
    for word in words {
      if lines.isEmpty {
        lines = [word]
      } else if lines[lines.count - 1].count + 1 + word.count <= width {
        lines[lines.count - 1] += " \(word)"
      } else {
        lines.append(String(repeating: " ", count: indent) + word)
      }
    }
    return lines.joined(separator: "\n")
  }

  /// Two lower-case digits for each byte.
  package static func hexadecimal(_ bytes: ArraySlice<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// `a`, `a and b`, `a, b and c`.
  package static func list(_ words: [String], _ conjunction: String = "and") -> String {
    guard let last = words.last, words.count > 1 else { return words.first ?? "" }
    return "\(words.dropLast().joined(separator: ", ")) \(conjunction) \(last)"
  }

  /// `3 pictures`, `1 picture`.
  package static func count(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}
