// SPDX-License-Identifier: MPL-2.0

extension MP4 {
  /// Defaults for the samples of a track in fragments (`trex`; ISO/IEC 14496-12, 8.8.3).
  struct FragmentDefaults: Sendable, Hashable {
    var descriptionIndex: UInt32 = 1
    var duration: UInt32 = 0
    var size: UInt32 = 0
    var flags: UInt32 = 0
  }

  /// The defaults of all tracks, as far as the movie box has them.
  struct MovieFragmentDefaults: Sendable {
    /// In ascending order of tracks.
    private var entries: [(track: UInt32, values: FragmentDefaults)] = []

    subscript(track: UInt32) -> FragmentDefaults {
      let place = place(of: track)
      return place < entries.count && entries[place].track == track ? entries[place].values : FragmentDefaults()
    }

    /// Adds those of a track, unless it has some, or the most tracks have some.
    mutating func add(_ values: FragmentDefaults, of track: UInt32) {
      let place = place(of: track)
      guard entries.count < Movie.trackLimit, place == entries.count || entries[place].track != track else { return }
      entries.insert((track, values), at: place)
    }

    /// The first entry that is not of a lower track.
    private func place(of track: UInt32) -> Int {
      var (low, high) = (0, entries.count)
      while low < high {
        let middle = (low + high) / 2
        if entries[middle].track < track { low = middle + 1 } else { high = middle }
      }
      return low
    }
  }

  /// The content of a `moov` box.
  public struct Movie: Sendable, Hashable {
    /// Ticks a second of ``duration`` and of edits' durations.
    public private(set) var timescale: UInt32 = 0
    /// `duration` of `mvhd`, in ticks of ``timescale``; fragments may make the movie longer. 0 if it is unknown.
    public private(set) var duration: UInt64 = 0
    /// The tracks in the order of the file, 1024 at most.
    public private(set) var tracks: [Track] = []
    /// The boxes within a `meta` box of QuickTime's keys and values (`mdta`); empty without one.
    package private(set) var metadata: [UInt8] = []
    /// Whether there is an `mvex` box: samples may be in fragments.
    public private(set) var isFragmented = false
    /// The box's content, from which sample tables are read.
    let bytes: [UInt8]
    private(set) var fragmentDefaults = MovieFragmentDefaults()

    /// The most tracks that are kept.
    static let trackLimit = 1024

    /// Reads the content of a `moov` box.
    ///
    /// - Throws: ``ReadError`` with offsets that count from the content's start.
    package init(_ content: [UInt8]) throws(ReadError) {
      bytes = content
      let span = content.span
      var boxes = Boxes(span, in: 0..<span.count)
      while let box = try boxes.next() {
        let start = box.content.lowerBound
        switch box.type {
        case "mvhd":
          let isLong = span.uint8(at: start) == 1
          timescale = span.uint32(at: start + (isLong ? 20 : 12)) ?? 0
          duration = Self.duration(span, at: start + (isLong ? 24 : 16), isLong: isLong)
        case "trak":
          if tracks.count < Self.trackLimit { tracks.append(try Track(span, box.content)) }
        case "mvex": try readDefaults(span, box)
        case "meta": metadata = Self.metadata(span, box)
        case "udta":
          var entries = Boxes(span, in: box.content)
          guard metadata.isEmpty, let entry = entries.firstIntact(FourCharacterCode("meta")) else { break }
          metadata = Self.metadata(span, entry)
        default: break
        }
      }
    }

    /// The most bytes of a `meta` box that are kept.
    private static let metadataLimit = 1 << 20

    /// The boxes within a `meta` box; empty unless it has QuickTime's keys and values (QuickTime File Format, "Metadata
    /// Atom").
    static func metadata(_ bytes: Span<UInt8>, _ box: Box) -> [UInt8] {
      let start = box.content.lowerBound
      // Version and flags are in front of the boxes in MP4, not in QuickTime.
      let first = bytes.uint32(at: start) == 0 ? start + 4 : start
      let content = min(first, box.content.upperBound)..<box.content.upperBound
      var boxes = Boxes(bytes, in: content)
      guard content.count <= metadataLimit, let handler = boxes.firstIntact(FourCharacterCode("hdlr")),
        bytes.uint32(at: handler.content.lowerBound + 8) == FourCharacterCode("mdta").rawValue
      else { return [] }
      return bytes.array(content) ?? []
    }

    /// A duration field; 0 for one that is unknown, in which all bits are set (ISO/IEC 14496-12, 8.2.2 and 8.4.2).
    static func duration(_ bytes: Span<UInt8>, at offset: Int, isLong: Bool) -> UInt64 {
      if isLong { return bytes.uint64(at: offset).map { $0 == .max ? 0 : $0 } ?? 0 }
      return bytes.uint32(at: offset).map { $0 == .max ? 0 : UInt64($0) } ?? 0
    }

    private mutating func readDefaults(_ span: Span<UInt8>, _ extends: Box) throws(ReadError) {
      isFragmented = true
      var boxes = Boxes(span, in: extends.content)
      while let box = try boxes.next() {
        guard box.type == FourCharacterCode("trex") else { continue }
        let start = box.content.lowerBound
        guard let track = span.uint32(at: start + 4) else { continue }
        let values = FragmentDefaults(
          descriptionIndex: span.uint32(at: start + 8) ?? 1,
          duration: span.uint32(at: start + 12) ?? 0,
          size: span.uint32(at: start + 16) ?? 0, flags: span.uint32(at: start + 20) ?? 0)
        fragmentDefaults.add(values, of: track)
      }
    }

    /// The first H.264 or H.265 track; nil if there is none.
    public var videoTrack: Track? {
      tracks.first { $0.video != nil }
    }

    /// A track of H.264 or H.265 by its place among all; nil if there is none, or one of another codec.
    package func videoTrack(at index: Int) -> Track? {
      tracks.indices.contains(index) && tracks[index].video != nil ? tracks[index] : nil
    }

    /// Whether both were read from the same bytes.
    public static func == (left: Movie, right: Movie) -> Bool { left.bytes == right.bytes }

    /// Hashes the bytes that it was read from.
    public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
  }
}
