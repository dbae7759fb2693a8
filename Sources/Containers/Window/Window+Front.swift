// SPDX-License-Identifier: MPL-2.0

extension Window {
  /// The access units in front of the beginning of a window. They are held, beginning with the last keyframe that is
  /// shown at or before the start, until all pictures up to the start have come. All times are of the media, in
  /// nanoseconds.
  struct Front {
    let bounds: Bounds
    /// The range that the source shows; `nil` for everything.
    private let shown: ShownRange?
    /// When the first picture is composed; `nil` before that is known.
    private(set) var origin: Int64?
    private var held: [AccessUnit] = []
    /// The bytes of ``held``.
    private var heldByteCount = 0
    private static let heldByteLimit = 1 << 28
    /// Whether a random access point up to the start was passed by, because the range cannot begin with it.
    private var hasPassedEntry = false
    /// More is held than memory should have to hold, behind a picture that begins the range far in front of the start.
    var holdsTooMuch: Bool { hasPassedEntry && heldByteCount > Self.heldByteLimit }
    /// Access units since the first that is shown.
    private var shownCount = 0
    /// Access units since the first that is shown behind the start.
    private var behind = 0

    /// Whether reading did not begin with the beginning of the file.
    let hasSought: Bool

    /// How far in front of the start a place is sought, for sound and for subtitles of long duration.
    private static let margin: Int64 = 5_000_000_000

    /// - Parameter origin: when the first picture is composed, if reading begins somewhere in front of the start; `nil`
    ///   if it begins with the file.
    init(_ bounds: Bounds, of shown: ShownRange?, origin: Int64?) {
      (self.bounds, self.shown, self.origin, hasSought) = (bounds, shown, origin, origin != nil)
    }

    /// See ``Window/distantStart``.
    var distantStart: Int64? {
      // The order of fields in frames is known from the first one on.
      guard !hasSought, let origin, let last = held.last?.presentation, held.last?.role.isPresentedField == false,
        case (let place, false) = (origin &+ bounds.start).subtractingReportingOverflow(Self.margin),
        case (let distance, false) = place.subtractingReportingOverflow(last), distance > Self.margin
      else { return nil }
      return place
    }

    /// The start, and as much behind it as containers may round times.
    private var target: Int64? { origin.map { $0 &+ bounds.start &+ Window.tolerance } }

    /// Takes an access unit. Returns whether all access units that decide the beginning are there.
    mutating func add(_ accessUnit: AccessUnit) -> Bool {
      if let target {
        hold(accessUnit, target)
      } else {
        held.append(accessUnit)
        if shownCount > 0 || shows(accessUnit) { shownCount += 1 }
        if shownCount >= Window.reorderLimit { findOrigin() }
      }
      return behind >= Window.reorderLimit
    }

    private mutating func hold(_ accessUnit: AccessUnit, _ target: Int64) {
      // Pictures that are decoded in front of a random access point are shown in front of it.
      let isInFront = accessUnit.presentation <= target
      if isInFront, isEntry(accessUnit) {
        (held, behind, heldByteCount, hasPassedEntry) = ([], 0, 0, false)
      } else if behind > 0 || !isInFront {
        behind += 1
      }
      hasPassedEntry = hasPassedEntry || isInFront && accessUnit.isSync && !isEntry(accessUnit)
      held.append(accessUnit)
      heldByteCount += accessUnit.bytes.count
    }

    private func isEntry(_ accessUnit: AccessUnit) -> Bool {
      switch bounds.beginning {
      case .closed: accessUnit.role.start == .closed
      // The first picture of an exact cut may be an encoded one.
      case .anew where bounds.mode != .exact: accessUnit.isSync && accessUnit.role.canBeginAnew
      default: accessUnit.isSync
      }
    }

    private func shows(_ accessUnit: AccessUnit) -> Bool {
      shown?.shows(accessUnit.presentation, for: accessUnit.duration) != false
    }

    /// Finds the first picture: leading pictures of the first keyframe are not decoded, and nothing in front of it is.
    private mutating func findOrigin() {
      let first = held.firstIndex { $0.isSync || $0.isKeyframe } ?? 0
      guard held.indices.contains(first) else { return }
      let keyframe = held[first].presentation
      let times = held[first...].lazy
        .filter { $0.presentation >= keyframe || $0.role.isDecodableLeading }
        .filter(shows)
        .map(\.presentation)
      origin = max(times.min() ?? keyframe, shown?.start ?? .min)
      guard let target else { return }
      let accessUnits = held
      (held, behind, heldByteCount, hasPassedEntry) = ([], 0, 0, false)
      for accessUnit in accessUnits { hold(accessUnit, target) }
    }

