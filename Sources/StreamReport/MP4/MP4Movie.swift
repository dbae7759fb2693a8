// SPDX-License-Identifier: MPL-2.0

extension MP4 {
  /// Defaults for the samples of a track in fragments (`trex`; ISO/IEC 14496-12, 8.8.3).
  struct FragmentDefaults: Sendable, Hashable {
    var descriptionIndex: UInt32 = 1
    var duration: UInt32 = 0
    var size: UInt32 = 0
    var flags: UInt32 = 0
  }

  /// The content of a `moov` box.
  public struct Movie: Sendable, Hashable {
    /// Ticks a second of ``duration`` and of edits' durations.
    public private(set) var timescale: UInt32 = 0
    /// `duration` of `mvhd`, in ticks of ``timescale``; fragments may make the movie longer.
    public private(set) var duration: UInt64 = 0
    /// The tracks in the order of the file, 1024 at most.
    public private(set) var tracks: [Track] = []
    /// Whether there is an `mvex` box: samples may be in fragments.
    public private(set) var isFragmented = false
    /// The box's content, from which sample tables are read.
    let bytes: [UInt8]
    private var defaults: [(track: UInt32, values: FragmentDefaults)] = []

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
          duration =
            (isLong ? span.uint64(at: start + 24) : span.uint32(at: start + 16).map { UInt64($0) })
            ?? 0
        case "trak":
          if tracks.count < Self.trackLimit { tracks.append(try Track(span, box.content)) }
        case "mvex": try readDefaults(span, box)
        default: break
        }
      }
    }

    private mutating func readDefaults(_ span: Span<UInt8>, _ extends: Box) throws(ReadError) {
      isFragmented = true
      var boxes = Boxes(span, in: extends.content)
      while let box = try boxes.next() {
        guard box.type == FourCharacterCode("trex"), defaults.count < Self.trackLimit else {
          continue
        }
        let start = box.content.lowerBound
        guard let track = span.uint32(at: start + 4) else { continue }
        let values = FragmentDefaults(
          descriptionIndex: span.uint32(at: start + 8) ?? 1,
          duration: span.uint32(at: start + 12) ?? 0,
          size: span.uint32(at: start + 16) ?? 0, flags: span.uint32(at: start + 20) ?? 0)
        defaults.append((track, values))
      }
    }

    /// The first H.264 or H.265 track; nil when there is none.
    public var videoTrack: Track? {
      tracks.first { $0.descriptions.contains { $0.coding.isVideo } }
    }

    func fragmentDefaults(of track: UInt32) -> FragmentDefaults {
      defaults.first { $0.track == track }?.values ?? FragmentDefaults()
    }

    /// Whether both were read from the same bytes.
    public static func == (left: Movie, right: Movie) -> Bool { left.bytes == right.bytes }

    /// Hashes the bytes that it was read from.
    public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
  }
}
