// SPDX-License-Identifier: MPL-2.0
import AVFormat
import Containers
import GStreamer
import H26x
import StreamReport

/// Reads the output of `h26x info` for an MP4 file, without GStreamer.
enum MP4Info {
  /// Pictures that are read without --count.
  private static let limit = 250

  /// `nil` for a file without H.264 or H.265 video, whose streams GStreamer can name.
  static func read(_ input: InputFile, counting: Bool, _ place: ProgressPlace) throws(Failure) -> MediaInfo? {
    var samples: MP4.VideoSamples
    let source = try InputBytes(input)
    do throws(MP4.ReadError) { samples = try MP4.VideoSamples(source) } catch {
      if error.reason == .missing, error.box.name == "trak" { return nil }
      throw input.failure(error)
    }
    let tally = try Tally(&samples, input)
    let (movie, track) = (samples.movie, samples.track)
    guard let first = tally.first, let (_, description, codec) = track.video else {
      throw Failure("\(input.name): MP4 whose video track has no samples")
    }
    let bytes = samples.bytes(of: first)
    guard var video = details(codec.syntax, description, bytes) else {
      throw Failure("\(input.name): MP4 whose \(description.coding.name) video has no parameter sets that can be read")
    }
    video.complete(description, track, rate: tally.rate(track.timescale))
    video.isRateVariable = tally.isRateVariable
    video.number = movie.tracks.firstIndex { $0.id == track.id }
    // In a fragmented file, mvhd has the duration of the first fragment, or none.
    let isSaid = !movie.isFragmented && movie.timescale > 0 && movie.duration > 0
    let duration =
      isSaid
      ? ClockTime.seconds(movie.duration, times: 1, over: movie.timescale)
      : ClockTime.seconds(tally.presentation(of: track, in: movie), times: 1, over: track.timescale)
    let stream = survey(input, counting: counting, place)
    let seconds = track.timescale > 0 ? Double(tally.duration) / Double(track.timescale) : 0
    return MediaInfo(
      name: input.name, container: isQuickTime(source) ? "QuickTime" : "MP4", size: input.size,
      duration: duration,
      isEstimate: false, videoBitrate: seconds > 0 ? Double(tally.bytes) * 8 / seconds : nil,
      peakBitrate: tally.peak.bitsPerSecond, video: video,
      others: movie.tracks.enumerated().filter { $1.id != track.id }.map { number, other in
        StreamDetails(other, number: number, isChapters: other.id == track.chapterTrack)
      },
      counts: counting ? counts(stream, tally) : nil, missing: tally.missing, encryption: Encryption(track)?.name,
      layers: video.codec == .h265 ? LayerText.text(description, bytes) : nil,
      metadata: stream.videoMetadata(
        colour: StreamDescription.Colour(description.colour), record: description.dolbyVision,
        rate: video.fields["framerate"]?.fraction),
      otherEditRate: track.otherEditRate.map { Double($0) / 65536 })
  }

  /// Reads the first pictures, or all of them for counting.
  private static func survey(_ input: InputFile, counting: Bool, _ place: ProgressPlace) -> StreamSurvey {
    var survey = StreamSurvey()
    var options = ReportOptions()
    (options.keepsMetadata, options.readsPayload) = (true, false)
    guard let source = try? InputBytes(input), var reporter = try? StreamReporter(source, options: options)
    else { return survey }
    var count = 0
    while counting || count <= limit, let item = reporter.next() {
      survey.add(item)
      if case .accessUnit = item { count += 1 }
      place.reach(item)
    }
    return survey
  }

  /// Counts by the stream itself or, if it cannot be read, by the contents of the tables.
  private static func counts(_ stream: StreamSurvey, _ tally: Tally) -> MediaInfo.Counts {
    var counts = MediaInfo.Counts(pictures: tally.count, keyframes: tally.keyframes)
    counts.replace(by: stream.found)
    return counts
  }

