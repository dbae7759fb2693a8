// SPDX-License-Identifier: MPL-2.0
public import H26x
public import StreamReport
public import VideoDecoding

/// The access units of the video track of an MP4 or MOV file, fragmented or not, in decoding order: the place of
/// `AVAssetReader`.
///
/// ```swift
/// for try await picture in DecodedPictures(of: try MP4AccessUnits(fileAt: "clip.mp4")) {
///   print(picture.width, picture.height)
/// }
/// ```
///
/// Edits are applied. Times are presentation times, starting at zero. Access units that are decoded only because
/// shown ones refer to them have ``/VideoDecoding/AccessUnit/doNotOutput`` set. If an edit begins inside a picture,
/// the picture is shown from the edit's start. If an edit list shows several parts, they follow one another, and the
/// first access unit of each is ``/VideoDecoding/AccessUnit/isDiscontinuous``. Decoding times have the same origin,
/// so that the first may be negative; none is later than its presentation time, even if the file has negative
/// composition offsets. Tags count from 0.
///
/// A file is read sample by sample when an access unit is requested, in the task that iterates, and the read blocks.
/// The remaining contents of a damaged or truncated file are returned before the error is thrown.
public struct MP4AccessUnits: AsyncSequence {
  /// An access unit. The first one has the format, and so does every access unit with another sample description.
  public typealias Element = AccessUnit
  /// The reason that no more can be read.
  public typealias Failure = VideoFileError

  /// The format of the first access unit.
  public let format: FormatDescription
  /// The content of the `moov` box.
  public let movie: MP4.Movie
  /// The track that is read: the first of H.264 or H.265.
  public let track: MP4.Track
  private let samples: MP4.ShownSamples
  private let fileSize: UInt64
  private var parts: [MP4.ShownRange]

  /// Opens a file.
  ///
  /// - Throws: ``VideoFileError``.
  public init(fileAt path: String) throws(VideoFileError) { try self.init(of: LocalFile(at: path)) }

  /// Reads the tracks of a file that is anywhere, as in memory or behind a network.
  ///
  /// - Throws: ``VideoFileError``, but not `.cannotOpen`.
  public init(of source: consuming some ByteSource) throws(VideoFileError) {
    fileSize = source.size
    let start: MP4.VideoSamples
    do throws(MP4.ReadError) { start = try MP4.VideoSamples(source) } catch { throw .container(error) }
    (movie, track) = (start.movie, start.track)
    guard let video = track.video, track.timescale > 0 else {
      throw .container(MP4.ReadError(.unsupported, FourCharacterCode("mdhd"), at: 0))
    }
    // Without an edit list all samples are shown at their composition times, which some writers let begin below 0.
    let everything = MP4.ShownRange(start: .min, end: nil, time: .min)
    parts = track.shownRanges(movieTimescale: movie.timescale) ?? [everything]
    samples = MP4.ShownSamples(start, showing: parts.first ?? everything)
    format = try SampleFormat.format(of: video.description, samples: samples)
  }

  private var time: TrackTime { TrackTime(timescale: track.timescale) }

  /// The presentation's duration by its edit list or track header. Nil if the file does not state it, such as a
  /// recording that continues in fragments.
  public var duration: Duration? {
    if let last = parts.last, last.start > .min {
      return last.end.map { time.duration(Self.sum(last.time, $0 &- last.start)) }
    }
    return track.duration > 0 ? time.duration(Int64(clamping: track.duration)) : nil
  }

  /// The part of the presentation between two times: all pictures that begin at `start` or later, and before `end`.
  /// Their times stay as they are. Reading begins at the last sync sample at or before `start`.
  ///
  /// A part of a part is the overlap of both.
  ///
  /// - Parameters:
  ///   - start: counts from the beginning of the presentation.
  ///   - end: counts from there too; nil for the rest.
  public func part(from start: Duration, to end: Duration? = nil) -> MP4AccessUnits {
    var copy = self
    let (first, limit) = (time.firstTick(from: start), end.map(time.firstTick) ?? .max)
    copy.parts = parts.compactMap { part in
      let partEnd = part.end.map { Self.sum(part.time, $0 &- part.start) } ?? .max
      let (shownFrom, shownTo) = (Swift.max(part.time, first), Swift.min(partEnd, limit))
      guard shownFrom < shownTo else { return nil }
      let offset = part.start.subtractingReportingOverflow(part.time).partialValue
      var shown = MP4.ShownRange(
        start: Self.sum(offset, shownFrom), end: shownTo == .max ? nil : Self.sum(offset, shownTo), time: shownFrom)
      shown.showsCutSample = part.showsCutSample && shownFrom == part.time
      return shown
    }
    return copy
  }

  /// The sum, or the largest or smallest number if the sum is beyond.
  fileprivate static func sum(_ a: Int64, _ b: Int64) -> Int64 {
    let (sum, isBeyond) = a.addingReportingOverflow(b)
    return isBeyond ? (a < 0 ? .min : .max) : sum
  }

  /// An iterator over the access units, from the first.
  public func makeAsyncIterator() -> Iterator {
    Iterator(samples, parts: parts, format: format, time: time, fileSize: fileSize)
  }

