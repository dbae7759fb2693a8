// SPDX-License-Identifier: MPL-2.0

extension MP4 {
  /// Iterates over the samples of a file's video track in decoding order: those of the sample table, then those of
  /// fragments.
  public struct VideoSamples {
    private let source: FileBytes
    private var window = FileWindow()
    /// The content of the `moov` box.
    public let movie: Movie
    /// The track whose samples these are.
    public let track: Track
    private var table: SampleCursor?
    private var fragment: FragmentCursor?
    /// The offset of the content of `moov` in the file.
    private var movieOffset: UInt64 = 0
    /// The offset of the next box in the file.
    private var position: UInt64
    private var decodingTime: Int64 = 0
    private var sampleCount: UInt64 = 0
    /// Bytes of the samples so far, as far as the file has them.
    private var sampleBytes: UInt64 = 0

    /// The most bytes that samples may have together, in multiples of the file's size: some editors let a few samples
    /// share their bytes.
    private static var sharingLimit: UInt64 { 8 }

    /// The largest `moov` or `moof` that is read, in bytes: a day of samples at 60 a second has 40 MB of tables.
    package static var headerLimit: UInt64 { 512 << 20 }

    /// Reads the tracks of a file.
    ///
    /// - Throws: ``ReadError``; `.missing` for `moov` when the file has no such box, for `trak` when it has no H.264 or
    ///   H.265 track.
    public init(_ source: consuming some ByteSource) throws(ReadError) { try self.init(FileBytes(source)) }

    /// Reads the tracks of a file.
    ///
    /// - Parameter index: the place of the track whose samples are read; nil for the first H.264 or H.265 track.
    /// - Throws: ``ReadError``; `.missing` for `trak` if there is no such track, or it is of another codec.
    package init(_ source: consuming some ByteSource, track index: Int?) throws(ReadError) {
      try self.init(FileBytes(source), track: index)
    }

    init(_ source: FileBytes, track index: Int? = nil) throws(ReadError) {
      var offset: UInt64 = 0
      var found: Movie?
      var firstFragment: UInt64?
      while found == nil, let box = try Self.header(source, at: offset) {
        switch box.type {
        case "moov":
          movieOffset = offset + UInt64(box.length)
          let content = try Self.content(source, box, at: offset)
          do throws(ReadError) { found = try Movie(content) } catch {
            throw ReadError(error.reason, error.box, at: movieOffset + error.offset)
          }
        case "moof": firstFragment = firstFragment ?? offset
        default: break
        }
        offset += box.size
      }
      guard let found else { throw ReadError(.missing, FourCharacterCode("moov"), at: offset) }
      guard let track = index.map({ found.videoTrack(at: $0) }) ?? found.videoTrack else {
        throw ReadError(.missing, FourCharacterCode("trak"), at: offset)
      }
      position = min(firstFragment ?? offset, offset)
      movie = found
      self.track = track
      table = track.samples.map { SampleCursor($0) }
      self.source = source
    }

    /// The next sample; nil after the last.
    ///
    /// - Throws: ``ReadError`` if a fragment is damaged; `.tooLarge` for more samples than the file has bytes, and
    ///   for samples that all share the same bytes.
    public mutating func next() throws(ReadError) -> Sample? {
      // A table of samples of one size may state billions for a file of any size, and all may be in one place.
      guard sampleCount < source.size, sampleBytes / Self.sharingLimit <= source.size else {
        let isTable = table != nil
        throw ReadError(.tooLarge, FourCharacterCode(isTable ? "stbl" : "moof"), at: isTable ? movieOffset : position)
      }
      sampleCount += 1
      guard let sample = try nextSample() else { return nil }
      let (start, end) = (sample.range.lowerBound, min(sample.range.upperBound, source.size))
      sampleBytes += end > start ? end - start : 0
      return sample
    }

    private mutating func nextSample() throws(ReadError) -> Sample? {
      let tables = movie.bytes
      if let sample = table?.next(tables.span) {
        decodingTime = sample.decodingTime &+ Int64(sample.duration)
        return sample
      }
      table = nil
      while true {
        if let sample = try fragment?.nextSample() {
          decodingTime = sample.decodingTime &+ Int64(sample.duration)
          return sample
        }
        fragment = nil
        guard movie.isFragmented, try beginFragment() else { return nil }
      }
    }

    /// The bytes of a sample; fewer when the file ends inside it.
    public mutating func bytes(of sample: Sample) -> [UInt8] {
      let (bytes, range) = load(sample)
      return Array(bytes[range])
    }

    /// Bytes of the file, and the range of a sample in them. Release them before the next call, which would copy them.
    mutating func load(_ sample: Sample) -> (bytes: [UInt8], range: Range<Int>) {
      let range = window.load(sample.range, from: source)
      return (window.bytes, range)
    }

    private mutating func beginFragment() throws(ReadError) -> Bool {
      while let box = try Self.header(source, at: position) {
        let start = position
        position += box.size
        guard box.type == FourCharacterCode("moof") else { continue }
        fragment = FragmentCursor(
          try Self.content(source, box, at: start), at: start, track: track.id,
          defaults: movie.fragmentDefaults, decodingTime: decodingTime)
        return true
      }
      return false
    }

    /// The header of the box at an offset of the file; nil at the end.
    private static func header(_ source: FileBytes, at offset: UInt64) throws(ReadError)
      -> BoxHeader?
    {
      guard offset < source.size, source.size - offset >= 8 else { return nil }
      let bytes = source.read(
        at: offset, count: Int(min(UInt64(BoxHeader.maximumLength), source.size - offset)))
      guard bytes.count >= 8 else {
        throw ReadError(.unreadable, FourCharacterCode(rawValue: 0), at: offset)
      }
      do throws(ReadError) {
        return try BoxHeader(bytes.span, at: 0, limit: source.size - offset)
      } catch {
        throw ReadError(error.reason, error.box, at: offset)
      }
    }

    private static func content(
      _ source: FileBytes, _ box: BoxHeader, at offset: UInt64
    ) throws(ReadError) -> [UInt8] {
      let count = box.size - UInt64(box.length)
      guard count <= headerLimit else { throw ReadError(.tooLarge, box.type, at: offset) }
      let bytes = source.read(at: offset + UInt64(box.length), count: Int(count))
      guard UInt64(bytes.count) == count else { throw ReadError(.truncated, box.type, at: offset) }
      return bytes
    }
  }
}
