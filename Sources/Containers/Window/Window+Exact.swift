// SPDX-License-Identifier: MPL-2.0

extension Window {
  /// The choice of an exact cut: all pictures of the range are shown, and no others.
  ///
  /// ```
  /// encoding ──the first entry in the range──▶ copying ──enough behind the end──▶ finished
  /// ```
  ///
  /// An entry is an access unit with which decoding can begin. An intra picture of H.264 that comes before all entries is
  /// used as one, although it promises nothing: the seam in front of it is verified. Pictures in front of the first entry in the range are
  /// encoded. So are its leading pictures that need pictures in front of it, and the last pictures of the range that
  /// need one behind it. The encoded pictures of either end are a seam, which begins with an IDR picture. The pictures
  /// between the seams are copied.
  ///
  /// Access units leave in the order of writing. Those of a seam leave in decoding order, beginning with an entry, with
  /// all reference pictures that they may need. If one of these is also copied, it leaves twice: as needed with the
  /// seam, and as copied. A copied access unit ends the seam in front of it. Both fields of a frame share their fate.
  ///
  /// All access units since the last entry are held if the range has an end, because its last pictures may need them.
  struct Exact {
    typealias Disposition = MediaOutput.Disposition

    private let range: ShownRange
    /// Intra pictures without a promise up to this time are no entries.
    private let refusedTime: Int64
    /// See ``Window/unprovenEntry``.
    private(set) var unprovenEntry: Int64?
    /// The last picture, which may get a second field.
    private var last: Picture?
    /// The first picture, up to the next entry; `nil` before and behind.
    private var beginning: Picture?
    private var hasBegun = false
    /// In front of the first entry in the range: reference pictures since the last encoded one.
    private var references: [Picture] = []
    /// Pictures since an entry in the range whose fate is open, in decoding order.
    private var held: [Picture] = []
    /// The places of entries of the range in `held`.
    private var entries: [Int] = []
    private var (hasEntry, hasSettledFront, hasReachedEnd) = (false, false, false)
    /// Access units behind the end, since the last one in the range.
    private var behindCount = 0
    private var hasGradualRefresh = false

    /// The bytes of ``held``.
    private var heldByteCount = 0
    private static let heldByteLimit = 1 << 28
    /// More is held than memory should have to hold, behind an entry without a promise.
    var holdsTooMuch: Bool { unprovenEntry != nil && heldByteCount > Self.heldByteLimit }

    /// Nothing more of the source is needed.
    private(set) var isFinished = false
    /// See ``Tally/leftOut``.
    private(set) var leftOut: [Tally.Reason: Int] = [:]
    /// Left out, if another access unit leaves.
    private var skipped: [Tally.Reason: Int] = [:]

    init(_ range: ShownRange, refusing refusedTime: Int64) { (self.range, self.refusedTime) = (range, refusedTime) }

    /// See ``Window/hasOnlyGradualRefresh``.
    var hasOnlyGradualRefresh: Bool { hasGradualRefresh && !hasEntry }

    /// Takes the next access unit, and returns those to decode, encode or write now.
    mutating func take(_ accessUnit: AccessUnit) -> [AccessUnit] {
      guard !isFinished else { return [] }
      if accessUnit.role.isSecondField, last?.time == accessUnit.frameStart {
        last?.accessUnits.append(accessUnit)
        return []
      }
      let complete = last
      last = Picture(accessUnit, in: range)
      return complete.map { place($0) } ?? []
    }

    /// Takes the end of the source.
    mutating func finish() -> [AccessUnit] {
      guard !isFinished else { return [] }
      var rest = last.map { place($0) } ?? []
      if !isFinished { rest += settle() }
      isFinished = true
      return rest
    }

    private mutating func place(_ next: Picture) -> [AccessUnit] {
      var picture = next
      if !hasEntry, picture.mayBeEntry, picture.place == .inside, picture.time > refusedTime {
        picture.becomeEntry()
        unprovenEntry = picture.time
      }
      switch picture.place {
      case .front: break
      case .inside: behindCount = 0
      case .behind:
        behindCount += picture.accessUnits.count
        hasReachedEnd = true
      }
      if picture.place != .behind, picture.isGradual { hasGradualRefresh = true }
      let isEntry = picture.isEntry && picture.place == .inside
      hasEntry = hasEntry || isEntry
      if isEntry { entries.append(held.count) }
      let leaving = hasEntry ? hold(picture) : encode(picture)
      // More than can be decoded in front of the last one of the range.
      guard behindCount > Window.reorderLimit else { return leaving }
      isFinished = true
      return leaving + settle()
    }

    // MARK: In front of the first entry

    private mutating func encode(_ picture: Picture) -> [AccessUnit] {
      if !hasBegun || picture.isEntry { beginning = hasBegun ? nil : picture }
      hasBegun = true
      guard picture.place != .inside else {
        defer { references = [] }
        return leave(references, as: .needed) + leave([picture], as: .encoded)
      }
      // Leading pictures of the first entry cannot be decoded.
      if picture.isReference, beginning.map({ picture.needsMore(than: $0) }) != true {
        references.append(picture)
      } else {
        skip([picture])
      }
      return []
    }

