// SPDX-License-Identifier: MPL-2.0
import AVFormat
package import GStreamer
import H26x
package import StreamReport

/// Reads the video track of an MP4 or MOV file: its samples, in the range that its edit list shows.
final class MP4VideoReader: VideoTrackReader {
  let track: VideoTrack
  private(set) var shown: ShownRange
  let beginning: Int64? = nil
  private(set) var position: Int64 = 0

  let hidesFront: Bool
  /// All parts that are shown; one part if the file has no edit list.
  let parts: [ShownRange]

  private let input: InputFile
  private let size: UInt64
  private let timescale: UInt32
  private var samples: MP4.ShownSamples
  private let allMedia: MP4.ShownRange
  private var descriptionIndex: Int

  /// More samples than are needed to determine the frame rate and the first picture.
  private static let trialCount = 512

  /// - Parameter part: the number of the part of the edit list that is read, from 0.
  /// - Throws: a `Failure` if the file cannot be read, or has no H.264 or H.265 track.
  init(_ input: InputFile, part: Int = 0) throws(Failure) {
    self.input = input
    let source = try InputBytes(input)
    size = source.size
    let start: MP4.VideoSamples
    do throws(MP4.ReadError) { start = try MP4.VideoSamples(source, track: try Self.track(input, source)) } catch {
      throw input.failure(error)
    }
    if let program = input.selection.program { throw Failure("\(input.name): no program \(program); MP4 has none") }
    let file = start.track
    guard let video = file.video, file.timescale > 0 else { throw Failure(input.noVideo) }
    // Samples in front of encrypted samples may be clear, with a description of their own.
    if Encryption(file) != nil, let failure = input.encryptionFailure { throw failure }
    (timescale, descriptionIndex) = (file.timescale, video.index)
    let trial = Trial(start)
    allMedia = MP4.ShownRange(start: min(trial.start, 0), end: nil, time: 0)
    let edited = file.shownRanges(movieTimescale: start.movie.timescale) ?? [allMedia]
    parts = edited.map { [timescale] in Self.range($0, timescale) }
    let range = edited.indices.contains(part) ? edited[part] : allMedia
    samples = MP4.ShownSamples(start, showing: range)
    hidesFront = range.start > trial.start
    shown = Self.range(range, timescale)
    let description = video.description
    var track = VideoTrack(codec: video.codec, packaging: Self.packaging(description))
    if description.configuration.isEmpty, trial.beginsWithStartCode { track.packaging = .byteStream(isAligned: true) }
    track.size = (description.width, description.height)
    track.framerate = trial.rate(timescale)
    track.pixelAspect = description.reducedPixelAspect
    track.otherEditRate = file.otherEditRate.map { Double($0) / 65536 }
    track.colour = StreamDescription.Colour(description.colour)
    track.dolbyVision = description.dolbyVision
    track.direction = file.orientation.flatMap(Self.direction)
    track.duration = file.duration > 0 ? .seconds(file.duration, times: 1, over: timescale) : nil
    track.timescale = Int32(exactly: timescale)
    self.track = track
  }

  /// The place of the track that is chosen; `nil` for the first.
  static func track(_ input: InputFile, _ source: InputBytes) throws(MP4.ReadError) -> Int? {
    guard let chosen = input.selection.streams else { return nil }
    let movie = try MP4.VideoSamples(source).movie
    return chosen.sorted().first { movie.videoTrack(at: $0) != nil } ?? chosen.first
  }

  private static func packaging(_ description: MP4.VisualSampleDescription) -> VideoTrack.Packaging {
    .lengthPrefixed(
      configuration: description.configuration,
      allowsInBandParameterSets: description.coding.allowsInBandParameterSets)
  }

  private static func direction(_ orientation: MP4.Orientation) -> String? {
    switch (orientation.rotation, orientation.isMirrored) {
    case (90, false): "90r"
    case (180, false): "180"
    case (270, false): "90l"
    case (0, true): "horiz"
    case (90, true): "ur-ll"
    case (180, true): "vert"
    case (270, true): "ul-lr"
    default: nil
    }
  }

  // MARK: Times

  private static func nanoseconds(_ ticks: Int64, _ timescale: UInt32) -> Int64 {
    let (seconds, rest) = ticks.quotientAndRemainder(dividingBy: Int64(timescale))
    let (whole, isBeyond) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    guard !isBeyond else { return ticks < 0 ? .min / 4 : .max / 4 }
    // The nearest one: a tick of another scale is found again.
    let product = rest * 1_000_000_000
    let half = product < 0 ? -Int64(timescale / 2) : Int64(timescale / 2)
    return whole.addingReportingOverflow((product + half) / Int64(timescale)).partialValue
  }