  /// Whether the major brand is QuickTime's, or the file begins with another box than ftyp, as the oldest files do.
  private static func isQuickTime(_ source: InputBytes) -> Bool {
    let front = source.read(at: 4, count: 8)
    return front.starts(with: "ftypqt  ".utf8) || !front.starts(with: "ftyp".utf8)
  }

  /// The format by the configuration record and the first access unit.
  private static func details<Codec: ElementCodecSyntax>(
    _ codec: Codec.Type, _ description: MP4.VisualSampleDescription, _ accessUnit: [UInt8]
  ) -> StreamDetails? {
    var lengthSize = NALLengthSize.four
    var sets: [[UInt8]] = []
    do throws(BitstreamError) {
      let record = try Codec.ConfigurationRecord(description.configuration.span)
      (lengthSize, sets) = (record.nalLengthSize, record.nalUnits)
    } catch {
      // The parameter sets may be in-band, and the samples be pieces of a byte stream.
    }
    let isByteStream =
      description.configuration.isEmpty && LengthPrefixed.isAnnexB(accessUnit.span, lengthSize: lengthSize)
    let packaging = isByteStream ? NALPackaging.annexB : .lengthPrefixed(lengthSize)
    var inspector = Codec.Inspector(nalLengthSize: lengthSize)
    inspector.insert(sets)
    let info = inspector.inspect(accessUnit.span, packaging: packaging)
    guard let format = inspector.format else { return nil }
    var display = DisplayTracker()
    _ = display.take(accessUnit.span, info)
    let isInBand = description.coding.allowsInBandParameterSets
    let streamFormat =
      isByteStream
      ? Codec.byteStreamFormat : isInBand ? Codec.inBandStreamFormat : Codec.outOfBandStreamFormat
    var details = StreamDetails(
      format, display.display, streamFormat: streamFormat,
      colour: StreamDescription.Colour(description.colour))
    if info.slice?.isField == true || format.isFieldSequence {
      details.fields["interlace-mode"] = "interleaved"
    } else if Codec.codec == .h264, format.isInterlacedAllowed {
      details.fields["interlace-mode"] = "mixed"
    }
    return details
  }

  /// Sums over the sample table.
  private struct Tally {
    var first: MP4.Sample?
    var count = 0
    var keyframes = 0
    var bytes: UInt64 = 0
    var duration: UInt64 = 0
    /// When the first picture is shown, and when the last one ends, in ticks.
    private var (start, end) = (Int64.max, Int64.min)
    /// Samples that are beyond the end of the file.
    var missing = 0
    private let size: UInt64
    private(set) var peak = PeakBitrate()
    private let timescale: Double
    private var latestDuration: UInt32?
    private var durations = SampleDurations()

    init(_ samples: inout MP4.VideoSamples, _ input: InputFile) throws(Failure) {
      size = input.size.map { UInt64($0) } ?? .max
      timescale = Double(max(samples.track.timescale, 1))
      do throws(MP4.ReadError) {
        while let sample = try samples.next() { add(sample) }
      } catch {
        // The samples before the damage count; `h26x check` reports it.
        if first == nil { throw input.failure(error) }
      }
    }

    private mutating func add(_ sample: MP4.Sample) {
      if first == nil { first = sample }
      count += 1
      if sample.isSync { keyframes += 1 }
      if sample.range.upperBound > size { missing += 1 }
      // The last duration is often made up.
      if let latest = latestDuration { durations.add(latest) }
      latestDuration = sample.duration
      let sampleSize = sample.range.upperBound - sample.range.lowerBound
      bytes &+= sampleSize
      peak.add(Int(clamping: sampleSize), at: Double(sample.decodingTime) / timescale)
      duration &+= UInt64(sample.duration)
      let time = sample.decodingTime &+ sample.compositionOffset
      (start, end) = (min(start, time), max(end, time &+ Int64(sample.duration)))
    }

