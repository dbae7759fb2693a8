// SPDX-License-Identifier: MPL-2.0

/// The access units in front of the beginning of a cut. They are held, beginning with the last keyframe that is shown
/// at or before the cut's start, until all pictures up to the start have come.
struct CutFront {
  /// An access unit that is held.
  struct Entry {
    var accessUnit: MediaOutput.AccessUnit
    /// The number of its format.
    let format: Int
  }

  private let cut: Cut
  /// The range that the source shows; `nil` for everything.
  private let shown: ShownRange?
  /// The composition time of the first picture, once that is known.
  private var origin: Int64?
  private var entries: [Entry] = []
  /// Access units since the first that is shown.
  private var shownCount = 0
  /// Access units since the first that is shown behind the start.
  private var behind = 0

  /// Whether reading did not begin with the beginning of the file.
  let hasSought: Bool

  /// How far in front of the start a place is sought, in nanoseconds, for sound and for subtitles of long duration.
  private static let margin: Int64 = 5_000_000_000

  /// A picture is decoded behind at most 16 that are shown later, each of which may have two fields.
  static let reorderLimit = 34

  /// - Parameter origin: the composition time of the first picture, if reading begins somewhere in front of the
  ///   start; `nil` if it begins with the file.
  init(_ cut: Cut, of shown: ShownRange?, origin: Int64? = nil) {
    (self.cut, self.shown, self.origin, hasSought) = (cut, shown, origin, origin != nil)
  }

  /// The place to continue at, in nanoseconds of the media, if seeking to a distant start is faster; `nil` otherwise.
  var distantStart: (origin: Int64, place: Int64)? {
    guard !hasSought, let origin, let last = entries.last?.accessUnit.presentation else { return nil }
    guard case (let place, false) = (origin + cut.start).subtractingReportingOverflow(Self.margin),
      case (let distance, false) = place.subtractingReportingOverflow(last), distance > Self.margin
    else { return nil }
    return (origin, place)
  }

  /// Whether a place that was sought is too late: decoding cannot begin with the first held access unit, or the cut
  /// needs an earlier keyframe.
  func misses(_ beginning: CutBeginning) -> Bool {
    guard hasSought, let first = beginning.entries.first else { return false }
    return !first.accessUnit.isSync || beginning.keyframe > beginning.wanted + Cut.tolerance
  }

  private var target: Int64? { origin.map { $0 + cut.start + Cut.tolerance } }

  /// Takes an access unit. Returns whether all access units that decide the beginning are there.
  mutating func add(_ entry: Entry) -> Bool {
    guard let target else {
      entries.append(entry)
      if shownCount > 0 || shows(entry) { shownCount += 1 }
      if shownCount >= Self.reorderLimit { findOrigin() }
      return behind >= Self.reorderLimit
    }
    add(entry, target)
    return behind >= Self.reorderLimit
  }

  private mutating func add(_ entry: Entry, _ target: Int64) {
    // Pictures that are decoded in front of a random access point are shown in front of it.
    if entry.accessUnit.isSync, entry.accessUnit.presentation <= target {
      entries = []
      behind = 0
    } else if behind > 0 || entry.accessUnit.presentation > target {
      behind += 1
    }
    entries.append(entry)
  }

  private func shows(_ entry: Entry) -> Bool {
    shown?.shows(entry.accessUnit.presentation, for: entry.accessUnit.duration) != false
  }

  /// Finds the first picture: leading pictures of the first keyframe are not decoded, and nothing in front of it is.
  private mutating func findOrigin() {
    let first = entries.firstIndex { $0.accessUnit.isSync || $0.accessUnit.isKeyframe } ?? 0
    guard entries.indices.contains(first) else { return }
    let keyframe = entries[first].accessUnit.presentation
    let times = entries[first...].lazy
      .filter {
        $0.accessUnit.presentation >= keyframe || $0.accessUnit.role.isLeading && !$0.accessUnit.role.isSkippedLeading
      }
      .filter(shows)
      .map(\.accessUnit.presentation)
    let origin = max(times.min() ?? keyframe, shown?.start ?? .min)
    self.origin = origin
    let held = entries
    (entries, behind) = ([], 0)
    for entry in held { add(entry, origin + cut.start + Cut.tolerance) }
  }

  /// The beginning of the cut, by the access units up to now; `nil` if the source ends before it.
  ///
  /// - Parameter isAtEnd: whether none follows.
  mutating func beginning(isAtEnd: Bool) -> CutBeginning? {
    if origin == nil { findOrigin() }
    guard let origin, let target, let first = entries.first else { return nil }
    let keyframe = first.accessUnit.presentation
    if isAtEnd, cut.start > 0, behind == 0, lastEnd <= target { return nil }
    // A frame begins with its first field.
    let upToStart = entries.lazy.map(\.accessUnit).filter { !$0.role.isSecondField }.map(\.presentation)
      .filter { $0 <= target && $0 >= min(keyframe, target) }
    let shownFirst = upToStart.max() ?? keyframe
    let isKeyframeWanted = cut.mode == .keyframe && keyframe <= target
    let (kept, dropped, leading) = withoutLeading()
    return CutBeginning(
      entries: kept, start: isKeyframeWanted ? keyframe : max(shownFirst, shown?.start ?? .min),
      end: cut.end.map { origin + $0 - Cut.tolerance }, keyframe: keyframe, wanted: origin + cut.start, origin: origin,
      droppedLeading: dropped, keptLeading: leading)
  }

  /// When the last picture ends, in nanoseconds of the media.
  private var lastEnd: Int64 {
    entries.lazy.map { $0.accessUnit.presentation + max($0.accessUnit.duration, 1) }.max() ?? .min
  }

  /// The time from the first picture to the end of the last up to now, in nanoseconds; `nil` without any.
  var duration: Int64? { entries.isEmpty ? nil : origin.map { lastEnd - $0 } }

  /// Without the leading pictures of the first access unit that nothing behind them refers to. Returns how many were
  /// left out, and how many are still there.
  private func withoutLeading() -> (entries: [Entry], dropped: Int, kept: Int) {
    guard let first = entries.first, first.accessUnit.role.start == .open else { return (entries, 0, 0) }
    let keyframe = first.accessUnit.presentation
    let kept = entries.filter { entry in
      entry.accessUnit.presentation >= keyframe || !entry.accessUnit.role.isLeading && entry.accessUnit.role.isReference
    }
    let leading = kept.count { $0.accessUnit.presentation < keyframe }
    return (kept, entries.count - kept.count, leading)
  }
}
