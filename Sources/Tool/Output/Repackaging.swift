// SPDX-License-Identifier: MPL-2.0
import AVFormat
import GStreamer
import Glibc
import H26x
import StreamReport
import Synchronization
import SystemPackage

/// A file that is written in another container or packaging.
struct Repackaging {
  let input: InputFile
  let target: OutputFile
  let container: TargetContainer
  /// Of a byte stream that has none.
  let framerate: Fraction?
  /// The option that gives it, for the user.
  var framerateOption = "--framerate"
  /// Kinds of NAL units, joined by +.
  let drop: String?
  let keepsAudio: Bool
  /// What is kept; `nil` for everything.
  let cut: Cut?
  /// Changes of the headers.
  var edits: [StreamEdit] = []

  /// What was written, and what was not.
  typealias Result = (summary: String, left: [String])

  /// Writes the file.
  func run() async throws(Failure) -> Result {
    if container != .annexb || cut != nil, input.kind == .container("AVI") {
      throw Failure(
        "\(input.name): AVI does not say when pictures are shown, which \(container.name) needs; make a byte stream of it "
          + "first (-o FILE.h264), which can be repackaged")
    }
    var refusal = CopyRefusal?.none
    if let result = try await attempt(nil, &refusal) { return result }
    if let result = try await attempt(false, &refusal) { return result }
    guard case .formatChange = refusal else { throw untimed }
    // One description of the video is not enough: parameter sets stay with their pictures.
    guard target.isSeekable, input.size != nil, let result = try await attempt(true, &refusal) else {
      throw Failure(
        "\(target.name): the format changes within the stream; \(container.name) then takes two passes, so that neither "
          + "input nor output can be a pipe; MPEG-TS takes one")
    }
    return result
  }

  private var hasEditList: Bool { container.hasEditList(in: target) }

  /// Where reading begins.
  private enum Beginning {
    /// At the beginning of the file, until it is known where the cut is.
    case undecided
    /// At a place in front of the cut, in nanoseconds of the media; with the time of the first picture.
    case near(origin: Int64, place: Int64)
    /// At the beginning of the file, whatever is there.
    case front

    var origin: Int64? { if case .near(let origin, _) = self { origin } else { nil } }
    var place: Int64? { if case .near(_, let place) = self { place } else { nil } }
  }

  /// Writes in one way, from near the cut where that can be found, and else from the beginning of the file.
  ///
  /// - Parameter allowsInBandParameterSets: `nil` to copy samples as they are.
  private func attempt(
    _ allowsInBandParameterSets: Bool?, _ refusal: inout CopyRefusal?
  ) async throws(Failure) -> Result? {
    var beginning = cut == nil || !input.hasIndex ? Beginning.front : .undecided
    while true {
      refusal = nil
      do throws(Failure) {
        let result =
          if let allowsInBandParameterSets {
            try await pass(allowsInBandParameterSets: allowsInBandParameterSets, from: beginning, &refusal)
          } else {
            try await copy(from: beginning, &refusal)
          }
        if let result { return result }
      } catch {
        // Perhaps only the place is wrong.
        guard case .near = beginning, target.isSeekable, Interruption.signal == nil else { throw error }
        refusal = .missed
      }
      switch refusal {
      case .distant(let origin, let place): beginning = .near(origin: origin, place: place)
      case .missed: beginning = .front
      default: return nil
      }
    }
  }

  private func writer(_ source: Source?, from beginning: Beginning) -> CopyWriter {
    let seeks = if case .undecided = beginning { true } else { false }
    return CopyWriter(
      input, target, container, source?.companions, keepsAudio: keepsAudio, source?.times ?? CopyTimes(),
      source == nil ? cut : source?.cut, origin: beginning.origin, seeks: seeks, edits)
  }

  private var untimed: Failure {
    let reason =
      if case .container = input.kind {
        "and the container does not have them: copy the video into a byte stream first (-o FILE.h264 or .h265), whose "
          + "frame rate gives them times"
      } else if framerate == nil {
        "and no frame rate in the stream: give it with \(framerateOption), such as 25"
      } else {
        "and \(framerateOption) does not help: their order cannot be read"
      }
    let user = cut == nil ? "\(container.name) needs" : "a cut needs"
    return Failure("\(input.name): pictures without a time, which \(user), \(reason)")
  }

  // MARK: Samples as they are

  /// Copies samples whose packaging stays.
  ///
  /// - Returns: `nil` where they have to be taken apart.
  private func copy(
    from beginning: Beginning, _ refusal: inout CopyRefusal?
  ) async throws(Failure) -> Result? {
    // What is in a pipe cannot be written again.
    guard !input.isRaw, input.size != nil, target.isSeekable, drop == nil, !container.hasStartCodes else { return nil }
    let source = try Source(input, cut, from: beginning.place)
    guard !source.isMissed else {
      refusal = .missed
      return nil
    }
    guard var copy = SampleCopy(source.video) else { return nil }
    var writer = writer(source, from: beginning)
    let (status, place) = (source.file.status, ProgressPlace(of: source.video.track, in: input))
    do throws(CopyRefusal) {
      try writer.begin(copy.format)
      try await Interruption.handled(
        by: { status.stop() },
        during: { () async throws(CopyRefusal) in
          try await Progress.during(place) { () async throws(CopyRefusal) in
            while !status.isStopping, !writer.isFinished, let accessUnit = try copy.next() {
              place.reach(time: accessUnit.presentation, bytes: source.video.position)
              try writer.take(accessUnit)
            }
          }
        })
      try writer.finish()
    } catch {
      if case .failure(let failure) = error { throw failure }
      refusal = error
      return nil
    }
    return summary(of: writer)
  }

