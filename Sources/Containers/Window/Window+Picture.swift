// SPDX-License-Identifier: MPL-2.0

extension Window {
  /// A coded picture of an exact cut: an access unit, or those of a frame's two fields.
  struct Picture {
    /// The place of its presentation.
    enum Place { case front, inside, behind }

    /// The use of a picture whose access units are held.
    enum Fate { case copied, encodedInFront, encodedBehind, omitted }

    var accessUnits: [AccessUnit]
    let place: Place
    let time: Int64
    private(set) var start: AccessUnitRole.Start
    /// Decoding may begin here, without a promise.
    let mayBeEntry: Bool
    fileprivate let (isLeading, isSkippedLeading): (Bool, Bool)
    var fate: Fate

    init(_ accessUnit: AccessUnit, in range: ShownRange) {
      let (time, role) = (accessUnit.presentation, accessUnit.role)
      accessUnits = [accessUnit]
      let frameStart = accessUnit.frameStart
      place = frameStart < range.start ? .front : frameStart < range.end ?? .max ? .inside : .behind
      (self.time, start, mayBeEntry) = (time, role.start, role.mayBeEntry)
      (isLeading, isSkippedLeading) = (role.isLeading, role.isSkippedLeading)
      fate = place == .inside ? .copied : .omitted
    }

    /// Decoding can begin here.
    var isEntry: Bool { start != .none }

    /// It was made an entry without a promise.
    var isUnproven: Bool { accessUnits.first?.role.isUnproven ?? false }

    /// Makes it an entry without a promise. Pictures that are shown in front of it may need others.
    mutating func becomeEntry() {
      start = .open
      guard !accessUnits.isEmpty else { return }
      (accessUnits[0].role.start, accessUnits[0].role.isUnproven) = (.open, true)
    }

    /// Other pictures may refer to one of its fields.
    var isReference: Bool { accessUnits.contains { $0.role.isReference } }

    var byteCount: Int { accessUnits.reduce(0) { $0 + $1.bytes.count } }

    var isGradual: Bool { accessUnits.contains { $0.role.isGradual } }

    var isEncoded: Bool { fate == .encodedInFront || fate == .encodedBehind }

    /// Whether it is a leading picture of an entry that may refer to pictures in front of the entry: any of H.264, and
    /// RASL pictures of H.265 (ITU-T H.265, 3.129).
    func needsMore(than entry: Picture) -> Bool {
      time < entry.time && (isSkippedLeading || entry.start == .open && !isLeading)
    }

    /// Whether pictures of the range that are decoded later may refer to it, although it is shown behind the range. Only
    /// leading pictures refer to leading pictures, and all of these are shown behind the range then.
    fileprivate var isMissed: Bool { place == .behind && isReference && !isLeading }
  }
}

extension [Window.Picture] {
  /// Marks the leading pictures of the first picture, an entry, that cannot be copied. These are the ones that need
  /// pictures in front of the entry, those that may refer to a leading picture that is not copied, and those that are
  /// shown in front of an encoded one. The seam is shown before the first copied picture.
  ///
  /// There are few, because decoders hold only a few pictures that are shown later.
  mutating func markFront() {
    guard let entry = first else { return }
    let end = indices.dropFirst().first { self[$0].isEntry } ?? endIndex
    let leading = indices[..<end].dropFirst().filter { self[$0].time < entry.time }
    var (latest, hasChanged) = (Int64.min, true)
    while hasChanged {
      hasChanged = false
      var isLost = false
      for place in leading {
        let needsMore = self[place].needsMore(than: entry)
        if self[place].fate == .copied, needsMore || isLost || self[place].time < latest {
          self[place].fate = .encodedInFront
          latest = Swift.max(latest, self[place].time)
          hasChanged = true
        }
        // No other pictures refer to those that need more.
        if self[place].fate != .copied, !needsMore, self[place].isReference { isLost = true }
      }
    }
  }

  /// Marks the pictures at the end that cannot be copied: those that are decoded behind a reference picture that is not
  /// copied, and those that are shown behind an encoded one. The seam begins with an IDR picture, so it is shown behind
  /// all copied pictures. References are not read: a picture may refer to any one that is decoded before it.
  mutating func markBehind() {
    guard let missed = firstIndex(where: \.isMissed) else { return }
    let byTime = indices.filter { self[$0].fate == .copied }.sorted { self[$0].time < self[$1].time }
    // Pictures from these places on are marked: in decoding order, and in the order of presentation.
    var (decoded, shown) = (count, byTime.count)
    var (firstLost, earliest) = (missed, Int64.max)
    func mark(_ place: Int, _ pictures: inout Self) {
      guard pictures[place].fate == .copied else { return }
      pictures[place].fate = .encodedBehind
      earliest = Swift.min(earliest, pictures[place].time)
      if pictures[place].isReference { firstLost = Swift.min(firstLost, place) }
    }
    while decoded > firstLost || shown > 0 && self[byTime[shown - 1]].time >= earliest {
      if decoded > firstLost {
        decoded -= 1
        mark(decoded, &self)
      } else {
        shown -= 1
        mark(byTime[shown], &self)
      }
    }
  }

  /// The place at which decoding begins for the pictures that are encoded at the end of the range: an entry, if any. As
  /// little is decoded as possible.
  var seamStart: Int {
    let encoded = indices.filter { self[$0].fate == .encodedBehind }
    guard let first = encoded.first else { return startIndex }
    let skipped = encoded.lazy.map { self[$0] }.filter(\.isSkippedLeading).map(\.time).min() ?? .max
    let others = encoded.lazy.map { self[$0] }.filter { !$0.isLeading }.map(\.time).min() ?? .max
    return self[...first].lastIndex { picture in
      picture.isEntry && picture.time <= skipped && (picture.start == .closed || picture.time <= others)
    } ?? startIndex
  }

  /// The pictures of a seam in decoding order: those to encode, and the reference pictures that they may need.
  ///
  /// - Parameters:
  ///   - fates: of pictures to encode.
  ///   - beginsWithEntry: whether decoding begins with the first picture. Its leading pictures that need more are not
  ///     decoded then.
  ///   - end: all reference pictures in front of this place are needed.
  func seam(
    _ fates: Set<Element.Fate>, beginsWithEntry: Bool, needingUpTo end: Int = 0
  ) -> [(place: Int, disposition: MediaOutput.Disposition)] {
    var (seam, references): ([(place: Int, disposition: MediaOutput.Disposition)], [Int]) = ([], [])
    var entry = beginsWithEntry ? first : nil
    for place in indices {
      if place > startIndex, self[place].isEntry { entry = nil }
      if fates.contains(self[place].fate) {
        seam += references.map { ($0, .needed) } + [(place, .encoded)]
        references = []
      } else if self[place].isReference, entry.map({ self[place].needsMore(than: $0) }) != true {
        references.append(place)
      }
    }
    return seam + references.filter { $0 < end }.map { ($0, .needed) }
  }
}
