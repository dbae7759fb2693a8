// SPDX-License-Identifier: MPL-2.0
import AVFormat

/// The times of a copy, by the times of the media, and the choice of pictures that are shown.
struct CopyTimes {
  /// The range that the source shows; `nil` for everything.
  var shown: ShownRange?
  /// Whether the source has pictures in front of the range.
  var hidesFront = false
  /// All parts that are shown, if there are several; everything is copied then.
  var parts: [ShownRange] = []
  /// When the presentation begins for other streams, in nanoseconds of the media.
  var zero: Int64 = 0
  /// Ticks that hold the source's times exactly; `nil` if they are not known.
  var timeBase: TimeBase?

  /// The frame rate that the source's container states; `nil` for none.
  var frameRate: TimeBase?

  /// The offset that is subtracted from the media's times of the video.
  private var offset: Int64 = 0
  /// The offset that is subtracted from the media's times of other streams.
  private(set) var otherStreamOffset: Int64 = 0
  /// When the last shown picture ends, and the last of all, in nanoseconds of the presentation.
  private var (shownEnd, end): (Int64, Int64) = (.min, .min)
  /// Pictures in front of the first picture that the source shows.
  private(set) var hiddenInFront = 0
  /// Whether the presentation is a cut of the source's.
  private var isCut = false
  /// When the first picture behind the range begins, in nanoseconds of the presentation.
  private var next = Int64.max
  /// When the last second field ends that comes behind the end with its frame, in the same time.
  private var fieldEnd = Int64.min
  /// Whether the access unit before is shown.
  private var wasShown = true

  /// - Parameter shown: the range that the source shows; `nil` for everything.
  init(shown: ShownRange? = nil) { self.shown = shown }

  /// Limits the presentation to a cut of the source's.
  mutating func cut(from start: Int64, to end: Int64?) {
    zero = otherStreamTime(of: start)
    shown = ShownRange(start: start, end: end, time: 0)
    isCut = true
  }

  /// The time of the media that other streams have when a picture that is composed at a time is shown.
  func otherStreamTime(of composition: Int64) -> Int64 {
    zero &+ composition &- (shown.map { $0.start - $0.time } ?? 0)
  }

  /// Begins the presentation.
  ///
  /// - Parameters:
  ///   - first: the first access unit's presentation time of the media.
  ///   - hasEditList: whether the copy can hide pictures in front of the presentation. Otherwise it has no times
  ///     below 0.
  mutating func begin(at first: Int64, hasEditList: Bool) {
    offset = parts.isEmpty ? shown.map { $0.start - $0.time } ?? first : 0
    otherStreamOffset = zero
    if !hasEditList, first < offset {
      otherStreamOffset += first - offset
      offset = first
    }
  }

  /// Delays the beginning to avoid times below 0, both for an access unit that is decoded at this time of the media
  /// and for another stream's packet.
  mutating func beginAtZero(_ decoding: Int64, _ other: Int64?) {
    let earliest = min(decoding - offset, other.map { $0 - otherStreamOffset } ?? 0, 0)
    offset += earliest
    otherStreamOffset += earliest
  }

  /// Replaces an access unit's times of the media by times of the presentation. Returns whether the source shows it.
  mutating func place(_ accessUnit: inout MediaOutput.AccessUnit) -> Bool {
    let composition = accessUnit.presentation
    accessUnit.presentation -= offset
    accessUnit.decoding -= offset
    end = max(end, accessUnit.presentation + accessUnit.duration)
    // A cut begins with a whole picture.
    wasShown =
      accessUnit.role.isSecondField
      ? wasShown : shown?.shows(composition, for: isCut ? 1 : accessUnit.duration) != false
    guard wasShown else {
      if composition < shown?.start ?? .min { hiddenInFront += 1 } else { next = min(next, accessUnit.presentation) }
      return false
    }
    shownEnd = max(shownEnd, accessUnit.presentation + accessUnit.duration)
    if let last = shown?.end, composition >= last {
      fieldEnd = max(fieldEnd, accessUnit.presentation + max(accessUnit.duration, 1))
    }
    return true
  }

  /// Whether an access unit with times of the media comes behind the end of the range.
  func isBehind(_ accessUnit: borrowing MediaOutput.AccessUnit) -> Bool {
    shown?.end.map { accessUnit.presentation >= $0 } ?? false
  }

  /// The ranges that an edit list must show, with times of the presentation; empty if timestamps alone show them.
  var edits: [ShownRange] {
    if !parts.isEmpty {
      return parts.map { ShownRange(start: $0.start, end: $0.end ?? max(end, $0.start), time: $0.time) }
    }
    // A picture ends when the next one begins, whatever its duration is.
    let shownEnd = min(shownEnd, next)
    guard let shown, end > shownEnd || hiddenInFront > 0 && shown.time > 0, shownEnd > shown.time else { return [] }
    // The last picture of a cut lasts up to its end, or the next one.
    let cutEnd = isCut ? shown.end.map { min(max($0 + Cut.tolerance - offset, fieldEnd), next) } : nil
    return [ShownRange(start: shown.time, end: cutEnd ?? shownEnd, time: shown.time)]
  }
}