  /// Reads a sample whenever an access unit is requested.
  public struct Iterator: AsyncIteratorProtocol {
    private var samples: MP4.ShownSamples
    private var parts: ArraySlice<MP4.ShownRange>
    private let time: TrackTime
    private let fileSize: UInt64
    private var descriptionIndex: Int?
    private let firstFormat: FormatDescription
    private let firstIndex: Int
    private var isFirstOfPart = true
    private var count: UInt64 = 0
    private var isAtEnd = false

    init(
      _ samples: MP4.ShownSamples, parts: [MP4.ShownRange], format: FormatDescription, time: TrackTime,
      fileSize: UInt64
    ) {
      (self.samples, self.parts, self.time, self.fileSize) = (samples, parts[...], time, fileSize)
      firstFormat = format
      firstIndex = samples.track.video?.index ?? 0
      beginPart()
    }

    /// The next access unit; nil after the last.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(VideoFileError) -> AccessUnit? {
      do throws(VideoFileError) {
        while !isAtEnd {
          if let accessUnit = try nextOfPart() { return accessUnit }
          parts = parts.dropFirst()
          beginPart()
        }
        return nil
      } catch {
        isAtEnd = true
        throw error
      }
    }

    private mutating func beginPart() {
      guard let part = parts.first else {
        isAtEnd = true
        return
      }
      samples.show(part)
      isFirstOfPart = true
    }

    /// The next access unit of the current part; nil after its last.
    private mutating func nextOfPart() throws(VideoFileError) -> AccessUnit? {
      while let sample = try nextSample() {
        guard !sample.range.isEmpty else { continue }
        let bytes = samples.bytes(of: sample)
        guard UInt64(bytes.count) == sample.range.upperBound - sample.range.lowerBound else {
          let isCutOff = sample.range.upperBound > fileSize
          throw .container(
            MP4.ReadError(isCutOff ? .truncated : .unreadable, FourCharacterCode("mdat"), at: sample.range.lowerBound))
        }
        return accessUnit(sample, bytes, try changedFormat(of: sample))
      }
      return nil
    }

    private mutating func nextSample() throws(VideoFileError) -> MP4.Sample? {
      do throws(MP4.ReadError) { return try samples.next() } catch { throw .container(error) }
    }

    /// The format of a sample; nil if it is the previous sample's.
    private mutating func changedFormat(of sample: MP4.Sample) throws(VideoFileError) -> FormatDescription? {
      let descriptions = samples.track.descriptions
      let index = descriptions.indices.contains(sample.descriptionIndex) ? sample.descriptionIndex : firstIndex
      guard index != descriptionIndex else { return nil }
      let format =
        index == firstIndex ? firstFormat : try SampleFormat.format(of: descriptions[index], samples: samples)
      descriptionIndex = index
      return format
    }

    private mutating func accessUnit(
      _ sample: MP4.Sample, _ bytes: [UInt8], _ format: FormatDescription?
    ) -> AccessUnit {
      defer {
        count += 1
        isFirstOfPart = false
      }
      let range = samples.range
      // The offset from media time to presentation time.
      let offset = range.time.subtractingReportingOverflow(range.start).partialValue
      var (composition, duration) = (sample.compositionTime, Int64(sample.duration))
      let isShown = composition >= samples.firstTime && range.end.map { composition < $0 } ?? true
      if isShown, composition < range.start {
        duration = Swift.max(0, duration - range.start.subtractingReportingOverflow(composition).partialValue)
        composition = range.start
      }
      return AccessUnit(
        bytes, tag: count, time: time.duration(MP4AccessUnits.sum(composition, offset)),
        decodingTime: time.duration(MP4AccessUnits.sum(samples.decodingTime(of: sample), offset)),
        duration: time.duration(duration), isRandomAccessPoint: sample.isSync, doNotOutput: !isShown,
        isDiscontinuous: isFirstOfPart && count > 0, format: format)
    }
  }
}

/// Converts a track's ticks to durations and back.
struct TrackTime {
  /// Ticks a second, not 0.
  let timescale: UInt32

  /// The duration of a number of ticks, rounded to the nearest nanosecond.
  func duration(_ ticks: Int64) -> Duration {
    let (seconds, rest) = ticks.quotientAndRemainder(dividingBy: Int64(timescale))
    let half = rest < 0 ? -Int64(timescale / 2) : Int64(timescale / 2)
    return .seconds(seconds) + .nanoseconds((rest * 1_000_000_000 + half) / Int64(timescale))
  }

  /// The first tick that is at a time or later, as ``duration(_:)`` has it; the last one there is for a time beyond.
  func firstTick(from time: Duration) -> Int64 {
    let nearest = ticks(time)
    return nearest < .max && duration(nearest) < time ? nearest + 1 : nearest
  }

  /// The nearest number of ticks; the largest or smallest there is for a duration beyond.
  func ticks(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    let (whole, isBeyond) = seconds.multipliedReportingOverflow(by: Int64(timescale))
    guard !isBeyond else { return seconds < 0 ? .min : .max }
    let scale = 1_000_000_000_000_000_000 as Int128
    let product = Int128(attoseconds) * Int128(timescale)
    let part = Int64((product + (product < 0 ? -scale / 2 : scale / 2)) / scale)
    let (sum, isBeyondSum) = whole.addingReportingOverflow(part)
    return isBeyondSum ? (whole < 0 ? .min : .max) : sum
  }
}