    /// The time from the beginning to the end of the last picture, in ticks. It begins at the start of the edit list,
    /// or else with the first picture; other tracks are taken to begin with its decoding.
    func presentation(of track: MP4.Track, in movie: MP4.Movie) -> UInt64 {
      let first = movie.tracks.count > 1 ? min(start, first?.decodingTime ?? start) : start
      let edit = track.edits.first { $0.mediaTime >= 0 }?.mediaTime ?? first
      let (length, overflow) = end.subtractingReportingOverflow(max(edit, first))
      return overflow ? duration : UInt64(max(length, 0))
    }

    /// Whether durations differ by more than rounding.
    var isRateVariable: Bool { durations.areVariable }

    /// Pictures a second, on average if the rate is variable; `nil` for samples without duration.
    func rate(_ timescale: UInt32) -> Ratio? {
      if isRateVariable, duration > 0 {
        let average = Double(count) * Double(timescale) / Double(duration)
        return average < 1e6 ? Ratio(UInt32((average * 1000).rounded()), 1000) : nil
      }
      if durations.isEmpty, let latestDuration { return latestDuration > 0 ? Ratio(timescale, latestDuration) : nil }
      return durations.rate(timescale)
    }
  }
}

extension StreamDetails {
  /// Adds the track's values, which override the stream's, as in players.
  fileprivate mutating func complete(
    _ description: MP4.VisualSampleDescription, _ track: MP4.Track, rate: Ratio?
  ) {
    if let rate { fields["framerate"] = .fraction(Fraction(rate)) }
    if let ratio = description.reducedPixelAspect { fields["pixel-aspect-ratio"] = .fraction(ratio) }
    language = track.knownLanguage
    orientation = StreamDescription.rotationTag(track.orientation)
  }

  /// The details of a track that is not the video.
  fileprivate init(_ track: MP4.Track, number: Int, isChapters: Bool) {
    let kind =
      switch track.handler.name {
      case _ where isChapters: "chapters"
      case "vide": "video"
      case "soun": "audio"
      case "sbtl", "subt", "text", "clcp": "subtitles"
      default: "data"
      }
    self.init(kind: kind, number: number, codec: nil, codecName: Self.name(track))
    fields["rate"] = track.sound.flatMap { $0.rate > 0 ? .int(Int32(clamping: $0.rate)) : nil }
    fields["channels"] = track.sound.map { .int(Int32(clamping: $0.channels)) }
    language = track.knownLanguage
    title = track.title.isEmpty ? nil : String(decoding: track.title, as: UTF8.self)
    flags = track.isEnabled ? ["default"] : []
  }

  private static func name(_ track: MP4.Track) -> String {
    if let video = track.video { return video.codec.name }
    return switch track.coding.name {
    case "mp4a":
      switch track.sound?.objectType {
      case 0x69, 0x6B: "MP3"
      case 0xA5: "AC-3"
      case 0xA6: "E-AC-3"
      default: "AAC"
      }
    case "ac-3": "AC-3"
    case "ec-3": "E-AC-3"
    case "Opus": "Opus"
    case "fLaC": "FLAC"
    case "alac": "ALAC"
    case "mp4v": "MPEG-4 video"
    case "av01": "AV1"
    case "vp09": "VP9"
    case "tx3g": "timed text"
    case "sowt", "twos", "lpcm", "ipcm", "fpcm", "raw ", "in24", "in32", "fl32", "fl64": "PCM"
    case "alaw": "A-law"
    case "ulaw": "mu-law"
    case ".mp3": "MP3"
    case "wvtt": "WebVTT"
    case "stpp": "TTML"
    case "c608": "CEA-608 captions"
    case "tmcd": "time code"
    case let name: name
    }
  }
}

extension MP4.Track {
  fileprivate var knownLanguage: String? { language.isEmpty || language == "und" ? nil : language }
}
