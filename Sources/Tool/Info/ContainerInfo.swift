// SPDX-License-Identifier: MPL-2.0
import AVFormat
import Containers
import GStreamer
import H26x
import StreamReport

/// Reads the output of `h26x info` for a container that libavformat reads.
struct ContainerInfo {
  /// Pictures that are read without --count; fewer of many bytes, which show the bitrate sooner.
  private static let (limit, fewest) = (250, 50)
  private static let byteLimit = 8 << 20

  private var stream = StreamSurvey()
  private var counts = MediaInfo.Counts()
  private var times = MeasuredFrameRate()

  static func read(_ input: InputFile, counting: Bool, _ place: ProgressPlace) throws(Failure) -> MediaInfo {
    let file = try ContainerFile(input, ReadingStatus())
    let otherStreams = try OtherStreams(file)
    otherStreams.choose([])
    var options = ReportOptions()
    options.keepsMetadata = true
    var report = try ContainerReport(input, options, sharing: file, isSummary: true)
    var info = ContainerInfo()
    if let captions = otherStreams.captionServices { info.stream.take(captions.services) }
    var isWhole = false
    while let item = try report.next() {
      info.add(item)
      place.reach(bytes: report.position)
      if case .summary = item { isWhole = true }
      if !counting, info.isEnough { break }
    }
    return try info.finish(input, otherStreams, report.track, isWhole: isWhole, counting: counting)
  }

  private var isEnough: Bool {
    stream.accessUnits > Self.limit || stream.accessUnits >= Self.fewest && counts.bytes > Self.byteLimit
  }

  private mutating func add(_ item: ReportItem) {
    stream.add(item)
    guard case .accessUnit(let accessUnit) = item, accessUnit.letter != nil else { return }
    counts.bytes += Int(clamping: accessUnit.size)
    counts.pictures += 1
    if accessUnit.keyframe != .none { counts.keyframes += 1 }
    counts.add(accessUnit.sample)
    if !accessUnit.isSecondField, let time = accessUnit.sample?.pts { times.add(time) }
  }

  private func finish(
    _ input: InputFile, _ otherStreams: OtherStreams, _ track: VideoTrack, isWhole: Bool, counting: Bool
  ) throws(Failure) -> MediaInfo {
    guard let format = stream.format else { throw Failure(input.noVideo) }
    var counts = counts
    let streamFormat =
      track.packaging.configuration == nil
      ? track.codec.syntax.byteStreamFormat : track.codec.syntax.outOfBandStreamFormat
    var video = StreamDetails(format, stream.display, streamFormat: streamFormat, colour: track.colour)
    video.fields["interlace-mode"] = stream.interlaceMode.map(FieldValue.string)
    if let ratio = track.pixelAspect { video.fields["pixel-aspect-ratio"] = .fraction(ratio) }
    if video.fields["framerate"] == nil, let rate = track.framerate { video.fields["framerate"] = .fraction(rate) }
    // Fields have times of their own.
    if stream.interlaceMode == nil, let said = video.fields["framerate"]?.fraction,
      let seen = times.rate(contradicting: said)
    {
      (video.fields["framerate"], video.isRateVariable) = (.fraction(Fraction(seen.rate)), seen.isVariable)
    }
    video.orientation = otherStreams.rotation
    video.language = otherStreams.video?.language
    video.number = otherStreams.video?.index
    counts.complete(
      frameDuration: format.plausibleFrameRate.map { 1e9 * Double($0.denominator) / Double($0.numerator) })
    let seen = counts
    counts.replace(by: stream.found)
    let microseconds = otherStreams.context.duration.flatMap { UInt64(exactly: $0) }
    let stated = microseconds.map { ClockTime(nanoseconds: $0 &* 1000) }
    let exact = (isWhole ? counts.duration : nil) ?? stated
    let estimate = exact == nil ? seen.estimate(size: input.size) : nil
    let seconds = seen.duration.map { Double($0.nanoseconds) / 1e9 } ?? 0
    return MediaInfo(
      name: input.name, container: otherStreams.containerName, size: input.size, duration: exact ?? estimate,
      isEstimate: estimate != nil, videoBitrate: seconds > 0 ? Double(seen.bytes) * 8 / seconds : nil,
      isVideoBitrateEstimate: !isWhole, peakBitrate: isWhole ? stream.peak.bitsPerSecond : nil,
      programs: input.programs,
      programStreams: otherStreams.context.programs.reduce(into: [:]) { $0[$1.number] = $1.streams }, video: video,
      others: otherStreams.others.map { StreamDetails($0) },
      counts: counting && isWhole ? counts : nil, encryption: input.encryption?.name,
      layers: LayerText.text(stream.layers),
      metadata: stream.videoMetadata(
        colour: track.colour, record: track.dolbyVision,
        rate: video.fields["framerate"]?.fraction))
  }
}

