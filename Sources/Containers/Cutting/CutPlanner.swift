// SPDX-License-Identifier: MPL-2.0

/// Plans cuts by the roles and times of all access units of a video, without their bytes.
package struct CutPlanner {
  private typealias AccessUnit = MediaOutput.AccessUnit

  /// The range that the source shows; `nil` for everything.
  private var shown: ShownRange?
  /// All parts that it shows, in the order of presentation, if there are several.
  private(set) var parts: [ShownRange]
  /// Why pictures of the video cannot be encoded; `nil` if they can, as far as that is known.
  package internal(set) var obstacle: SeamObstacle?
  /// Why encoded pictures cannot be in front of a recovery point that cannot become an IDR picture; `nil` if they can, as
  /// far as that is known.
  package internal(set) var openObstacle: SeamObstacle?
  /// In decoding order. The decoding time of each is its number.
  private var accessUnits: [AccessUnit] = []
  /// The numbers of access units with which decoding can begin, each with the latest time of these up to it.
  private var entries: [(number: Int, latest: Int64)] = []

  package init(of shown: ShownRange? = nil, parts: [ShownRange] = []) {
    (self.shown, self.parts) = (parts.first ?? shown, parts)
  }

  /// Takes the next access unit in decoding order.
  ///
  /// - Parameters:
  ///   - presentation: in nanoseconds of the media.
  ///   - duration: in nanoseconds, above 0.
  package mutating func add(presentation: Int64, duration: Int64, role: AccessUnitRole) {
    var role = role
    role.parameterSets = []
    let accessUnit = AccessUnit(
      bytes: [], presentation: presentation, decoding: Int64(accessUnits.count), duration: duration,
      isKeyframe: role.isKeyframe, role: role)
    if accessUnit.isSync {
      entries.append((accessUnits.count, max(presentation, entries.last?.latest ?? .min)))
    }
    accessUnits.append(accessUnit)
  }

  // MARK: The video

  /// When the first picture is composed, in nanoseconds of the media; `nil` without any.
  package var origin: Int64? {
    var window = Window(Window.Bounds(mode: .hidden), of: shown)
    for accessUnit in accessUnits {
      _ = try? window.take(accessUnit)
      if let origin = window.origin ?? window.opening?.origin { return origin }
    }
    _ = try? window.finish()
    return window.opening?.origin
  }

  /// When each picture is presented, in nanoseconds since the first one, ascending. A frame of two fields has one time.
  package var pictureTimes: [Int64] {
    partPlanners.flatMap { offset, planner in planner.partTimes.map { $0 &+ offset } }
  }

  /// The time from the first picture to the end of the last one, in nanoseconds; 0 without any.
  package var duration: Int64 { partPlanners.last.map { $0.offset &+ $0.planner.partDuration } ?? 0 }

  /// A planner for each part, and when its first picture is presented, in nanoseconds since that of the video.
  private var partPlanners: [(offset: Int64, planner: CutPlanner)] {
    guard parts.count > 1 else { return [(0, self)] }
    return parts.map { part in
      var planner = self
      (planner.shown, planner.parts) = (part, [])
      return (part.time &- parts[0].time, planner)
    }
  }

  private var partTimes: [Int64] {
    guard let origin else { return [] }
    let times = accessUnits.lazy.filter { !$0.role.isSecondField }.map(\.presentation)
    // The source may show a part of the first picture.
    let first = times.filter { $0 <= origin &+ Window.tolerance }.max() ?? origin
    return times.filter { $0 >= first && $0 < shown?.end ?? .max }.map { max($0 &- origin, 0) }.sorted()
  }

  private var partDuration: Int64 {
    guard let origin else { return 0 }
    let end = accessUnits.lazy.map { $0.presentation &+ max($0.duration, 1) }.max() ?? origin
    return max(min(end, shown?.end ?? .max) &- origin, 0)
  }

  /// The ranges with ends in the video: one that ends behind it ends with it.
  package func ending(_ ranges: [ResolvedRange]) -> [ResolvedRange] {
    let duration = duration
    return ranges.map { range in
      guard let end = range.end, end >= duration, range.start < duration else { return range }
      var ending = range
      (ending.end, ending.missingEnd) = (nil, end &- duration > Window.tolerance ? .time(end) : nil)
      return ending
    }
  }

  // MARK: The plan

  /// Plans the ranges, each by the best mode that works for it.
  ///
  /// - Parameter isBehind: whether another range is in front of the first one.
  package func plan(
    _ ranges: [ResolvedRange], _ abilities: CutPlan.Abilities, behindAnother isBehind: Bool = false
  ) -> CutPlan {
    let planners = partPlanners.map { (planner: $0.planner, origin: $0.planner.origin) }
    var (state, parts) = (State(abilities: abilities, isOpen: isBehind), [CutPlan.Part]())
    for (number, range) in ranges.enumerated() {
      var bounds = Window.Bounds(
        start: range.start, end: range.end, mode: abilities.mode, isHalfOpen: abilities.isHalfOpen)
      if number > 0 || isBehind { bounds.beginning = abilities.beginning }
      // A cut refuses a range that is not within a part: see ``check(_:of:)``.
      let (place, within) = bounds.within(self.parts) ?? (0, bounds)
      state.origin = planners[place].origin
      let part = planners[place].planner.part(range, within, &state)
      state.isOpen = abilities.beginning != .asItIs && (state.isOpen || part.shown != nil)
      parts.append(part)
    }
    return CutPlan(parts: parts)
  }

  /// The properties of a cut that its ranges have in common.
  private struct State {
    /// See ``CutPlanner/origin``.
    var origin: Int64?
    var abilities: CutPlan.Abilities
    /// Whether pictures of another range are in front of the next one.
    var isOpen: Bool
    /// Intra pictures that promise nothing and are no entries.
    var refusedEntryCount = 0
  }

  /// A range that is cut by one mode.
  private struct Cut {
    var window: Window
    var numbers: [MediaOutput.Disposition: [Int]] = [:]
    /// The place of a recovery point with which copying begins, and which cannot become an IDR picture; `nil` for none.
    var recoveryPoint: Place?
    /// Why it cannot be cut so; `nil` if it can.
    var obstacle: SeamObstacle?

    enum Place { case behindEncoded, first }
  }

  private func part(_ range: ResolvedRange, _ bounds: Window.Bounds, _ state: inout State) -> CutPlan.Part {
    let abilities = state.abilities
    var (bounds, reasons) = (bounds, [abilities.reason].compactMap(\.self))
    if abilities.mode == .exact {
      let (cut, refusal) = exactCut(bounds, &state)
      guard let refusal else { return Self.part(range, .exact, cut, []) }
      reasons = [refusal]
      // All later ranges with seams would follow one by one.
      if refusal == .noEncoder, abilities.hasEditList {
        (state.abilities.mode, state.abilities.reason) = (.hidden, refusal)
      }
    }
    bounds.mode = abilities.mode != .keyframe && abilities.hasEditList ? .hidden : .keyframe
    if abilities.mode != .keyframe, bounds.mode == .keyframe { reasons.append(.noEditList) }
    return Self.part(range, bounds.mode, cut(bounds, state.origin), reasons)
  }

  private static func part(
    _ range: ResolvedRange, _ mode: Window.Bounds.Mode, _ cut: Cut, _ reasons: [CutPlan.Reason]
  ) -> CutPlan.Part {
    func numbers(_ disposition: MediaOutput.Disposition) -> AccessUnitNumbers {
      AccessUnitNumbers(cut.numbers[disposition] ?? [])
    }
    let offset = cut.window.opening?.bounds.offset ?? 0
    let shown = cut.window.shownSpan.map { ($0.start &+ offset)..<(max($0.start, $0.end) &+ offset) }
    return CutPlan.Part(
      range: range, mode: mode, reasons: reasons + (shown == nil && cut.obstacle == nil ? [.noPicture] : []),
      shown: shown, copied: numbers(.copied), encoded: numbers(.encoded), needed: numbers(.needed),
      hidden: numbers(.hidden), leftOut: cut.window.tally.leftOut, obstacle: cut.obstacle)
  }

  /// Cuts a range exactly. An intra picture that promises nothing is no entry if it must become an IDR picture, but
  /// cannot.
  ///
  /// - Returns: the cut, and why it does not work.
  private func exactCut(_ exact: Window.Bounds, _ state: inout State) -> (cut: Cut, refusal: CutPlan.Reason?) {
    var bounds = exact
    while true {
      if state.abilities.needsPromises { bounds.refusedTime = .max }
      let cut = cut(bounds, state.origin)
      // Without a picture, no other mode is better.
      guard cut.window.shownSpan != nil else { return (cut, nil) }
      if let refusal = refusal(of: cut.window, state.abilities) { return (cut, refusal) }
      let entry = cut.window.unprovenEntry
      let obstacle: CutPlan.Reason? =
        switch cut.recoveryPoint {
        case nil: nil
        case .behindEncoded: state.abilities.openSeam
        case .first: state.isOpen || entry != nil ? CutPlan.Reason(.recoveryPoint) : nil
        }
      guard obstacle != nil, let entry else { return (cut, obstacle) }
      state.refusedEntryCount += 1
      bounds.refusedTime = entry
      if state.refusedEntryCount >= CopyPlan.refusedEntryLimit { state.abilities.needsPromises = true }
    }
  }

  /// Why an exact cut does not work.
  private func refusal(of window: Window, _ abilities: CutPlan.Abilities) -> CutPlan.Reason? {
    guard window.tally.count[.encoded] ?? 0 > 0 else { return nil }
    return abilities.refusal ?? (window.hasOnlyGradualRefresh && !abilities.encodesAll ? .gradualRefresh : nil)
  }

  private func cut(_ bounds: Window.Bounds, _ origin: Int64?) -> Cut {
    let first = origin.map { start(for: $0 &+ bounds.start &+ Window.tolerance, bounds) } ?? 0
    var cut = Cut(window: Window(bounds, of: shown, origin: first > 0 ? origin : nil))
    var last: MediaOutput.Disposition?
    func add(_ leaving: [AccessUnit]) {
      for accessUnit in leaving {
        let (disposition, role) = (accessUnit.disposition, accessUnit.role)
        cut.numbers[disposition, default: []].append(Int(accessUnit.decoding))
        guard disposition != .needed else { continue }
        if disposition != .encoded, last != .copied, role.start == .open, !role.canBeginAnew {
          cut.recoveryPoint = last == .encoded ? .behindEncoded : .first
        }
        last = disposition == .hidden ? .copied : disposition
      }
    }
    do throws(CopyRefusal) {
      for accessUnit in accessUnits[first...] {
        if cut.window.isFinished { break }
        add(try cut.window.take(accessUnit))
      }
      add(try cut.window.finish())
    } catch {
      // Of other refusals, a range behind the end is left. It has no picture.
      if case .seam(let obstacle) = error { cut.obstacle = obstacle }
    }
    return cut
  }

  /// The number of the last access unit, up to a time, with which the range can begin; 0 without one.
  private func start(for time: Int64, _ bounds: Window.Bounds) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].latest <= time { low = middle + 1 } else { high = middle }
    }
    let isAnew = bounds.mode != .exact && bounds.beginning == .anew
    return entries[..<low].last { !isAnew || accessUnits[$0.number].role.canBeginAnew }?.number ?? 0
  }
}
