// SPDX-License-Identifier: MPL-2.0
import AVCodec
import AVFormat
import GStreamer
import H26x

/// Writes repackaged video and what goes with it into a container, in the order of decoding.
struct RepackWriter {
  /// Where the video's times come from.
  struct Timing {
    /// What timestamps of the pipeline have more than times of the media, in nanoseconds.
    var origin: Int64 = 0
    /// What the source shows; `nil` for everything, from the first picture on.
    var shown: ShownRange?
    /// All parts that are shown, where they are several; everything is read then.
    var parts: [ShownRange] = []
    /// When the presentation begins for other streams, in nanoseconds of the media.
    var zero: Int64 = 0
    /// Ticks that hold the source's times exactly.
    var timeBase: TimeBase?
  }

  private let target: OutputFile
  private let container: TargetContainer
  /// Known with the first access unit.
  private(set) var codec: FormatDescription.Codec?
  private let companions: CompanionStreams?
  private let keepsAudio: Bool
  private let timing: Timing
  private var output: MediaOutput?
  /// A byte stream, which has no times.
  private var byteStream: OutputBytes?
  private var configuration: [UInt8] = []
  /// What is subtracted from the media's times of the video, and from those of other streams.
  private var (offset, companionOffset): (Int64, Int64) = (0, 0)
  /// Hidden access units since the last one that is shown: what follows may need them.
  private var held: [MediaOutput.AccessUnit] = []
  /// When the last shown picture ends, and the last of all, in nanoseconds of the presentation.
  private var (shownEnd, end): (Int64, Int64) = (.min, .min)

  /// Access units of the video that were written.
  private(set) var written = 0
  /// Hidden pictures in front of the first one that the source shows.
  private(set) var hiddenInFront = 0
  /// Hidden pictures that come with later ones that are shown.
  private(set) var hiddenBehind = 0
  /// Pictures before the first keyframe.
  private(set) var early = 0
  private var hasKeyframe = false
  /// Streams that are written beside the video, and those that are not.
  private(set) var (kept, left): ([StreamDescription], [StreamDescription]) = ([], [])

  init(
    _ target: OutputFile, _ container: TargetContainer, _ companions: CompanionStreams?, keepsAudio: Bool,
    _ timing: Timing
  ) {
    (self.target, self.container, self.companions) = (target, container, companions)
    (self.keepsAudio, self.timing) = (keepsAudio, timing)
    left = companions?.others ?? []
    if container == .annexb { companions?.choose([]) }
  }

  /// Why an access unit cannot be written.
  enum Refusal: Error {
    /// It has no presentation time.
    case untimed
    /// The format changes, which one description of the video cannot hold.
    case formatChange
    case failure(Failure)
  }

  /// Writes an access unit, and what comes before it.
  mutating func take(_ sample: Sample) throws(Refusal) {
    let bytes: [UInt8]
    do throws(FlowError) { bytes = try sample.copiedBytes() } catch {
      throw .failure(Failure("\(target.name): an access unit could not be read (flow \(error.rawValue))"))
    }
    if codec == nil, let caps = sample.caps { codec = FormatDescription.Codec(mediaType: caps.first.name) }
    if container == .annexb {
      do throws(Failure) { return try write(bytes) } catch { throw .failure(error) }
    }
    let attributes = sample.attributes
    guard let pts = attributes.pts else { throw .untimed }
    let presentation = Int64(clamping: pts.nanoseconds) - timing.origin
    let decoding = attributes.dts.map { Int64(clamping: $0.nanoseconds) - timing.origin } ?? presentation
    let isSync = !attributes.flags.contains(.deltaUnit)
    hasKeyframe = hasKeyframe || isSync
    if !hasKeyframe { early += 1 }
    if output == nil {
      do throws(Failure) { try begin(sample, presentation, decoding: decoding) } catch { throw .failure(error) }
    }
    guard container.hasStartCodes || allowsInBandParameterSets || sample.codecData ?? [] == configuration else {
      throw .formatChange
    }
    let duration = Int64(clamping: attributes.duration?.nanoseconds ?? 0)
    let unit = MediaOutput.AccessUnit(
      bytes: bytes, presentation: presentation - offset, decoding: decoding - offset, duration: duration,
      isSync: isSync)
    end = max(end, unit.presentation + duration)
    do throws(Failure) {
      guard timing.shown?.shows(presentation, for: duration) != false else {
        if presentation < timing.shown?.start ?? .min { hiddenInFront += 1 }
        held.append(unit)
        return
      }
      shownEnd = max(shownEnd, unit.presentation + duration)
      for hidden in held {
        if hidden.presentation >= unit.presentation { hiddenBehind += 1 }
        try write(hidden)
      }
      held = []
      try write(unit)
    } catch { throw .failure(error) }
  }

  private var allowsInBandParameterSets = false