  private static func range(_ range: MP4.ShownRange, _ timescale: UInt32) -> ShownRange {
    ShownRange(
      start: nanoseconds(range.start, timescale), end: range.end.map { nanoseconds($0, timescale) },
      time: nanoseconds(range.time, timescale))
  }

  // MARK: Samples

  func next() throws(Failure) -> VideoSample? {
    while let sample = try nextSample() {
      // Skips samples that the end of the file cuts off.
      if sample.range.upperBound <= size { return read(sample) }
    }
    return nil
  }

  private func nextSample() throws(Failure) -> MP4.Sample? {
    do throws(MP4.ReadError) { return try samples.next() } catch {
      // A fragment that is cut off ends the file. Samples before it count.
      guard samples.movie.isFragmented else { throw input.failure(error) }
      return nil
    }
  }

  private func read(_ sample: MP4.Sample) -> VideoSample {
    position = Int64(clamping: sample.range.upperBound)
    var packaging: VideoTrack.Packaging?
    let descriptions = samples.track.descriptions
    if sample.descriptionIndex != descriptionIndex, descriptions.indices.contains(sample.descriptionIndex) {
      descriptionIndex = sample.descriptionIndex
      packaging = Self.packaging(descriptions[sample.descriptionIndex])
    }
    return VideoSample(
      bytes: samples.bytes(of: sample), composition: Self.nanoseconds(sample.compositionTime, timescale),
      decoding: Self.nanoseconds(samples.decodingTime(of: sample), timescale),
      duration: duration(of: sample), isSync: sample.isSync, packaging: packaging)
  }

  /// How long a sample lasts, in nanoseconds, regardless of the distance of decoding times. The first sample that is
  /// shown lasts beyond the start. All samples in front of it last up to there.
  private func duration(of sample: MP4.Sample) -> Int64 {
    let duration = Self.nanoseconds(Int64(sample.duration), timescale)
    guard sample.compositionTime <= samples.firstTime else { return duration }
    let time = Self.nanoseconds(sample.compositionTime, timescale)
    guard sample.compositionTime == samples.firstTime else {
      return min(duration, Self.nanoseconds(samples.firstTime, timescale) &- time)
    }
    return max(duration, shown.start &- time &+ 1)
  }

  // MARK: Seeking

  var first: Int64? { Self.nanoseconds(samples.firstTime, timescale) }

  func readAllMedia() {
    samples.show(allMedia)
    shown = Self.range(allMedia, timescale)
  }

  func seek(to time: ClockTime) -> Bool {
    guard let nanoseconds = Int64(exactly: time.nanoseconds) else { return false }
    let target = shown.start.addingReportingOverflow(nanoseconds - shown.time).partialValue
    let ticks = Double(target) / 1e9 * Double(timescale)
    samples.seek(to: max(samples.range.start, Int64(exactly: ticks.rounded()) ?? .max))
    return true
  }

  /// The first samples, as evidence about all samples.
  private struct Trial {
    /// The first composition time.
    private(set) var start: Int64 = 0
    /// Whether samples are pieces of a byte stream, as some cameras write them.
    private(set) var beginsWithStartCode = false
    private var durations = SampleDurations()

    init(_ samples: MP4.VideoSamples) {
      var samples = samples
      var previous: UInt32?
      for number in 0..<trialCount {
        guard let sample = try? samples.next() else { break }
        let time = sample.decodingTime &+ sample.compositionOffset
        if number == 0 {
          beginsWithStartCode = LengthPrefixed.isAnnexB(samples.bytes(of: sample).span, lengthSize: .four)
        }
        start = number == 0 ? time : min(start, time)
        // The last duration is often made up.
        if let previous { durations.add(previous) }
        previous = sample.duration
      }
      if durations.isEmpty, let previous { durations.add(previous) }
    }

    func rate(_ timescale: UInt32) -> Fraction? { durations.rate(timescale).map { Fraction($0) } }
  }
}

extension MP4.VisualSampleDescription {
  /// Width to height of a pixel; `nil` if the track does not state it.
  package var reducedPixelAspect: Fraction? {
    guard let ratio = pixelAspectRatio, ratio.horizontal > 0, ratio.vertical > 0 else { return nil }
    return Ratio(ratio.horizontal, ratio.vertical).map { Fraction($0) }
  }
}
