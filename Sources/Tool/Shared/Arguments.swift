// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import Containers
import GStreamer
import H26x

/// A time on the command line: seconds, minutes and seconds, or hours, minutes and seconds, with decimals.
struct TimeArgument: ExpressibleByArgument {
  let time: ClockTime

  init?(argument: String) {
    guard let time = ClockTime(text: argument) else { return nil }
    self.time = time
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

/// A frame rate: 25, 29.97 or 30000/1001; at least 0.01.
struct FrameRateArgument: ExpressibleByArgument {
  let rate: Fraction
  let ratio: Ratio

  init?(argument: String) {
    // Caps have numbers of 31 bits. Less than one picture in a hundred seconds is a mistake.
    guard let ratio = Ratio(frameRate: argument), let numerator = Int32(exactly: ratio.numerator),
      let denominator = Int32(exactly: ratio.denominator), Int64(numerator) * 100 >= Int64(denominator)
    else { return nil }
    (rate, self.ratio) = (Fraction(numerator, denominator), ratio)
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

/// The option of subcommands that may run for long.
struct ProgressOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "How to show progress: auto (a line on a terminal), json (an object per second on standard error) or none.",
      valueName: "style"))
  var progress = Progress.Style.auto
}

extension Progress.Style: ExpressibleByArgument {}

/// A subcommand that may run for long.
protocol ShowsProgress: ParsableCommand {
  /// How it shows how far it has come.
  var progress: ProgressOptions { get }
}