    /// The beginning and the range of the window, by the access units up to now, with these access units; `nil` if the
    /// source ends before it.
    ///
    /// - Parameter isAtEnd: whether none follows.
    /// - Throws: `CopyRefusal.missed` if the place that was sought is too late: decoding cannot begin there, or the
    ///   window needs an earlier keyframe. `CopyRefusal.seam` if it needs a picture that the source does not have.
    mutating func beginning(
      isAtEnd: Bool
    ) throws(CopyRefusal) -> (accessUnits: [AccessUnit], opening: Opening, shown: ShownRange)? {
      if origin == nil { findOrigin() }
      guard let origin, let target, let entry = held.first else { return nil }
      let (keyframe, wanted) = (entry.presentation, origin &+ bounds.start)
      if isAtEnd, bounds.start > 0, behind == 0, lastEnd <= target { return nil }
      if hasSought, !isEntry(entry) || keyframe > wanted &+ Window.tolerance { throw .missed }
      // Streams without any entry are copied as they are.
      guard isEntry(entry) || bounds.beginning != .closed && !hasPassedEntry && !entry.isSync else {
        throw .seam(.noEntry)
      }
      var bounds = bounds
      if bounds.beginning == .anewIfPossible { bounds.beginning = entry.role.canBeginAnew ? .anew : .asItIs }
      // The source may hide pictures at its end.
      let end = [bounds.end.map { origin &+ $0 }, shown?.end].compactMap(\.self).min().map { $0 &- Window.tolerance }
      guard bounds.mode != .exact else {
        let start = firstPicture(of: held)
        let opening = Opening(
          bounds: bounds, keyframe: keyframe, origin: origin, earliest: start, droppedLeading: 0, keptLeading: 0)
        return (held, opening, ShownRange(start: start, end: end, time: 0))
      }
      // A frame begins with its first field.
      let first = keyframe > target ? origin : keyframe
      let upToStart = held.lazy.filter { !$0.role.isSecondField }.map(\.presentation).filter {
        $0 <= target && $0 >= first
      }
      let isKeyframeWanted = bounds.mode == .keyframe && keyframe <= target
      let (kept, dropped, leading) = withoutLeading(
        keepingReferences: bounds.beginning == .asItIs, keepingDecodable: keyframe > target)
      let pictureAtStart = max(upToStart.max() ?? keyframe, shown?.start ?? .min)
      let start = isKeyframeWanted ? keyframe : bounds.isHalfOpen ? firstPicture(of: kept) : pictureAtStart
      let opening = Opening(
        bounds: bounds, keyframe: keyframe, origin: origin, earliest: kept.lazy.map(\.presentation).min() ?? start,
        droppedLeading: dropped, keptLeading: leading,
        passesRecoveryPoint: hasPassedEntry && bounds.beginning == .anew)
      return (kept, opening, ShownRange(start: start, end: end, time: 0))
    }

    /// When the first picture at or behind the start is composed; the start itself if there is none. The first picture of
    /// the source may begin in front of the part that the source shows.
    private func firstPicture(of accessUnits: [AccessUnit]) -> Int64 {
      let (times, origin) = (accessUnits.lazy.filter { !$0.role.isSecondField }.map(\.presentation), origin ?? 0)
      let (first, wanted) = (origin &+ Window.tolerance, origin &+ bounds.start)
      if bounds.start <= Window.tolerance, let time = times.filter({ $0 <= first }).max() { return time }
      return times.filter { $0 >= wanted &- Window.tolerance }.min() ?? wanted
    }

    /// When the last picture ends.
    private var lastEnd: Int64 { held.lazy.map { $0.presentation &+ max($0.duration, 1) }.max() ?? .min }

    /// See ``Window/searched``.
    var duration: Int64? { held.isEmpty ? nil : origin.map { lastEnd &- $0 } }

    /// Without the leading pictures of the first access unit that nothing behind them refers to. Returns how many were
    /// left out, and how many are still there.
    ///
    /// - Parameters:
    ///   - keepsReferences: whether those of H.264 stay that others refer to.
    ///   - keepsDecodable: whether those stay that can be decoded, because the start is in front of the first access
    ///     unit.
    private func withoutLeading(
      keepingReferences keepsReferences: Bool, keepingDecodable keepsDecodable: Bool
    ) -> (accessUnits: [AccessUnit], dropped: Int, kept: Int) {
      guard let first = held.first, first.role.start == .open else { return (held, 0, 0) }
      let keyframe = first.presentation
      let kept = held.filter {
        $0.presentation >= keyframe
          || ($0.role.isLeading
            ? keepsDecodable && !$0.role.isSkippedLeading : keepsReferences && $0.role.isReference)
      }
      return (kept, held.count - kept.count, kept.count { $0.presentation < keyframe && !$0.role.isLeading })
    }
  }
}
