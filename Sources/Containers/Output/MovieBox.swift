// SPDX-License-Identifier: MPL-2.0
import StreamReport

/// The box `moov` of a finished MP4 or MOV file, for changes that libavformat cannot make.
struct MovieBox {
  private(set) var bytes: [UInt8]

  /// - Parameter bytes: the whole box, with a header of eight bytes.
  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// A table of chunk offsets (`stco`, `co64`).
  private struct ChunkOffsets {
    let box: MP4.Box
    let parents: [MP4.Box]
    let width: Int
    /// The range of its entries in the box's bytes.
    let entries: Range<Int>
  }

  // MARK: Reading

  /// The boxes of a type in a range.
  private func boxes(_ type: FourCharacterCode, in range: Range<Int>) -> [MP4.Box] {
    var (found, boxes): ([MP4.Box], MP4.Boxes) = ([], MP4.Boxes(bytes.span, in: range))
    while let box = boxes.firstIntact(type) { found.append(box) }
    return found
  }

  private func first(_ type: FourCharacterCode, in range: Range<Int>) -> MP4.Box? { boxes(type, in: range).first }

  private var tracks: [MP4.Box] { boxes(FourCharacterCode("trak"), in: content) }
  private var content: Range<Int> { 8..<max(bytes.count, 8) }

  private func isVideo(_ track: MP4.Box) -> Bool { handler(of: track) == FourCharacterCode("vide") }

  private static let subtitleHandlers: Set = [
    FourCharacterCode("sbtl"), FourCharacterCode("text"), FourCharacterCode("subt"), FourCharacterCode("subp"),
    FourCharacterCode("clcp"),
  ]

  /// The handler type of a track.
  private func handler(of track: MP4.Box) -> FourCharacterCode? {
    guard let media = first(FourCharacterCode("mdia"), in: track.content),
      let handler = first(FourCharacterCode("hdlr"), in: media.content)
    else { return nil }
    return FourCharacterCode(rawValue: UInt32(number(handler.content.lowerBound + 8, 4)))
  }

  /// Whether a box that begins with version and flags has numbers of 64 bits.
  private func isLong(_ box: MP4.Box) -> Bool { number(box.content.lowerBound, 1) == 1 }

