// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import GStreamer

/// A time on the command line: seconds, minutes and seconds, or hours, minutes and seconds, with decimals.
struct TimeArgument: ExpressibleByArgument {
  let time: ClockTime

  init?(argument: String) {
    let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
    guard (1...3).contains(parts.count), let last = parts.last, let seconds = Double(last), seconds >= 0,
      seconds < (parts.count > 1 ? 60 : 1e9), last.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") })
    else { return nil }
    var whole: UInt64 = 0
    for part in parts.dropLast() {
      guard let number = UInt64(part), number < 1_000_000 else { return nil }
      whole = whole * 60 + number
    }
    time = .seconds(whole * 60) + ClockTime(nanoseconds: UInt64((seconds * 1e9).rounded()))
  }
}

/// A width and a height: 1280x720.
struct SizeArgument: ExpressibleByArgument {
  let width: Int32
  let height: Int32

  init?(argument: String) {
    let parts = argument.split(separator: "x", omittingEmptySubsequences: false)
    guard parts.count == 2, let width = Int32(parts[0]), let height = Int32(parts[1]), (1...32768).contains(width),
      (1...32768).contains(height)
    else { return nil }
    (self.width, self.height) = (width, height)
  }
}

/// A frame rate: 25, 29.97 or 30000/1001. As a decimal number at least 0.01.
struct FrameRateArgument: ExpressibleByArgument {
  let rate: Fraction

  init?(argument: String) {
    let parts = argument.split(separator: "/", omittingEmptySubsequences: false)
    if parts.count == 2, let numerator = Int32(parts[0]), let denominator = Int32(parts[1]), numerator > 0,
      denominator > 0
    {
      rate = Fraction(numerator, denominator)
    } else if parts.count == 1, let number = Double(argument), number >= 0.01, number < 100_000 {
      let nearest = number.rounded()
      // 23.976, 29.97 and 59.94 mean 24000/1001, 30000/1001 and 60000/1001.
      let thousands = (number * 1.001).rounded()
      if abs(number - nearest) < 1e-9 {
        rate = Fraction(Int32(nearest), 1)
      } else if abs(number - thousands / 1.001) < 0.005 {
        rate = Fraction(Int32(thousands) * 1000, 1001)
      } else {
        rate = Fraction(Int32((number * 1000).rounded()), 1000)
      }
    } else {
      return nil
    }
  }
}

/// Numbers of streams: 0,2.
struct StreamNumbersArgument: ExpressibleByArgument {
  let numbers: [Int]

  init?(argument: String) {
    let parts = argument.split(separator: ",", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { part in part.allSatisfy { $0.isASCII && $0.isNumber } ? Int(part) : nil }
    guard numbers.count == parts.count, !numbers.isEmpty else { return nil }
    self.numbers = numbers
  }
}
