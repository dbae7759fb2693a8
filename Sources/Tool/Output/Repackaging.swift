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
  var input: InputFile
  let target: OutputFile
  let container: TargetContainer
  /// The frame rate of a byte stream that has none.
  let framerate: Fraction?
  /// The option that gives it, for the user.
  var framerateOption = "--framerate"
  /// Kinds of NAL units, joined by +.
  let drop: String?
  let keepsAudio: Bool
  /// The part that is kept; `nil` for everything.
  let cut: Cut?
  /// Changes of the headers.
  var edits = StreamEditList()
  /// Times are derived from the order of pictures, because the container lacks some.
  var ordersPictures = false

  /// The written contents, and the contents that were left out.
  typealias Result = (summary: String, left: [String])

  /// Writes the file.
  func run() async throws(Failure) -> Result {
    if container != .annexb || cut != nil, input.kind == .container("AVI") {
      // Reports errors of the video first.
      _ = try ContainerReader.reader(ContainerFile(input, ReadingStatus()))
      throw Failure(
        "\(input.name): AVI does not store when pictures are shown, which \(container.name) needs; first make a byte "
          + "stream (-o FILE.h264), then repackage that")
    }
    var refusal = CopyRefusal?.none
    if let result = try await attempt(nil, &refusal) { return result }
    if let result = try await attempt(false, &refusal) { return result }
    if case .untimed = refusal, input.hasClock, input.size != nil, target.isSeekable, cut == nil,
      !ordersPictures
    {
      var ordered = self
      ordered.ordersPictures = true
      return try await ordered.run()
    }
    guard case .formatChange = refusal else { throw untimed(refusal) }
    // One description of the video is not enough: parameter sets stay with their pictures.
    guard target.isSeekable, input.size != nil, let result = try await attempt(true, &refusal) else {
      throw Failure(
        "\(target.name): the format changes within the stream; \(container.name) then needs two passes, so neither "
          + "input nor output can be a pipe; MPEG-TS needs one")
    }
    return result
  }

  private var hasEditList: Bool { container.hasEditList(in: target) }

  /// The place at which reading begins.
  private enum Beginning {
    /// At the beginning of the file, until the place of the cut is known.
    case undecided
    /// At a place in front of the cut, in nanoseconds of the media; with the time of the first picture.
    case near(origin: Int64, place: Int64)
    /// At the beginning of the file, whatever is there.
    case front

    var origin: Int64? { if case .near(let origin, _) = self { origin } else { nil } }
    var place: Int64? { if case .near(_, let place) = self { place } else { nil } }
  }

  /// Writes in one way, starting near the cut if that can be found, and else at the beginning of the file.
  ///
  /// - Parameter allowsInBandParameterSets: `nil` to copy samples as they are.
  private func attempt(
    _ allowsInBandParameterSets: Bool?, _ refusal: inout CopyRefusal?
  ) async throws(Failure) -> Result? {
    var beginning = cut == nil || !input.hasIndex ? Beginning.front : .undecided
    while true {
      try Interruption.check()
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

  private func source(from place: Int64?) throws(Failure) -> CopySource {
    try CopySource(input, cut, from: place, ordersPictures: ordersPictures, frameRate: framerate)
  }

  private func writer(_ source: CopySource?, from beginning: Beginning) -> CopyWriter {
    let seeks = if case .undecided = beginning { true } else { false }
    let sets = container.hasStartCodes ? source.flatMap { KeyframeParameterSets($0.video.track) } : nil
    return CopyWriter(
      input, target, container, source, keepsAudio: keepsAudio, source == nil ? cut : source?.cut,
      origin: beginning.origin, seeks: seeks, edits, sets)
  }

  private func untimed(_ refusal: CopyRefusal?) -> Failure {
    let reason =
      if case .gap = refusal {
        "and they cannot be derived, because there are gaps between the others"
      } else if framerate == nil {
        "and the stream has no frame rate: set it with \(framerateOption), such as 25"
      } else {
        "and \(framerateOption) does not help: their order cannot be read"
      }
    let user = cut == nil ? "\(container.name) needs" : "a cut needs"
    return Failure("\(input.name): pictures without a time, which \(user), \(reason)")
  }

  // MARK: Samples as they are

  /// Copies samples whose packaging stays.
  ///
  /// - Returns: `nil` if they must be taken apart.
  private func copy(
    from beginning: Beginning, _ refusal: inout CopyRefusal?
  ) async throws(Failure) -> Result? {
    // Bytes in a pipe cannot be rewritten.
    guard !input.isRaw, input.size != nil, target.isSeekable, drop == nil, !container.hasStartCodes else { return nil }
    let source = try source(from: beginning.place)
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
    return summary(of: writer, source.video.track.remark)
  }

  // MARK: Through a pipeline

  /// Reads the file once, and takes its access units apart.
  ///
  /// - Returns: `nil` if an access unit was refused.
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
      try Interruption.check()
      throw error
    }
    await pipeline.stop()
    do throws(CopyRefusal) { return try writer.finish { summary(of: $0, reader.remark) } } catch {
      if case .failure(let failure) = error { throw failure }
      refusal = error
      return nil
    }
  }

  /// The writer, on the thread of the pipeline and behind its end.
  private final class Writer: Sendable {
    private struct State {
      var writer: CopyWriter
      var origin: Int64
      /// The latest presentation time so far.
      var latest = Int64.min
      /// The configuration record of the last sample.
      var configuration: [UInt8]?
      var hasEnded = false
    }

    private let state: Mutex<State>
    private let refused = Mutex<CopyRefusal?>(nil)
    private let known: OrderedVideoReader.KnownTimes?
    private let needsTimes: Bool

    /// - Parameters:
    ///   - origin: the distance of the pipeline's timestamps from times of the media, in nanoseconds.
    ///   - known: the times that the container has, if the pipeline's are derived.
    init(
      _ writer: sending CopyWriter, origin: Int64, following known: OrderedVideoReader.KnownTimes? = nil,
      needsTimes: Bool
    ) {
      state = Mutex(State(writer: writer, origin: origin))
      (self.known, self.needsTimes) = (known, needsTimes)
    }

    /// Why an access unit was refused; `nil` also for a failure.
    var refusal: CopyRefusal? { refused.withLock { $0 } }

    /// Returns why the access unit cannot be written.
    func take(_ sample: Sample, of input: InputFile) -> Failure? {
      do throws(CopyRefusal) {
        let configuration = sample.codecData ?? []
        try state.withLock { state throws(CopyRefusal) in
          guard !state.writer.isFinished else { return }
          if state.latest == .min, let first = known?.first, let time = sample.attributes.pts {
            state.origin = Int64(clamping: time.nanoseconds) - first
          }
          let accessUnit = try sample.accessUnit(origin: state.origin, needsTime: needsTimes)
          state.latest = max(state.latest, accessUnit.presentation)
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
        // Derived times have no gaps.
        guard known.map({ $0.latest <= state.latest }) ?? true else { throw .gap }
        try state.writer.finish()
        return summary(state.writer)
      }
    }
  }

  /// - Returns: `nil` if the beginning cannot be found.
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
      let source = try input.pictureSource(framerate: framerate, chain)
      return (source, Writer(writer(nil, from: beginning), origin: 0, needsTimes: needsTimes))
    }
    let source = try source(from: beginning.place)
    guard !source.isMissed else { return nil }
    let reader = try ContainerReader(source.file, source.video, clips: false, chain)
    let writer = writer(source, from: beginning)
    return (
      reader, Writer(writer, origin: ContainerSource.origin, following: source.ordered?.known, needsTimes: needsTimes)
    )
  }

  // MARK: The result

  /// Summarizes the written contents, and the contents that were left out.
  private func summary(of writer: CopyWriter, _ remark: String) -> Result {
    var summary = "\(target.name): "
    if Interruption.signal != nil { summary += "\(Interruption.remark)\(Text.count(writer.written, "access unit")): " }
    summary += "\(container.name), \(Text.list(writer.contents))"
    if writer.early > 0 { summary += "; \(Text.count(writer.early, "picture")) before the first keyframe" }
    let source = cut == nil ? "the shown part of the source" : "the cut"
    if let remark = writer.cutRemark { summary += "; \(remark)" }
    if writer.times.hiddenInFront > 0, !hasEditList || cut?.mode == .hidden {
      summary += "; \(Text.count(writer.times.hiddenInFront, "picture")) before \(source)"
      if cut?.mode == .hidden { summary += ", hidden" }
    }
    if writer.hiddenBehind > 0, !hasEditList {
      summary += "; \(Text.count(writer.hiddenBehind, "picture")) after \(source)"
    }
    summary += remark
    if cut?.end == nil, input.hasGrown { summary += "; the source grew in the meantime, and may have more" }
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
    _exit(ExitStatus.ended(by: Interruption.signal ?? SIGTERM))
  }
}
