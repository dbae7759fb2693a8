// SPDX-License-Identifier: MPL-2.0

/// Plans cuts by the roles and times of all access units of a video, without their bytes.
package struct CutPlanner {
  private typealias AccessUnit = MediaOutput.AccessUnit

  /// The range that the source shows; `nil` for everything.
  private let shown: ShownRange?
  /// Why pictures of the video cannot be encoded; `nil` if they can, as far as that is known.
  package internal(set) var obstacle: SeamObstacle?
  /// Why encoded pictures cannot be in front of a recovery point; `nil` if they can, as far as that is known.
  package internal(set) var openObstacle: SeamObstacle?
  /// In decoding order. The decoding time of each is its number.
  private var accessUnits: [AccessUnit] = []
  /// The numbers of access units with which decoding can begin, each with the latest time of these up to it.
  private var entries: [(number: Int, latest: Int64)] = []

  package init(of shown: ShownRange? = nil) { self.shown = shown }

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
    guard let origin else { return [] }
    let times = accessUnits.lazy.filter { !$0.role.isSecondField }.map(\.presentation)
    // The source may show a part of the first picture.
    let first = times.filter { $0 <= origin &+ Window.tolerance }.max() ?? origin
    return times.filter { $0 >= first && $0 < shown?.end ?? .max }.map { max($0 &- origin, 0) }.sorted()
  }

  /// The time from the first picture to the end of the last one, in nanoseconds; 0 without any.
  package var duration: Int64 {
    guard let origin else { return 0 }
    let end = accessUnits.lazy.map { $0.presentation &+ max($0.duration, 1) }.max() ?? origin
    return max(min(end, shown?.end ?? .max) &- origin, 0)
  }

  // MARK: The plan

  /// Plans the ranges, each by the best mode that works for it.
  package func plan(_ ranges: [ResolvedRange], _ abilities: CutPlan.Abilities) -> CutPlan {
    let origin = origin
    return CutPlan(
      parts: ranges.enumerated().map { number, range in
        let beginning: Window.Bounds.Beginning = number > 0 && abilities.joinsParts ? .anew : .asItIs
        return part(range, abilities, beginning, origin)
      })
  }

  private func part(
    _ range: ResolvedRange, _ abilities: CutPlan.Abilities, _ beginning: Window.Bounds.Beginning, _ origin: Int64?
  ) -> CutPlan.Part {
    func cut(
      _ mode: Window.Bounds.Mode, _ reasons: [CutPlan.Reason]
    ) -> (window: Window, part: CutPlan.Part, hasOpenSeam: Bool) {
      var bounds = Window.Bounds(start: range.start, end: range.end, mode: mode, isHalfOpen: true)
      bounds.beginning = beginning
      return self.cut(range, bounds, reasons, origin)
    }
    var reasons = [abilities.reason].compactMap(\.self)
    if abilities.mode == .exact {
      let (window, part, hasOpenSeam) = cut(.exact, reasons)
      guard let refusal = refusal(of: window, abilities) ?? (hasOpenSeam ? abilities.openSeam : nil) else {
        return part
      }
      reasons = [refusal]
      if refusal == .noPicture { return cut(.exact, reasons).part }
    }
    if abilities.mode != .keyframe {
      if abilities.hasEditList { return cut(.hidden, reasons).part }
      reasons.append(.noEditList)
    }
    return cut(.keyframe, reasons).part
  }

  /// Why an exact cut does not work.
  private func refusal(of window: Window, _ abilities: CutPlan.Abilities) -> CutPlan.Reason? {
    guard window.shownSpan != nil else { return .noPicture }
    guard window.tally.count[.encoded] ?? 0 > 0 else { return nil }
    return abilities.refusal ?? (window.hasOnlyGradualRefresh && !abilities.encodesAll ? .gradualRefresh : nil)
  }

  private func cut(
    _ range: ResolvedRange, _ bounds: Window.Bounds, _ reasons: [CutPlan.Reason], _ origin: Int64?
  ) -> (window: Window, part: CutPlan.Part, hasOpenSeam: Bool) {
    let first = origin.map { start(for: $0 &+ range.start &+ Window.tolerance) } ?? 0
    var window = Window(bounds, of: shown, origin: first > 0 ? origin : nil)
    var numbers: [MediaOutput.Disposition: [Int]] = [:]
    var (isInSeam, hasOpenSeam) = (false, false)
    func add(_ leaving: [AccessUnit]) {
      for accessUnit in leaving {
        switch accessUnit.disposition {
        case .encoded: isInSeam = true
        case .needed: break
        case .copied, .hidden:
          if isInSeam, accessUnit.role.start != .closed, !accessUnit.role.isIRAP { hasOpenSeam = true }
          isInSeam = false
        }
        numbers[accessUnit.disposition, default: []].append(Int(accessUnit.decoding))
      }
    }
    do throws(CopyRefusal) {
      for accessUnit in accessUnits[first...] {
        if window.isFinished { break }
        add(try window.take(accessUnit))
      }
      add(try window.finish())
    } catch {
      // Only reading that begins behind the needed keyframe is refused. This begins with it.
    }
    let part = CutPlan.Part(
      range: range, mode: bounds.mode, reasons: reasons,
      shown: window.shownSpan.map { $0.start..<max($0.start, $0.end) },
      copied: AccessUnitNumbers(numbers[.copied] ?? []), encoded: AccessUnitNumbers(numbers[.encoded] ?? []),
      needed: AccessUnitNumbers(numbers[.needed] ?? []), hidden: AccessUnitNumbers(numbers[.hidden] ?? []),
      leftOut: window.tally.leftOut)
    return (window, part, hasOpenSeam)
  }

  /// The number of the last access unit, up to a time, with which decoding can begin; 0 without one.
  private func start(for time: Int64) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].latest <= time { low = middle + 1 } else { high = middle }
    }
    return low > 0 ? entries[low - 1].number : 0
  }
}