  // MARK: Through a pipeline

  /// Reads the file once, and takes its access units apart.
  ///
  /// - Returns: `nil` where an access unit was refused.
  private func pass(
    allowsInBandParameterSets: Bool, from beginning: Beginning, _ refusal: inout CopyRefusal?
  ) async throws(Failure) -> Result? {
    guard let (reader, writer) = try open(allowsInBandParameterSets: allowsInBandParameterSets, from: beginning)
    else {
      refusal = .missed
      return nil
    }
    let (pipeline, target) = (reader.pipeline, target)
    do throws(Failure) {
      try await Interruption.handled(
        by: {
          reader.end()
          Task { await Self.endIfStuck(target) }
        },
        during: { () async throws(Failure) in
          try await Progress.during(reader.place) { () async throws(Failure) in
            try await reader.begin()
            do throws(PipelineError) {
              try pipeline.appSink("packaged").onSample { sample in
                guard let failure = writer.take(sample, of: input) else {
                  if writer.ends() { reader.end() }
                  return true
                }
                reader.fail(failure)
                return false
              }
            } catch { throw reader.failure(error) }
            try await reader.playToEnd()
          }
        })
    } catch {
      await pipeline.stop()
      refusal = writer.refusal
      if refusal != nil { return nil }
      throw error
    }
    await pipeline.stop()
    do throws(CopyRefusal) { return try writer.finish { summary(of: $0) } } catch {
      if case .failure(let failure) = error { throw failure }
      refusal = error
      return nil
    }
  }

  /// The writer, on the thread of the pipeline and behind its end.
  private final class Writer: Sendable {
    private struct State {
      var writer: CopyWriter
      /// The configuration record of the last sample.
      var configuration: [UInt8]?
      var hasEnded = false
    }

    private let state: Mutex<State>
    private let refused = Mutex<CopyRefusal?>(nil)
    private let origin: Int64
    private let needsTimes: Bool

    init(_ writer: sending CopyWriter, origin: Int64, needsTimes: Bool) {
      state = Mutex(State(writer: writer))
      (self.origin, self.needsTimes) = (origin, needsTimes)
    }

    /// Why an access unit was refused; `nil` also for a failure.
    var refusal: CopyRefusal? { refused.withLock { $0 } }

    /// Returns why the access unit cannot be written.
    func take(_ sample: Sample, of input: InputFile) -> Failure? {
      do throws(CopyRefusal) {
        let accessUnit = try sample.accessUnit(origin: origin, needsTime: needsTimes)
        let configuration = sample.codecData ?? []
        try state.withLock { state throws(CopyRefusal) in
          guard !state.writer.isFinished else { return }
          if configuration != state.configuration, let format = sample.videoFormat {
            try state.writer.begin(format)
            state.configuration = configuration
          }
          try state.writer.take(accessUnit)
        }
        return nil
      } catch {
        if case .failure(let failure) = error { return failure }
        refused.withLock { $0 = error }
        return Failure(input.name)
      }
    }

    /// Whether nothing more of the source is needed; true once.
    func ends() -> Bool {
      state.withLock { state in
        guard state.writer.isFinished, !state.hasEnded else { return false }
        state.hasEnded = true
        return true
      }
    }

    func finish(_ summary: (CopyWriter) -> Result) throws(CopyRefusal) -> Result {
      try state.withLock { state throws(CopyRefusal) in
        try state.writer.finish()
        return summary(state.writer)
      }
    }
  }

  /// - Returns: `nil` where the beginning cannot be found.
  private func open(
    allowsInBandParameterSets: Bool, from beginning: Beginning
  ) throws(Failure) -> (reader: any PictureSource, writer: Writer)? {
    @Sendable func chain(_ codec: FormatDescription.Codec) throws(PipelineError) -> [PipelineElement] {
      let syntax = codec.syntax
      let format =
        container.hasStartCodes
        ? syntax.byteStreamFormat
        : allowsInBandParameterSets ? syntax.inBandStreamFormat : syntax.outOfBandStreamFormat
      let repack = try PipelineElement("swifth\(codec.digits)repack")
      if let drop { try repack.set("drop", .string(drop)) }
      let caps = "\(codec.mediaType), stream-format=(string)\(format), alignment=(string)au"
      return try [
        repack, PipelineElement("capsfilter", ["caps": .string(caps)]),
        PipelineElement("appsink", name: "packaged", ["sync": false, "max-buffers": 64]),
      ]
    }
    let needsTimes = container != .annexb || cut != nil
    guard !input.isRaw else {
      let writer = writer(nil, from: beginning)
      return (
        try input.pictureSource(framerate: framerate, chain), Writer(writer, origin: 0, needsTimes: needsTimes)
      )
    }
    let source = try Source(input, cut, from: beginning.place)
    guard !source.isMissed else { return nil }
    let reader = try ContainerReader(source.file, source.video, clips: false, chain)
    let writer = writer(source, from: beginning)
    return (reader, Writer(writer, origin: ContainerSource.origin, needsTimes: needsTimes))
  }