  private func number(_ place: Int, _ count: Int) -> UInt64 {
    guard place >= 0, count <= bytes.count - place else { return 0 }
    return bytes[place..<place + count].reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// The duration in a box with times of creation and modification in front: its place and width.
  private func duration(in box: MP4.Box, behind skipped: Int) -> (place: Int, width: Int) {
    isLong(box)
      ? (box.content.lowerBound + 20 + skipped, 8)
      : (box.content.lowerBound + 12 + skipped, 4)
  }

  // MARK: Changing

  /// A number in network order, in so many bytes.
  static func bytes(_ value: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64(count - 1 - $0))) }
  }

  private static func box(_ type: StaticString, _ content: [UInt8]) -> [UInt8] {
    bytes(UInt64(content.count + 8), 4) + bytes(UInt64(FourCharacterCode(type).rawValue), 4) + content
  }

  private mutating func set(_ value: UInt64, at place: Int, _ width: Int) {
    guard place >= 0, width <= bytes.count - place else { return }
    bytes.replaceSubrange(place..<place + width, with: Self.bytes(min(value, width == 4 ? 0xFFFF_FFFF : .max), width))
  }

  /// Replaces bytes within boxes, whose sizes follow.
  private mutating func replace(_ range: Range<Int>, with new: [UInt8], in parents: [MP4.Box]) {
    bytes.replaceSubrange(range, with: new)
    for place in parents.map(\.range.lowerBound) + [0] {
      set(UInt64(Int(number(place, 4)) + new.count - range.count), at: place, 4)
    }
  }

  /// Sets the edit list of the first video track, and the durations that follow from it.
  mutating func setEdits(_ edits: [MP4Edit]) {
    guard let header = first(FourCharacterCode("mvhd"), in: content), let track = tracks.first(where: isVideo),
      let trackHeader = first(FourCharacterCode("tkhd"), in: track.content)
    else { return }
    let scale = number(header.content.lowerBound + (isLong(header) ? 20 : 12), 4)
    // The ends are rounded, not the durations, whose errors would add up.
    let ends = edits.map(\.duration).reduce(into: [Int64]()) { $0.append(($0.last ?? 0) &+ $1) }
      .map { Self.ticks($0, scale) }
    let durations = zip(ends, [0] + ends).map { $0 - $1 }
    let total = ends.last ?? 0
    let others = tracks.filter { $0 != track }.compactMap { first(FourCharacterCode("tkhd"), in: $0.content) }
    let end = others.map { (other) -> UInt64 in
      let (place, width) = duration(in: other, behind: 8)
      return number(place, width)
    }.reduce(total, max)
    let (place, width) = duration(in: trackHeader, behind: 8)
    set(total, at: place, width)
    let (movie, movieWidth) = duration(in: header, behind: 4)
    set(end, at: movie, movieWidth)
    var list = Self.bytes(0x0100_0000, 4) + Self.bytes(UInt64(edits.count), 4)
    for (edit, duration) in zip(edits, durations) {
      list += Self.bytes(duration, 8) + Self.bytes(UInt64(bitPattern: edit.mediaTime), 8) + [0, 1, 0, 0]
    }
    let old = first(FourCharacterCode("edts"), in: track.content)?.range
    replace(
      old ?? trackHeader.range.upperBound..<trackHeader.range.upperBound,
      with: Self.box("edts", Self.box("elst", list)), in: [track])
  }

  /// Enables subtitles, in the order of their tracks, or disables them. If none is wanted, libavformat enables the
  /// first, which players then show.
  mutating func enableSubtitles(_ areEnabled: [Bool]) {
    let subtitles = tracks.filter { track in handler(of: track).map(Self.subtitleHandlers.contains) ?? false }
    for (track, isEnabled) in zip(subtitles, areEnabled) {
      guard let header = first(FourCharacterCode("tkhd"), in: track.content) else { continue }
      let place = header.content.lowerBound
      // track_enabled (ISO/IEC 14496-12, 8.3.2).
      set(number(place, 4) & ~1 | (isEnabled ? 1 : 0), at: place, 4)
    }
  }

  /// The first video track's sample table, behind the boxes that it is in; `nil` without one.
  private var videoTable: [MP4.Box]? {
    guard let track = tracks.first(where: isVideo),
      let media = first(FourCharacterCode("mdia"), in: track.content),
      let information = first(FourCharacterCode("minf"), in: media.content),
      let table = first(FourCharacterCode("stbl"), in: information.content)
    else { return nil }
    return [track, media, information, table]
  }

  /// Gives the first video track an empty table of sync samples (`stss`). Without a table, which libavformat leaves out
  /// then, each sample would be one (ISO/IEC 14496-12, 8.6.2).
  mutating func denySyncSamples() {
    guard let parents = videoTable, let table = parents.last,
      first(FourCharacterCode("stss"), in: table.content) == nil
    else { return }
    let end = table.range.upperBound
    replace(end..<end, with: Self.box("stss", [UInt8](repeating: 0, count: 8)), in: parents)
  }

  /// Completes the sample entry of the first video track.
  mutating func complete(_ extras: SampleEntryExtras) {
    guard let parents = videoTable, let table = parents.last,
      let list = first(FourCharacterCode("stsd"), in: table.content)
    else { return }
    var entries = MP4.Boxes(
      bytes.span, in: min(list.content.lowerBound + 8, list.range.upperBound)..<list.range.upperBound)
    guard let entry = entries.nextIntact() else { return }
    var present: [MP4.VisualSampleDescription.WholeBox] = []
    var replaced: [(range: Range<Int>, bytes: [UInt8])] = []
    // Behind the fields of a VisualSampleEntry. Zeros may follow the last box.
    var end = min(entry.content.lowerBound + 78, entry.range.upperBound)
    var boxes = MP4.Boxes(bytes.span, in: end..<entry.range.upperBound)
    while let box = boxes.nextIntact() {
      present.append(.init(type: box.type, bytes: Array(bytes[box.range])))
      if let whole = extras.replacement(of: box.type) { replaced.append((box.range, whole)) }
      end = box.range.upperBound
    }
    let added = extras.missing(beside: present)
    if let coding = extras.coding { set(UInt64(coding.rawValue), at: entry.range.lowerBound + 4, 4) }
    replace(end..<end, with: added, in: parents + [list, entry])
    for (range, whole) in replaced.reversed() { replace(range, with: whole, in: parents + [list, entry]) }
  }

  /// Adds QuickTime's metadata to the movie and to its first video track.
  ///
  /// - Parameters:
  ///   - movie: the boxes within `meta`; empty for none.
  ///   - track: the same for the track.
  ///   - isFullBox: whether `meta` has version and flags, as in MP4.
  mutating func addMetadata(movie: [UInt8], track: [UInt8], isFullBox: Bool) {
    func add(_ boxes: [UInt8], in parent: MP4.Box?) {
      let range = parent?.content ?? content
      guard !boxes.isEmpty, first(FourCharacterCode("meta"), in: range) == nil else { return }
      let end = range.upperBound
      let header = isFullBox ? Self.bytes(0, 4) : []
      replace(end..<end, with: Self.box("meta", header + boxes), in: [parent].compactMap(\.self))
    }
    if let video = tracks.first(where: isVideo) { add(track, in: video) }
    add(movie, in: nil)
  }

  /// - Returns: at least 1 for a positive duration, because an edit of 0 shows nothing.
  private static func ticks(_ nanoseconds: Int64, _ scale: UInt64) -> UInt64 {
    let (high, low) = UInt64(max(0, nanoseconds)).multipliedFullWidth(by: scale)
    guard high < 1_000_000_000 else { return UInt64(UInt32.max) }
    let (whole, rest) = UInt64(1_000_000_000).dividingFullWidth((high, low))
    return max(whole + (rest >= 500_000_000 ? 1 : 0), nanoseconds > 0 ? 1 : 0)
  }

  private var chunkOffsets: [ChunkOffsets] {
    tracks.compactMap { track in
      guard let media = first(FourCharacterCode("mdia"), in: track.content),
        let information = first(FourCharacterCode("minf"), in: media.content),
        let table = first(FourCharacterCode("stbl"), in: information.content),
        let box = first(FourCharacterCode("stco"), in: table.content)
          ?? first(FourCharacterCode("co64"), in: table.content)
      else { return nil }
      let width = box.type == FourCharacterCode("stco") ? 4 : 8
      let start = box.content.lowerBound + 8
      let count = min(Int(clamping: number(start - 4, 4)), max(0, box.content.upperBound - start) / width)
      return ChunkOffsets(
        box: box, parents: [track, media, information, table], width: width, entries: start..<start + count * width)
    }
  }

  /// Gives tables of chunk offsets 64 bits if media that move by as much would be out of reach.
  mutating func makeRoom(forMediaMovedBy distance: UInt64) {
    for index in chunkOffsets.indices {
      let table = chunkOffsets[index]
      let offsets = stride(from: table.entries.lowerBound, to: table.entries.upperBound, by: table.width)
        .map { number($0, table.width) }
      guard table.width == 4, let last = offsets.max(), last &+ distance > 0xFFFF_FFFF else { continue }
      let content = Self.bytes(0, 4) + Self.bytes(UInt64(offsets.count), 4) + offsets.flatMap { Self.bytes($0, 8) }
      replace(table.box.range, with: Self.box("co64", content), in: table.parents)
    }
  }

  /// The media are further behind in the file now.
  mutating func moveMedia(by distance: Int64) {
    for table in chunkOffsets {
      for place in stride(from: table.entries.lowerBound, to: table.entries.upperBound, by: table.width) {
        set(number(place, table.width) &+ UInt64(bitPattern: distance), at: place, table.width)
      }
    }
  }
}

/// A part that is shown, or a pause (ISO/IEC 14496-12, 8.6.6).
struct MP4Edit: Hashable {
  /// How long it lasts, in nanoseconds.
  var duration: Int64
  /// Its start in the media, in ticks of the track; −1 for a pause.
  var mediaTime: Int64
}
