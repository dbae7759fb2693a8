// SPDX-License-Identifier: MPL-2.0

/// The part of a source that a copy has: its access units, and the choice of those that are shown.
///
/// ```
/// searching ──the first picture, the keyframe and the start are there──▶ open ──enough behind the end──▶ finished
/// ```
///
/// A window that begins with its source is open at once. It takes access units in decoding order and returns
/// those to write, in the same order, whoever encoded them. The window of an exact cut also returns access units to
/// decode and encode: see ``Window/Exact``. All times are of the media, in nanoseconds. Sums wrap, because a hostile file
/// may have times at the limits.
package struct Window {
  typealias AccessUnit = MediaOutput.AccessUnit

  /// The requested part of a presentation.
  package struct Bounds: Sendable, Hashable {
    /// How the first picture is chosen. Only an exact cut encodes.
    package enum Mode: String, Sendable, CaseIterable {
      /// The keyframe at or before the start.
      case keyframe
      /// The picture that is shown at the start, or the first one at or behind it: see ``isHalfOpen``. The pictures that
      /// it needs are in the file, in front of the edit list's range.
      case hidden
      /// The first picture at or behind the start. Pictures that cannot be decoded from it are encoded.
      case exact
    }

    /// The picture with which decoding begins, if the range is not cut exactly.
    package enum Beginning: Sendable, Hashable {
      /// A random access point, as it is in the source. Leading pictures that others refer to are kept.
      case asItIs
      /// A random access point without its leading pictures. A recovery point of H.264 becomes an IDR picture, so that
      /// the range can follow another. If it cannot become one, decoding begins earlier.
      case anew
      /// The same if the first random access point allows it. Otherwise, that is as it is in the source.
      case anewIfPossible
      /// A picture that no later one refers beyond.
      case closed
    }

    /// The start, in nanoseconds since the first picture.
    package var start: Int64 = 0
    /// The end, in the same time; `nil` for the end of the file.
    package var end: Int64?
    package var mode: Mode
    /// Whether a hidden cut also begins with the first picture at or behind the start, so no two parts of a video have
    /// the same picture.
    package var isHalfOpen: Bool
    package var beginning = Beginning.asItIs
    /// When the first picture is shown, in nanoseconds of the presentation that the user counts.
    package var offset: Int64 = 0
    /// Intra pictures without a promise up to this time of the media are not used as entries of an exact cut.
    package var refusedTime = Int64.min

    package init(start: Int64 = 0, end: Int64? = nil, mode: Mode, isHalfOpen: Bool = false, offset: Int64 = 0) {
      (self.start, self.end, self.mode, self.isHalfOpen, self.offset) = (start, end, mode, isHalfOpen, offset)
    }
  }

  /// The beginning of a window. Its range is in ``Window/shown``.
  struct Opening {
    /// Those requested. The beginning is decided: it is not ``Bounds/Beginning/anewIfPossible`` any more.
    let bounds: Bounds
    /// When the first access unit is composed, with which decoding begins.
    let keyframe: Int64
    /// When the first picture of the source is composed.
    let origin: Int64
    /// The earliest composition time of all access units up to the start.
    let earliest: Int64
    /// Leading pictures of the first access unit that need pictures in front of it: left out, and kept because others
    /// refer to them.
    let (droppedLeading, keptLeading): (Int, Int)
    /// A recovery point is nearer to the start than the first access unit, but cannot become an IDR picture.
    var passesRecoveryPoint = false

    /// The requested start.
    var wanted: Int64 { origin &+ bounds.start }

    /// Whether the first picture of the source was requested.
    var isAtOrigin: Bool { bounds.start == 0 }
  }

  /// Whether a part of what the source shows was requested. The bounds are in ``front``, then in ``opening`` and ``shown``.
  let isCut: Bool
  /// The range that is shown; `nil` for everything.
  private(set) var shown: ShownRange?
  /// All parts that are shown, if there are several; everything is copied then.
  let parts: [ShownRange]
  /// Finds the beginning; `nil` when there is nothing to find any more.
  private var front: Front?
  /// The beginning; `nil` before it is found, and for a window that begins with its source.
  private(set) var opening: Opening?

  /// The choice of an exact cut, once its beginning is found; `nil` for all others.
  private var exact: Exact?
  /// The access units that have left, and those that were left out.
  private(set) var tally = Tally()

  /// Hidden access units since the last one that is shown. Later access units may need them.
  private var held: [AccessUnit] = []
  /// The number of them that come behind the end.
  private var behindCount = 0
  /// Nothing more of the source is needed.
  private(set) var isFinished = false

  /// When the last shown picture begins.
  private var lastShown: Int64?
  /// When the source ends by its edit list; `nil` without one, and for a copy that is no cut.
  private var sourceEnd: Int64?
  /// When the last shown picture ends, and the last picture of all.
  private var shownEnd: Int64?
  private var end: Int64?
  /// When the first picture behind the range begins.
  private var next: Int64?
  /// When the last second field ends that comes behind the end with its frame.
  private var fieldEnd: Int64?
  /// Pictures in front of the range.
  private(set) var hiddenInFront = 0
  /// Hidden pictures that come with later, shown pictures.
  private(set) var hiddenBehind = 0

  /// Half of a millisecond, to which containers round times.
  static let tolerance: Int64 = 500_000

  /// A picture is decoded behind at most 16 that are shown later, each of which may have two fields.
  static let reorderLimit = 34

  /// - Parameters:
  ///   - shown: the range that the source shows; `nil` for everything.
  ///   - parts: all parts that it shows, if there are several.
  ///   - dropsFront: whether pictures in front of the keyframe that the range needs are left out.
  ///   - origin: when the first picture is composed, if reading begins at a place near the start.
  init(
    _ bounds: Bounds? = nil, of shown: ShownRange? = nil, parts: [ShownRange] = [], dropsFront: Bool = false,
    origin: Int64? = nil
  ) {
    (isCut, self.shown, self.parts) = (bounds != nil, shown, parts)
    guard bounds != nil || dropsFront else { return }
    front = Front(bounds ?? Bounds(mode: .hidden), of: shown, origin: origin)
  }

  /// Whether the beginning is not found yet.
  var isSearching: Bool { front != nil }

  /// Whether access units may be left out.
  var isSelective: Bool { front != nil || opening != nil || shown?.end != nil }

  /// When the first picture of the source is composed, while the beginning is searched for; `nil` before it is known.
  var origin: Int64? { front?.origin }

  /// The place to read from, if that is faster than to read on to a distant start; `nil` otherwise.
  var distantStart: Int64? { front?.distantStart }

  /// The requested start, and the end of the last picture up to now, since the source's first picture; `nil` without
  /// any, and once the beginning is found.
  var searched: (start: Int64, duration: Int64)? {
    front.flatMap { front in front.duration.map { (front.bounds.start, $0) } }
  }

  // MARK: Access units

  /// Takes the next access unit.
  ///
  /// - Returns: the access units to write now. Hidden ones come with the next one that is shown.
  /// - Throws: `CopyRefusal.missed` if reading began behind the keyframe that is needed; `CopyRefusal.entry` if an
  ///   intra picture must not be used as an entry. `CopyRefusal.seam` if no picture begins the range that can follow
  ///   another.
  mutating func take(_ accessUnit: AccessUnit) throws(CopyRefusal) -> [AccessUnit] {
    if exact?.holdsTooMuch == true { throw .entry(.max, .verification) }
    if front?.holdsTooMuch == true { throw .seam(.distantEntry) }
    guard isSearching else { return place(accessUnit) }
    return try front?.add(accessUnit) == true ? open(isAtEnd: false) : []
  }

  /// Takes the end of the source.
  ///
  /// - Returns: the access units to write now.
  /// - Throws: `CopyRefusal.missed` if reading began behind the start.
  mutating func finish() throws(CopyRefusal) -> [AccessUnit] {
    var rest = try open(isAtEnd: true)
    if front?.hasSought == true { throw .missed }
    if let last = exact?.finish() { rest += counted(last) }
    return rest
  }

  private mutating func open(isAtEnd: Bool) throws(CopyRefusal) -> [AccessUnit] {
    guard let found = try front?.beginning(isAtEnd: isAtEnd) else { return [] }
    (opening, front) = (found.opening, nil)
    if isCut { (sourceEnd, shown) = (shown?.end, found.shown) }
    if found.opening.bounds.mode == .exact { exact = Exact(found.shown, refusing: found.opening.bounds.refusedTime) }
    if found.opening.droppedLeading > 0 { tally.leftOut[.leading] = found.opening.droppedLeading }
    return found.accessUnits.flatMap { place($0) }
  }

  /// Whether an access unit comes behind the end of the range.
  func isBehind(_ accessUnit: borrowing AccessUnit) -> Bool {
    shown?.end.map { accessUnit.presentation >= $0 } ?? false
  }

  private mutating func place(_ accessUnit: AccessUnit) -> [AccessUnit] { counted(choose(accessUnit)) }

  private mutating func choose(_ accessUnit: AccessUnit) -> [AccessUnit] {
    let (composition, duration) = (accessUnit.presentation, accessUnit.duration)
    end = max(end ?? .min, composition &+ duration)
    // A cut has whole pictures.
    let isShown = shown?.shows(accessUnit.frameStart, for: isCut ? 1 : duration) != false
    if isShown { lastShown = max(lastShown ?? .min, composition) }
    if exact != nil { return chooseExactly(accessUnit, isShown: isShown) }
    guard isShown else {
      if composition < shown?.start ?? .min { hiddenInFront += 1 } else { next = min(next ?? .max, composition) }
      behindCount += isBehind(accessUnit) ? 1 : 0
      // More than can be decoded in front of the last one that is shown.
      isFinished = isCut && behindCount > Self.reorderLimit
      held.append(accessUnit)
      return []
    }
    shownEnd = max(shownEnd ?? .min, pictureEnd(of: accessUnit))
    if isBehind(accessUnit) { fieldEnd = max(fieldEnd ?? .min, composition &+ max(duration, 1)) }
    hiddenBehind += held.count { $0.presentation >= composition }
    defer { (held, behindCount) = ([], 0) }
    return held.map { $0.used(as: .hidden) } + [accessUnit]
  }

  private mutating func chooseExactly(_ accessUnit: AccessUnit, isShown: Bool) -> [AccessUnit] {
    if isShown {
      shownEnd = max(shownEnd ?? .min, pictureEnd(of: accessUnit))
    } else if isBehind(accessUnit) {
      next = min(next ?? .max, accessUnit.presentation)
    }
    let chosen = exact?.take(accessUnit) ?? []
    isFinished = exact?.isFinished ?? false
    return chosen
  }

  /// When a shown picture ends: with the source at the latest, because its duration may be that of decoding.
  private func pictureEnd(of accessUnit: AccessUnit) -> Int64 {
    min(accessUnit.presentation &+ accessUnit.duration, sourceEnd ?? .max)
  }

  private mutating func counted(_ accessUnits: [AccessUnit]) -> [AccessUnit] {
    for accessUnit in accessUnits { tally.count[accessUnit.disposition, default: 0] += 1 }
    if let exact { tally.leftOut = exact.leftOut }
    return accessUnits
  }

  /// Whether more of the source would belong to the range if there was more: no picture came from behind the range.
  var isUnended: Bool { !isCut || shown?.end == nil || next == nil }

  /// The pictures that are shown, since the source's first picture: when the first one begins and the last one ends;
  /// `nil` without any.
  var shownSpan: (start: Int64, end: Int64)? {
    guard let opening, let shown, let rangeEnd else { return nil }
    return (max(shown.start &- opening.origin, 0), rangeEnd &- opening.origin)
  }

  /// When the range ends: with its last picture. That lasts up to the requested end, or the next picture, because
  /// durations may be those of decoding.
  private var rangeEnd: Int64? {
    guard let shownEnd, let next else { return shownEnd }
    let wanted = isCut ? shown?.end.map { $0 &+ Self.tolerance } : nil
    return min(max(shownEnd, wanted ?? .min), next)
  }

  /// How long the last picture of an exact cut is shown, if a picture follows in the source; `nil` for all others.
  ///
  /// - Parameter presentation: of an access unit that is written.
  func lastDuration(at presentation: Int64) -> Int64? {
    guard exact != nil, next != nil, presentation == lastShown, let rangeEnd, rangeEnd > presentation else {
      return nil
    }
    return rangeEnd.subtractingReportingOverflow(presentation).partialValue
  }

  /// Whether an exact cut encodes everything because its range has only gradual refreshes, no place to copy from.
  var hasOnlyGradualRefresh: Bool { exact?.hasOnlyGradualRefresh ?? false }

  /// When the entry of an exact cut is shown if it is an intra picture without a promise; `nil` otherwise.
  var unprovenEntry: Int64? { exact?.unprovenEntry }

  // MARK: The edit list

  /// How long the window shows pictures; `nil` if it shows none.
  var shownDuration: Int64? {
    guard let shown, shownEnd != nil else { return nil }
    // Times since the beginning of the range.
    let edit = edits(offset: shown.start &- shown.time).first
    return edit.map { ($0.end ?? $0.start) &- $0.start } ?? rangeEnd.map { $0 &- shown.start }
  }

  /// The ranges that an edit list must show, with times of the presentation; empty if timestamps alone show them.
  ///
  /// - Parameter offset: the media's time at which the presentation begins.
  func edits(offset: Int64) -> [ShownRange] {
    if !parts.isEmpty {
      return parts.map { ShownRange(start: $0.start, end: $0.end ?? max(end ?? .min, $0.start), time: $0.time) }
    }
    // An exact cut hides nothing.
    guard let shown, let last = shownEnd, let end, exact == nil else { return [] }
    // A picture ends when the next one begins, whatever its duration is.
    let shownEnd = min(last, next ?? .max) &- offset
    guard end &- offset > shownEnd || hiddenInFront > 0 && shown.time > 0, shownEnd > shown.time else { return [] }
    // The last picture of a cut lasts up to its end, or the next one. A picture of a half-open range has its duration.
    let pictureEnd = opening?.bounds.isHalfOpen == true ? last : fieldEnd ?? .min
    let cutEnd = (isCut ? shown.end : nil)
      .map { min(max($0 &+ Self.tolerance, pictureEnd), next ?? end) &- offset }
    return [ShownRange(start: shown.time, end: cutEnd ?? shownEnd, time: shown.time)]
  }
}