    // MARK: Behind it

    private mutating func hold(_ picture: Picture) -> [AccessUnit] {
      held.append(picture)
      heldByteCount += picture.byteCount
      guard hasSettledFront || held.count > Window.reorderLimit else { return [] }
      var leaving: [AccessUnit] = []
      if !hasSettledFront {
        held.markFront()
        leaving = settleFront()
      }
      if range.end == nil {
        defer { (held, entries, heldByteCount) = ([], [], 0) }
        return leaving + leave(held.filter { $0.fate == .copied }, as: .copied)
      }
      // Pictures of the range are decoded at most that much later.
      guard !hasReachedEnd, let next = entries.lastIndex(where: { held.count - $0 > Window.reorderLimit }), next > 0
      else { return leaving }
      let place = entries[next]
      leaving += leave(held[..<place].filter { $0.fate == .copied }, as: .copied)
      held.removeFirst(place)
      heldByteCount = held.reduce(0) { $0 + $1.byteCount }
      entries = entries[next...].map { $0 - place }
      return leaving
    }

    /// Ends the seam in front of the first entry: the leading pictures that cannot be decoded from it are encoded.
    private mutating func settleFront() -> [AccessUnit] {
      hasSettledFront = true
      let (earlier, isWhole) = takeReferences()
      let pictures = earlier + held
      // The source is decoded up to an entry that must be verified.
      let end = held.first?.isUnproven == true ? earlier.count : 0
      let seam = pictures.seam([.encodedInFront], beginsWithEntry: isWhole, needingUpTo: end)
      let leaving = leave(seam, of: pictures)
      let places = Set(seam.map(\.place))
      for (place, picture) in held.enumerated() where picture.place == .front && !places.contains(place + earlier.count)
      {
        skip([picture])
      }
      held.removeAll { $0.place == .front || $0.fate == .encodedInFront }
      entries = held.indices.filter { held[$0].isEntry && held[$0].place == .inside }
      return leaving
    }

    /// The reference pictures in front of the entry if encoded pictures need them, and whether none does.
    private mutating func takeReferences() -> (pictures: [Picture], isUnneeded: Bool) {
      defer { references = [] }
      guard let entry = held.first,
        entry.isUnproven || held.contains(where: { $0.isEncoded && $0.needsMore(than: entry) })
      else {
        skip(references)
        return ([], true)
      }
      return (references, false)
    }

    /// Decides on everything that is held: no other picture of the range follows.
    private mutating func settle() -> [AccessUnit] {
      guard !held.isEmpty else { return [] }
      if !hasSettledFront { held.markFront() }
      if range.end != nil { held.markBehind() }
      guard held.contains(where: { $0.fate == .copied }) else {
        let (earlier, isWhole) = takeReferences()
        let pictures = earlier + held
        return leave(pictures.seam([.encodedInFront, .encodedBehind], beginsWithEntry: isWhole), of: pictures)
      }
      var leaving = hasSettledFront ? [] : settleFront()
      let copied = held.indices.filter { held[$0].fate == .copied }
      leaving += leave(copied.map { held[$0] }, as: .copied)
      let start = held.seamStart
      let pictures = Array(held[start...])
      let seam = pictures.seam([.encodedBehind], beginsWithEntry: true)
      leaving += leave(seam, of: pictures)
      let places = Set(seam.map { $0.place + start })
      let end = max(copied.last ?? 0, places.max() ?? 0)
      for (place, picture) in held[..<end].enumerated() where picture.fate == .omitted && !places.contains(place) {
        leftOut[picture.place == .front ? .front : .behind, default: 0] += picture.accessUnits.count
      }
      return leaving
    }

    // MARK: Leaving

    private mutating func leave(_ seam: [(place: Int, disposition: Disposition)], of pictures: [Picture])
      -> [AccessUnit]
    {
      seam.flatMap { leave([pictures[$0.place]], as: $0.disposition) }
    }

    private mutating func leave(_ pictures: [Picture], as disposition: Disposition) -> [AccessUnit] {
      guard !pictures.isEmpty else { return [] }
      leftOut.merge(skipped, uniquingKeysWith: +)
      skipped = [:]
      return pictures.flatMap(\.accessUnits).map { $0.used(as: disposition) }
    }

    private mutating func skip(_ pictures: some Sequence<Picture>) {
      for picture in pictures {
        skipped[picture.place == .behind ? .behind : .front, default: 0] += picture.accessUnits.count
      }
    }
  }
}

extension MediaOutput.AccessUnit {
  /// The same access unit with another use.
  consuming func used(as disposition: MediaOutput.Disposition) -> Self {
    self.disposition = disposition
    return self
  }
}
