// SPDX-License-Identifier: MPL-2.0

/// The parts of a video that a user requests.
package enum CutRequest: Sendable, Hashable {
  /// These parts, in this order. They may overlap.
  case ranges([CutRange])
  /// Everything but these parts, which may overlap and be in any order.
  case removals([CutRange])
  /// Pieces of this many nanoseconds. The last one may be shorter.
  case pieces(Int64)
  /// A part for each chapter, named by its title.
  case chapters

  /// The ranges of a list.
  package init(_ list: CutList) { self = list.isRemoval ? .removals(list.ranges) : .ranges(list.ranges) }

  /// Whether ``ranges(duration:chapters:pictureTimes:)`` needs the times of pictures.
  package var needsPictureTimes: Bool {
    switch self {
    case .ranges(let ranges), .removals(let ranges): ranges.contains { $0.namesPictures }
    case .pieces, .chapters: false
    }
  }

  /// Whether ``ranges(duration:chapters:pictureTimes:)`` needs the duration.
  package var needsDuration: Bool { if case .pieces = self { true } else { false } }

  /// The parts of a certain video, at least one.
  ///
  /// - Parameters:
  ///   - duration: the time from the first picture to the end of the last one, in nanoseconds; `nil` if it is not
  ///     known. Ends are not checked then.
  ///   - chapters: in the order of their container. Those that have no part of the video are left out.
  ///   - pictureTimes: when each picture is presented, in nanoseconds since the first one, ascending. A frame of two
  ///     fields has one time. Only used if ``needsPictureTimes``.
  /// - Throws: a `Failure` if a range begins at or behind the end of the video, a range is empty, or nothing is left.
  package func ranges(
    duration: Int64?, chapters: [CutChapter] = [], pictureTimes: [Int64] = []
  ) throws(Failure) -> [ResolvedRange] {
    let video = CutTimeline(duration: duration, pictureTimes: pictureTimes)
    switch self {
    case .ranges(let ranges):
      var resolved: [ResolvedRange] = []
      for range in ranges { resolved.append(try video.resolve(range)) }
      return resolved
    case .removals(let removals):
      var resolved: [ResolvedRange] = []
      for removal in removals { resolved.append(try video.resolve(removal)) }
      return try Self.complement(of: resolved)
    case .pieces(let length): return try Self.pieces(length, of: duration)
    case .chapters:
      let ranges = chapters.compactMap { video.range(of: $0) }
      guard !ranges.isEmpty else { throw Failure("no chapters to cut at") }
      return ranges
    }
  }

  private static func complement(of removals: [ResolvedRange]) throws(Failure) -> [ResolvedRange] {
    var (kept, place): ([ResolvedRange], Int64?) = ([], 0)
    for removal in removals.sorted(by: { $0.start < $1.start }) {
      guard let start = place else { break }
      if removal.start > start { kept.append(ResolvedRange(start: start, end: removal.start)) }
      place = removal.end.map { max($0, start) }
    }
    if let place { kept.append(ResolvedRange(start: place)) }
    guard !kept.isEmpty else { throw Failure("nothing is left: the whole video is removed") }
    return kept
  }

  private static func pieces(_ length: Int64, of duration: Int64?) throws(Failure) -> [ResolvedRange] {
    guard let duration else { throw Failure("pieces of equal length need a video whose duration is known") }
    guard length > 0, (duration - 1) / length < Int64(CutList.countLimit) else {
      throw Failure("pieces are too short: a video is cut into at most \(CutList.countLimit)")
    }
    let last = max(duration - Window.tolerance, 1)
    return stride(from: 0, to: last, by: Int64.Stride(length)).map { start in
      // No piece is as short as containers round times.
      let isLast = duration - start - Window.tolerance <= length
      return ResolvedRange(start: start, end: isLast ? nil : start + length)
    }
  }
}

/// A part of a certain video: all pictures from `start` up to, but not including, `end`.
package struct ResolvedRange: Sendable, Hashable {
  /// In nanoseconds since the first picture.
  package var start: Int64
  /// In the same time; `nil` for the end of the video.
  package var end: Int64?
  /// The title; `nil` for none.
  package var name: String?
  /// The requested end if it is behind the end of the video, where the part ends instead; `nil` otherwise.
  package var missingEnd: CutPosition?

  package init(start: Int64, end: Int64? = nil, name: String? = nil, missingEnd: CutPosition? = nil) {
    (self.start, self.end, self.name, self.missingEnd) = (start, end, name, missingEnd)
  }
}

extension [ResolvedRange] {
  /// The ranges of one target. A range that begins at the end of the range in front continues that range, without a
  /// seam.
  package var joined: [ResolvedRange] {
    reduce(into: []) { ranges, range in
      guard let last = ranges.indices.last, ranges[last].end == range.start else { return ranges.append(range) }
      (ranges[last].end, ranges[last].missingEnd) = (range.end, range.missingEnd)
      // Neither name is that of both.
      ranges[last].name = nil
    }
  }
}
