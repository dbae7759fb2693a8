// SPDX-License-Identifier: MPL-2.0

extension MP4 {
  /// Iterates over the samples of one track in one `moof` box, in decoding order (ISO/IEC 14496-12, 8.8).
  struct FragmentCursor: Sendable {
    private let bytes: [UInt8]
    private let track: UInt32
    private let movieDefaults: MovieFragmentDefaults
    private let start: UInt64
    /// The offset of the next box in the `moof`.
    private var next = 0
    private var trackFragment = 0..<0
    private var defaults: FragmentDefaults
    private var baseOffset: UInt64
    /// The end in the file of the run before: there a run without `data_offset` begins, and a track fragment without a
    /// base of its own.
    private var dataEnd: UInt64
    private var run: Run?
    /// The decoding time of the next sample.
    private(set) var decodingTime: Int64

    /// The rest of a `trun` box.
    private struct Run: Sendable {
      var place: Int
      var end: Int
      var left: UInt32
      var flags: UInt32
      var firstFlags: UInt32? = nil
      var offset: UInt64
    }

    /// `tfhd` and `trun` flags (8.8.7 and 8.8.8).
    private enum Flag {
      static let baseDataOffset: UInt32 = 0x1
      static let descriptionIndex: UInt32 = 0x2
      static let defaultDuration: UInt32 = 0x8
      static let defaultSize: UInt32 = 0x10
      static let defaultFlags: UInt32 = 0x20
      static let defaultBaseIsMovieFragment: UInt32 = 0x2_0000
      static let dataOffset: UInt32 = 0x1
      static let firstSampleFlags: UInt32 = 0x4
      static let duration: UInt32 = 0x100
      static let size: UInt32 = 0x200
      static let flags: UInt32 = 0x400
      static let compositionOffset: UInt32 = 0x800
      /// `sample_is_non_sync_sample` of the sample flags.
      static let isNoSyncSample: UInt32 = 0x1_0000
    }

    /// - Parameters:
    ///   - content: the content of the `moof` box.
    ///   - start: the offset of the box in the file, from which data offsets count.
    ///   - track: `track_ID` of the track.
    ///   - defaults: of the `trex` boxes.
    ///   - decodingTime: the end of the fragment before, for one without `tfdt`.
    init(
      _ content: [UInt8], at start: UInt64, track: UInt32, defaults: MovieFragmentDefaults, decodingTime: Int64
    ) {
      bytes = content
      self.start = start
      self.track = track
      movieDefaults = defaults
      self.defaults = defaults[track]
      baseOffset = start
      dataEnd = start
      self.decodingTime = decodingTime
    }

    /// The next sample; nil after the last.
    mutating func nextSample() throws(ReadError) -> Sample? {
      while true {
        if let sample = try sampleOfRun() { return sample }
        guard try beginRun() else { return nil }
      }
    }

    private mutating func sampleOfRun() throws(ReadError) -> Sample? {
      guard var current = run, current.left > 0 else { return nil }
      let content = bytes
      let span = content.span
      var place = current.place
      func field(_ flag: UInt32) -> UInt32? {
        guard current.flags & flag != 0, place <= current.end - 4,
          let value = span.uint32(at: place)
        else { return nil }
        place += 4
        return value
      }
      let duration = field(Flag.duration) ?? defaults.duration
      let size = field(Flag.size) ?? defaults.size
      let own = field(Flag.flags)
      let composition = field(Flag.compositionOffset)
      // Ends at an entry that is cut off. Without entries a sample must have bytes, else a count could name billions.
      let hasEntries =
        current.flags & (Flag.duration | Flag.size | Flag.flags | Flag.compositionOffset) != 0
      guard !hasEntries || place > current.place, hasEntries || size > 0 else {
        run = nil
        return nil
      }
      let flags = own ?? current.firstFlags ?? defaults.flags
      let (end, isBeyond) = current.offset.addingReportingOverflow(UInt64(size))
      guard !isBeyond else { throw ReadError(.badSize, FourCharacterCode("trun"), at: start) }
      let sample = Sample(
        range: current.offset..<end, decodingTime: decodingTime,
        compositionOffset: Int64(Int32(bitPattern: composition ?? 0)), duration: duration,
        isSync: flags & Flag.isNoSyncSample == 0,
        descriptionIndex: Int(clamping: defaults.descriptionIndex) &- 1)
      decodingTime = decodingTime &+ Int64(duration)
      current.place = place
      current.offset = end
      current.firstFlags = nil
      current.left -= 1
      dataEnd = end
      run = current
      return sample
    }