  // MARK: The source

  /// A container that is copied.
  private struct Source {
    let file: ContainerFile
    let video: any VideoTrackReader
    /// `nil` where libavformat does not read the container.
    let companions: CompanionStreams?
    let times: CopyTimes
    /// What is kept of what the video's reader shows.
    let cut: Cut?
    /// There is no way to the place where reading is to begin.
    private(set) var isMissed = false

    /// - Parameter place: where reading begins, in nanoseconds of the media; `nil` for the beginning.
    init(_ input: InputFile, _ cut: Cut?, from place: Int64?) throws(Failure) {
      file = try ContainerFile(input, ReadingStatus())
      // Before the video is read on, because a pipe is read once.
      companions = input.selection.isEmpty ? try? CompanionStreams(file) : try CompanionStreams(file)
      let first = try ContainerReader.reader(file)
      (video, self.cut) = if let cut { try Self.reader(file, first, cut) } else { (first, nil) }
      var times = CopyTimes(shown: video.shown)
      times.hidesFront = video.hidesFront
      if video.parts.count > 1, cut == nil {
        (times.shown, times.parts) = (nil, video.parts)
        video.readAllMedia()
      }
      if video.beginning != 0 {
        let start = companions?.context.start.map { $0 &* 1000 } ?? video.beginning
        times.zero = min(video.beginning, start)
        times.shown = ShownRange(start: times.zero, end: nil, time: 0)
      }
      times.timeBase = video.track.timescale.flatMap { TimeBase(1, $0) }
      if video.track.isFramerateStated {
        times.frameRate = video.track.framerate.flatMap { TimeBase($0.numerator, $0.denominator) }
      }
      self.times = times
      guard let place else { return }
      let time = place &- video.shown.start &+ video.shown.time
      isMissed = try !video.seek(to: ClockTime(positive: time)) || companions?.seek(to: time) == false
    }

    /// Reads the one of several parts of an edit list that a cut is in.
    private static func reader(
      _ file: ContainerFile, _ first: any VideoTrackReader, _ cut: Cut
    ) throws(Failure) -> (any VideoTrackReader, Cut) {
      let parts = first.parts
      guard let origin = parts.first?.time, parts.count > 1 else { return (first, cut) }
      let place = parts.lastIndex { $0.time - origin <= cut.start } ?? 0
      let part = parts[place]
      var within = cut
      within.offset = part.time - origin
      within.start -= within.offset
      within.end = cut.end.map { $0 - within.offset }
      if let length = part.end.map({ $0 - part.start }) {
        guard within.start < length, within.end ?? .max <= length || place == parts.count - 1 else {
          throw Failure(
            "\(file.input.name): its edit list shows \(Text.count(parts.count, "part")); a cut has to be within one of them"
          )
        }
      }
      return (try ContainerReader.reader(file, part: place), within)
    }
  }

  /// What was written, and what was not.
  private func summary(of writer: CopyWriter) -> Result {
    var summary = "\(target.name): "
    if Interruption.signal != nil { summary += "\(Interruption.remark)\(Text.count(writer.written, "access unit")): " }
    summary += "\(container.name), \(Text.list(writer.contents))"
    if writer.early > 0 { summary += "; \(Text.count(writer.early, "picture")) in front of the first keyframe" }
    let source = cut == nil ? "what the source shows" : "the cut"
    if let remark = writer.cutRemark { summary += "; \(remark)" }
    if writer.times.hiddenInFront > 0, !hasEditList || cut?.mode == .hidden {
      summary += "; \(Text.count(writer.times.hiddenInFront, "picture")) in front of \(source)"
      if cut?.mode == .hidden { summary += ", hidden" }
    }
    if writer.hiddenBehind > 0, !hasEditList {
      summary += "; \(Text.count(writer.hiddenBehind, "picture")) behind \(source)"
    }
    if cut?.end == nil, input.hasGrown { summary += "; the source grew meanwhile, and may have more" }
    return (summary, writer.losses)
  }

  /// Ends the program when, after an interrupt, the output cannot be completed: it does not grow for ten seconds.
  private static func endIfStuck(_ target: OutputFile) async {
    var (size, still): (Int64, Int) = (-1, 0)
    while still < 10 {
      try? await Task.sleep(for: .seconds(1))
      let now = target.path.flatMap { try? Stat($0) }?.size ?? 0
      (size, still) = (now, now == size ? still + 1 : 0)
    }
    Terminal.say("\(target.name): cannot be completed")
    Ending.perform()
    _exit(128 + (Interruption.signal ?? SIGTERM))
  }
}
