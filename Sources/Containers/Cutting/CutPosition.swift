// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// A place in a video at which a range begins or ends.
package enum CutPosition: Sendable, Hashable {
  /// Nanoseconds since the first picture, 0 or more.
  case time(Int64)
  /// The number of a picture in the order of presentation, from 0. Both fields of a frame are one picture.
  case picture(Int)

  /// The first picture.
  package static let beginning = CutPosition.time(0)

  /// Reads `90`, `1:30`, `1:02:03.5` or `#N`.
  ///
  /// - Returns: `nil` for any other text.
  package init?(text: some StringProtocol) {
    guard text.utf8.first == UInt8(ascii: "#") else {
      guard let time = ClockTime(text: text) else { return nil }
      self = .time(Int64(clamping: time.nanoseconds))
      return
    }
    let digits = text.dropFirst()
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let number = Int(digits)
    else { return nil }
    self = .picture(number)
  }

  /// The position for the user: `0:01:30.000` or `#7`.
  package var text: String {
    switch self {
    case .time(let time): Text.time(ClockTime(nanoseconds: UInt64(clamping: time)))
    case .picture(let number): "#\(number)"
    }
  }
}
