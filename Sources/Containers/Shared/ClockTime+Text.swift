// SPDX-License-Identifier: MPL-2.0
package import GStreamer

extension ClockTime {
  /// Reads a time as users write it: seconds, minutes and seconds, or hours, minutes and seconds, with decimals, such
  /// as `90`, `1:30` or `1:02:03.5`. Seconds alone are below 10⁹. Rounds to nanoseconds.
  ///
  /// - Returns: `nil` for any other text.
  package init?(text: some StringProtocol) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard (1...3).contains(parts.count), let last = parts.last,
      last.utf8.allSatisfy({ Self.isDigit($0) || $0 == UInt8(ascii: ".") }), let seconds = Double(String(last)),
      seconds < (parts.count > 1 ? 60 : 1e9)
    else { return nil }
    var whole: UInt64 = 0
    for part in parts.dropLast() {
      guard part.utf8.allSatisfy(Self.isDigit), let number = UInt64(part), number < 1_000_000 else { return nil }
      whole = whole * 60 + number
    }
    self = .seconds(whole * 60) + ClockTime(nanoseconds: UInt64((seconds * 1e9).rounded()))
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
