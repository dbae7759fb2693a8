// SPDX-License-Identifier: MPL-2.0
import Containers
import GStreamer
import StreamReport

/// The times of a file's decoded pictures, which come one after the other.
struct PictureClock {
  /// Whether the time of a picture is the sum of the durations before it, because the container has only decoding
  /// times.
  private let addsDurations: Bool
  /// Whether the clock of the file begins anywhere, or with the decoding of the first picture.
  private let beginsAnywhere: Bool
  /// The durations of the pictures so far.
  private var elapsed = ClockTime.zero
  private var first: ClockTime?

  init(_ input: InputFile) {
    addsDurations = input.kind == .container(.avi)
    beginsAnywhere = input.isRaw || input.hasClock
  }

  /// The stream time of the next picture; `nil` if it has none.
  mutating func streamTime(of sample: Sample) -> ClockTime? {
    guard addsDurations, let duration = sample.duration else { return sample.streamTime }
    defer { elapsed = elapsed + duration }
    return elapsed
  }

  /// The time of the next picture in nanoseconds, since the beginning of the file, or since the first picture if the
  /// clock begins anywhere. `nil` if it has none.
  mutating func time(of sample: Sample) -> Int64? {
    guard let time = streamTime(of: sample) else { return nil }
    let origin = beginsAnywhere ? first ?? time : .zero
    first = origin
    return Int64(clamping: time.nanoseconds) - Int64(clamping: origin.nanoseconds)
  }
}

extension Sample {
  /// The stream time of its PTS: its time since the beginning of the file.
  var streamTime: ClockTime? {
    guard let pts else { return nil }
    return segment?.streamTime(of: pts) ?? pts
  }
}
