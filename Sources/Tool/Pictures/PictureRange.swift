// SPDX-License-Identifier: MPL-2.0
import Containers
import GStreamer

/// Chooses the pictures of a range of time, starting with the picture that is shown at its start.
struct PictureRange {
  /// Pictures to take, and how to continue.
  struct Selection {
    var samples: [Sample] = []
    var next = Next.more
  }

  enum Next {
    case more, end
    /// The picture has no time.
    case untimed
  }

  /// Half of a millisecond, to which containers round times.
  private static let tolerance = ClockTime(nanoseconds: 500_000)

  private let start: ClockTime
  private let duration: ClockTime?
  private var clock: PictureClock
  /// The stream time of the first picture, from which `start` counts: 0 in some containers, a reordering delay or the
  /// time of the recording in others.
  private var origin: ClockTime?
  /// Whether the picture that is shown at the start has been found.
  private var hasBegun = false
  private var hasSought = false
  /// The latest picture up to the start.
  private var shown: (sample: Sample, time: ClockTime)?
  /// Whether pictures after a seek begin too late, or damaged.
  private(set) var isMissed = false
  /// Chosen pictures with the flag corrupted.
  private(set) var corrupted = 0

  init(start: ClockTime, duration: ClockTime?, clock: PictureClock) {
    (self.start, self.duration, self.clock) = (start, duration, clock)
  }

  /// Pictures after a seek come.
  ///
  /// - Parameter origin: the stream time of the file's first picture.
  mutating func begin(origin: ClockTime) {
    self.origin = origin
    hasSought = true
    isMissed = true
  }

  /// Chooses from the pictures up to this one.
  mutating func select(_ sample: Sample) -> Selection {
    guard let time = clock.streamTime(of: sample) else { return Selection(next: .untimed) }
    let origin = origin ?? time
    self.origin = origin
    let begin = origin + start
    var selection = Selection()
    if !hasBegun {
      let isUpToStart = time <= begin + Self.tolerance
      if hasSought, sample.isCorrupted || !isUpToStart && shown == nil {
        isMissed = true
        return Selection(next: .end)
      }
      isMissed = false
      if isUpToStart {
        shown = (sample, time)
        return selection
      }
      selection.samples = shown.map { [$0.sample] } ?? []
      (hasBegun, shown) = (true, nil)
    }
    if let duration, time + Self.tolerance >= begin + duration {
      selection.next = .end
    } else {
      selection.samples.append(sample)
    }
    corrupted += selection.samples.count { $0.isCorrupted }
    return selection
  }

  /// The stream has ended: the last picture is shown for its duration.
  mutating func finish() -> Selection {
    guard let (last, time) = shown, let origin else { return Selection() }
    shown = nil
    let isShown = time + (last.duration ?? .zero) > origin + start + Self.tolerance
    return Selection(samples: isShown ? [last] : [])
  }
}

extension Sample {
  fileprivate var isCorrupted: Bool { attributes.flags.contains(.corrupted) }
}