extension OtherStreams {
  /// The container's name.
  fileprivate var containerName: String {
    switch input.kind {
    case .container(.mpegPS): "MPEG program stream"
    case .container(.matroska) where context.metadata[key: "doctype"] == "webm": "WebM"
    case .container(let format): format.name
    case .byteStream, .other, .unknown: "unknown"
    }
  }
}

extension StreamDetails {
  /// A stream beside the video.
  fileprivate init(_ stream: StreamDescription) {
    self.init(kind: stream.kindName, codec: nil, codecName: stream.displayName)
    if stream.sampleRate > 0 { fields["rate"] = .int(Int32(clamping: stream.sampleRate)) }
    if stream.channels > 0 { fields["channels"] = .int(Int32(clamping: stream.channels)) }
    language = stream.language
    title = stream.metadata[key: "title"]
    flags = stream.disposition.names
    number = stream.index
    bitrate = stream.bitrate > 0 ? Double(stream.bitrate) : nil
  }
}

extension StreamDescription.Disposition {
  /// The marks by name, those first that choose a stream.
  fileprivate var names: [String] {
    let names: [(Self, String)] = [
      (.isDefault, "default"), (.forced, "forced"), (.original, "original"), (.dub, "dub"), (.comment, "comment"),
      (.hearingImpaired, "hearing-impaired"), (.visualImpaired, "visual-impaired"), (.attachedPicture, "cover"),
    ]
    return names.filter { contains($0.0) }.map(\.1)
  }
}

/// The presentation times of a container's first pictures. They show the frame rate if the stated rate is wrong, such
/// as the rate of a clock.
struct MeasuredFrameRate {
  /// The times, in nanoseconds.
  private var times: [Int64] = []

  /// The fewest and the most times that are compared.
  private static let (fewest, most) = (9, 300)
  /// Matroska and FLV round times to milliseconds.
  private static let rounding = 1_010_000.0
  private static let second = 1e9

  mutating func add(_ time: Int64) { if times.count < Self.most { times.append(time) } }

  /// The rate of the pictures if it differs from the stated rate; `nil` if they agree, or if too few times are known.
  func rate(contradicting said: Fraction) -> (rate: Ratio, isVariable: Bool)? {
    guard times.count >= Self.fewest, said.numerator > 0, said.denominator > 0 else { return nil }
    // Pictures that were decoded last may lack others in front of them.
    let sorted = times.sorted().dropLast(4)
    guard let first = sorted.first, let last = sorted.last, last > first else { return nil }
    let length = Double(last &- first)
    let mean = length / Double(sorted.count - 1)
    let expected = Self.second * Double(said.denominator) / Double(said.numerator)
    // Some pictures may be missing.
    guard abs(mean - expected) > max(Self.rounding / Double(sorted.count - 1), expected / 10) else { return nil }
    let isVariable = zip(sorted, sorted.dropFirst()).contains { before, after in
      abs(Double(after &- before) - mean) > max(Self.rounding, mean / 20)
    }
    let tolerance = isVariable ? 0 : Self.second / mean * Self.rounding / length
    return Ratio.frameRate(near: Self.second / mean, within: tolerance).map { ($0, isVariable) }
  }
}