extension Window {
  /// Access units, counted.
  struct Tally {
    /// Why an access unit does not leave the window.
    enum Reason: String, CaseIterable {
      /// Its picture is shown in front of the range, and nothing needs it.
      case front
      /// Its picture is shown behind the range, and nothing needs it.
      case behind
      /// A leading picture that refers to pictures in front of the first keyframe.
      case leading
    }

    /// Those that left. A copied access unit that an encoded picture needs also counts as needed.
    var count: [MediaOutput.Disposition: Int] = [:]
    /// Those that did not, between the last keyframe in front of the range and the last access unit that left.
    var leftOut: [Reason: Int] = [:]
  }
}

extension Window.Bounds {
  /// The bounds within a part of an edit list, and the part's number from 0; `nil` if no part has all of them.
  func within(_ parts: [ShownRange]) -> (part: Int, bounds: Self)? {
    guard let origin = parts.first?.time, parts.count > 1 else { return (0, self) }
    let place = parts.lastIndex { $0.time &- origin <= start } ?? 0
    let part = parts[place]
    var within = self
    within.offset = part.time &- origin
    within.start &-= within.offset
    within.end = end.map { $0 &- within.offset }
    guard let length = part.end.map({ $0 &- part.start }) else { return (place, within) }
    guard within.start < length, within.end ?? .max <= length || place == parts.count - 1 else { return nil }
    return (place, within)
  }
}
