// SPDX-License-Identifier: MPL-2.0

/// How the time codes of a caption file count frames (SMPTE ST 12-1).
package struct CaptionTimeCode: Sendable, Equatable {
  /// Frames that a second counts: 24, 25, 30, 50 or 60.
  package let base: Int
  /// Whether two of 30 numbers, or four of 60, are left out at the start of each minute that is no multiple of ten.
  package let dropsFrames: Bool

  /// Creates the counting of a file.
  package init(base: Int, dropsFrames: Bool) {
    self.base = max(base, 1)
    self.dropsFrames = dropsFrames && base % 30 == 0
  }

  private var dropped: Int { dropsFrames ? base / 15 : 0 }
  private var framesOfMinute: Int { base * 60 - dropped }
  private var framesOfTenMinutes: Int { base * 600 - dropped * 9 }

  /// The frames of a day, after which the numbers begin again.
  package var framesOfDay: Int { framesOfTenMinutes * 144 }

  /// The number of a frame, from 0.
  ///
  /// - Returns: nil for a part that is out of range, and for a number that is left out.
  package func frame(hours: Int, minutes: Int, seconds: Int, frames: Int) -> Int? {
    guard 0..<24 ~= hours, 0..<60 ~= minutes, 0..<60 ~= seconds, 0..<base ~= frames else { return nil }
    if seconds == 0, minutes % 10 != 0, frames < dropped { return nil }
    let minutes = hours * 60 + minutes
    return (minutes * 60 + seconds) * base + frames - dropped * (minutes - minutes / 10)
  }

  /// The time code of a frame: "01:02:03:04".
  ///
  /// - Parameters:
  ///   - frame: the number, modulo those of a day.
  ///   - hasSemicolon: whether ";" is in front of the frames, not ":".
  package func text(ofFrame frame: Int, hasSemicolon: Bool = false) -> [UInt8] {
    let day = framesOfDay
    let frame = (frame % day + day) % day
    let (tens, rest) = frame.quotientAndRemainder(dividingBy: framesOfTenMinutes)
    // The first minute of ten leaves out none.
    let minutes = rest < base * 60 ? 0 : 1 + (rest - base * 60) / framesOfMinute
    let number = frame + dropped * (9 * tens + minutes)
    var text: [UInt8] = []
    for part in [number / base / 3600, number / base / 60 % 60, number / base % 60] {
      text += Self.digits(part)
      text.append(EditText.colon)
    }
    if hasSemicolon { text[text.count - 1] = Self.semicolon }
    return text + Self.digits(number % base)
  }

  private static func digits(_ number: Int) -> [UInt8] {
    [UInt8(48 + number / 10 % 10), UInt8(48 + number % 10)]
  }

  /// Reads "01:02:03:04", with ":" or ";" in front of the frames.
  ///
  /// - Returns: the frame, and whether the separator is ";"; nil for other text.
  package func frame(of text: ArraySlice<UInt8>) -> (frame: Int, hasSemicolon: Bool)? {
    let bytes = Array(text)
    guard bytes.count == 11, bytes[2] == EditText.colon, bytes[5] == EditText.colon,
      bytes[8] == EditText.colon || bytes[8] == Self.semicolon
    else { return nil }
    var parts: [Int] = []
    for start in [0, 3, 6, 9] {
      guard let part = EditText.number(bytes[start..<start + 2], upTo: 99) else { return nil }
      parts.append(Int(part))
    }
    guard let frame = frame(hours: parts[0], minutes: parts[1], seconds: parts[2], frames: parts[3]) else { return nil }
    return (frame, bytes[8] == Self.semicolon)
  }

  private static let semicolon: UInt8 = 59
}