  private mutating func begin(_ sample: Sample, _ first: Int64, decoding firstDecoding: Int64) throws(Failure) {
    guard let codec else { throw Failure("\(target.name): neither H.264 nor H.265") }
    configuration = sample.codecData ?? []
    allowsInBandParameterSets = sample.capsField("stream-format")?.string == codec.syntax.inBandStreamFormat
    offset = timing.parts.isEmpty ? timing.shown.map { $0.start - $0.time } ?? first : 0
    companionOffset = timing.zero
    // Edit lists can hide what comes before the presentation begins; others have no times below 0.
    if !container.hasEditList, first < offset {
      companionOffset += first - offset
      offset = first
    }
    let ratio = sample.capsField("pixel-aspect-ratio")
    let aspect: TimeBase? =
      if case .fraction(let value)? = ratio { TimeBase(value.numerator, value.denominator) } else { nil }
    let size = (sample.capsField("width")?.integer ?? 0, sample.capsField("height")?.integer ?? 0)
    let rate = sample.capsField("framerate")
    let frames: TimeBase? = if case .fraction(let value)? = rate { TimeBase(1, value.numerator) } else { nil }
    let video = MediaOutput.Video(
      codec: codec, size: size, pixelAspect: aspect, configuration: configuration,
      allowsInBandParameterSets: allowsInBandParameterSets,
      timeBase: timing.timeBase ?? frames ?? TimeBase(1, 90_000) ?? .nanoseconds)
    output = try open(video)
    companions?.choose(kept)
    // FLV's times begin at 0.
    if container == .flv {
      let earliest = min(firstDecoding - offset, try companions?.firstTime().map { $0 - companionOffset } ?? 0, 0)
      offset += earliest
      companionOffset += earliest
    }
  }

  /// Opens the target with as many of the other streams as its muxer takes: it may refuse one only with the header.
  private mutating func open(_ video: MediaOutput.Video) throws(Failure) -> MediaOutput {
    var refused: [StreamDescription.Kind] = []
    while true {
      let output = try MediaOutput(target, container)
      kept = (companions?.others ?? []).filter { other in
        (keepsAudio || other.kind != .audio) && !refused.contains(other.kind) && output.canHold(other)
      }
      // FLV has room for one.
      if container == .flv, let first = kept.first { kept = [first] }
      left = (companions?.others ?? []).filter { other in !kept.contains { $0.index == other.index } }
      do throws(Failure) {
        try output.begin(video, companions, keeping: kept)
        return output
      } catch {
        let doubtful = [StreamDescription.Kind.attachment, .subtitle, .audio].first { kind in
          kept.contains { $0.kind == kind }
        }
        guard let doubtful else { throw error }
        refused.append(doubtful)
      }
    }
  }

  private mutating func write(_ bytes: [UInt8]) throws(Failure) {
    if byteStream == nil { byteStream = try OutputBytes(target) }
    let stream = byteStream
    let failure = unsafe bytes.withUnsafeBytes { bytes -> AVError? in
      do throws(AVError) { try unsafe stream?.write(bytes) } catch { return error }
      return nil
    }
    if let failure { throw Failure("\(target.name): \(failure)") }
    written += 1
  }

  private mutating func write(_ unit: MediaOutput.AccessUnit) throws(Failure) {
    try writeCompanions(before: unit.decoding)
    try output?.write(unit)
    written += 1
  }

  private func writeCompanions(before time: Int64) throws(Failure) {
    guard let companions, let output else { return }
    let turn = time.addingReportingOverflow(companionOffset).partialValue
    while let packet = try companions.next(before: time == .max ? .max : turn) {
      try output.write(packet, zero: companionOffset)
    }
  }

  /// What of the source is not in the target, for the user.
  func losses(of input: InputFile) -> [String] {
    var losses = left.filter { $0.index != companions?.chapterStream }.map(\.summary)
    if input.programs.count > 1 { losses.append(Text.count(input.programs.count - 1, "other programme")) }
    if timing.parts.count > 1, !container.hasEditList {
      losses.append("\(Text.count(timing.parts.count, "edit")), so that all pictures are shown once")
    }
    guard let companions else { return losses }
    if let rotation = companions.rotation, !container.keepsRotation { losses.append("rotation (\(rotation))") }
    losses += companions.losses
    let chapters = companions.context.chapters.count
    if chapters > 0, !container.keepsChapters { losses.append(Text.count(chapters, "chapter")) }
    return losses
  }

  /// Writes the rest: nothing more comes.
  mutating func finish() throws(Failure) {
    guard written > 0 else {
      try Interruption.check()
      throw Failure("\(target.name): no picture to write")
    }
    guard let output else { return }
    try writeCompanions(before: .max)
    try output.finish()
    if container.hasEditList, let path = target.path { try editList(output)?.write(into: path, name: target.name) }
  }

  /// The edit list, where timestamps alone do not show what the source shows.
  private func editList(_ output: MediaOutput) -> MP4EditList? {
    if !timing.parts.isEmpty { return editList(output, of: timing.parts) }
    guard let shown = timing.shown, end > shownEnd || hiddenInFront > 0 && shown.time > 0, shownEnd > shown.time else {
      return nil
    }
    return editList(
      output, of: [ShownRange(start: shown.time, end: shownEnd, time: shown.time)])
  }

  private func editList(_ output: MediaOutput, of parts: [ShownRange]) -> MP4EditList {
    var entries: [MP4EditList.Entry] = []
    var time: Int64 = 0
    for part in parts {
      if part.time > time { entries.append(MP4EditList.Entry(duration: part.time - time, mediaTime: -1)) }
      let duration = (part.end ?? max(end, part.start)) - part.start
      entries.append(MP4EditList.Entry(duration: duration, mediaTime: output.mediaTime(of: part.start)))
      time = part.time + duration
    }
    return MP4EditList(entries: entries)
  }
}

extension TargetContainer {
  /// Whether what is decoded need not be shown.
  var hasEditList: Bool { self == .mp4 || self == .mov }

  fileprivate var keepsChapters: Bool { hasEditList || self == .mkv }

  /// Matroska can hold it; libavformat writes it from 7.1 on.
  fileprivate var keepsRotation: Bool {
    guard self == .mkv else { return hasEditList }
    return FormatLibrary.version.map { ($0.major, $0.minor) >= (61, 7) } ?? false
  }
}