    /// Goes to the next `trun` of the track. Returns whether there is one.
    private mutating func beginRun() throws(ReadError) -> Bool {
      while true {
        let content = bytes
        let span = content.span
        var inside = Boxes(span, in: trackFragment)
        while let box = try inside.next() {
          trackFragment = box.range.upperBound..<trackFragment.upperBound
          switch box.type {
          case "tfdt":
            let start = box.content.lowerBound
            let time =
              span.uint8(at: start) == 1
              ? span.uint64(at: start + 4)
              : span.uint32(at: start + 4).map { UInt64($0) }
            if let time { decodingTime = Int64(clamping: time) }
          case "trun":
            if let next = readRun(box) {
              run = next
              return true
            }
          default: break
          }
        }
        guard try beginTrackFragment() else { return false }
      }
    }

    private func readRun(_ box: Box) -> Run? {
      let content = bytes
      let span = content.span
      var place = box.content.lowerBound
      guard let word = span.uint32(at: place), let count = span.uint32(at: place + 4) else {
        return nil
      }
      var current = Run(
        place: 0, end: box.content.upperBound, left: count, flags: word & 0xFF_FFFF,
        offset: dataEnd)
      place += 8
      if current.flags & Flag.dataOffset != 0, let offset = span.uint32(at: place) {
        current.offset = baseOffset &+ UInt64(bitPattern: Int64(Int32(bitPattern: offset)))
        place += 4
      }
      if current.flags & Flag.firstSampleFlags != 0, let flags = span.uint32(at: place) {
        current.firstFlags = flags
        place += 4
      }
      current.place = place
      return current
    }

    /// Goes to the next `traf` of the track. Returns whether there is one.
    private mutating func beginTrackFragment() throws(ReadError) -> Bool {
      let content = bytes
      let span = content.span
      var boxes = Boxes(span, in: next..<content.count)
      while let box = try boxes.next() {
        next = box.range.upperBound
        guard box.type == FourCharacterCode("traf") else { continue }
        var inside = Boxes(span, in: box.content)
        guard let header = try inside.first(FourCharacterCode("tfhd")), let owner = readHeader(header) else {
          continue
        }
        if owner == track {
          trackFragment = box.content
          return true
        }
        try skipRuns(in: box.content)
      }
      return false
    }

    /// Goes to the end of another track's data.
    private mutating func skipRuns(in content: Range<Int>) throws(ReadError) {
      let bytes = bytes
      let span = bytes.span
      var inside = Boxes(span, in: content)
      while let box = try inside.next() {
        guard box.type == FourCharacterCode("trun"), let run = readRun(box) else { continue }
        dataEnd = run.offset
        guard run.flags & Flag.size != 0 else {
          dataEnd = Self.sum(dataEnd, UInt64(run.left) * UInt64(defaults.size))
          continue
        }
        let fields = [Flag.duration, Flag.size, Flag.flags, Flag.compositionOffset].count { run.flags & $0 != 0 }
        let first = run.place + (run.flags & Flag.duration != 0 ? 4 : 0)
        let entries = min(Int(clamping: run.left), max(0, run.end - run.place) / (4 * fields))
        for entry in 0..<entries {
          dataEnd = Self.sum(dataEnd, UInt64(span.uint32(at: first + 4 * fields * entry) ?? 0))
        }
      }
    }

    private static func sum(_ left: UInt64, _ right: UInt64) -> UInt64 {
      let (sum, isBeyond) = left.addingReportingOverflow(right)
      return isBeyond ? UInt64.max : sum
    }

    /// Reads `tfhd`. Returns the track that the fragment is of.
    private mutating func readHeader(_ box: Box) -> UInt32? {
      let content = bytes
      let span = content.span
      var place = box.content.lowerBound
      guard let word = span.uint32(at: place), let owner = span.uint32(at: place + 4) else { return nil }
      place += 8
      defaults = movieDefaults[owner]
      // 8.8.7.1: without any flag, the data of a track fragment follows the data of the fragment before.
      baseOffset = word & Flag.defaultBaseIsMovieFragment != 0 ? start : dataEnd
      if word & Flag.baseDataOffset != 0, let offset = span.uint64(at: place) {
        baseOffset = offset
        place += 8
      }
      dataEnd = baseOffset
      func field(_ flag: UInt32) -> UInt32? {
        guard word & flag != 0, let value = span.uint32(at: place) else { return nil }
        place += 4
        return value
      }
      defaults.descriptionIndex = field(Flag.descriptionIndex) ?? defaults.descriptionIndex
      defaults.duration = field(Flag.defaultDuration) ?? defaults.duration
      defaults.size = field(Flag.defaultSize) ?? defaults.size
      defaults.flags = field(Flag.defaultFlags) ?? defaults.flags
      return owner
    }
  }
}
