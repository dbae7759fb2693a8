// SPDX-License-Identifier: MPL-2.0
import AVFormat
package import GStreamer
import Glibc
package import H26x
import Synchronization
import SystemPackage

/// A copy of a file in another container or packaging, in as few passes as its plan needs.
///
/// ```
/// Source   CopySource          VideoTrackReader ─▶ SampleCopy, or a pipeline     OtherStreams
///   ▼                             │ access units of the source                      │
/// Window   Window              those of one range, and which of them are shown      │ packets
///   ▼                             │                                                 ▼
/// Sink     CopySink            PresentationTimes, when they are shown          OtherStreamSpan
///                                 ▼                                                 │
///                              MediaOutput ─▶ MovieFile  ◀──────────────────────────┘
/// ```
///
/// A stage that cannot go on throws a ``CopyRefusal``, and ``CopyPlan/retry(after:)`` makes the plan of the next pass.
///
/// The stages up to the window belong to one source and one range of it. The stages behind it belong to the copy: they
/// take access units of any source, also those that are encoded anew.
package struct Copy {
  /// The written contents, and the contents that were left out.
  package typealias Result = (summary: String, left: [String])

  /// How a pass ends.
  enum Outcome {
    case done(Result)
    case retry(with: CopyPlan)
  }

  private let plan: CopyPlan
  private var input: InputFile { plan.input }

  /// Writes the file.
  ///
  /// - Parameter editor: changes the headers; `nil` if no changes are requested.
  package static func run(
    _ request: CopyPlan, editing editor: (any HeaderEditing)? = nil
  ) async throws(Failure) -> Result {
    var plan = try request.decided()
    while true {
      try Interruption.check()
      switch try await Copy(plan: plan).pass(editor) {
      case .done(let result): return result
      case .retry(let next): plan = next
      }
    }
  }

  private func pass(_ editor: (any HeaderEditing)?) async throws(Failure) -> Outcome {
    do throws(CopyRefusal) {
      return .done(try await plan.packaging == .asTheyAre ? copySamples(editor) : runPipeline(editor))
    } catch { return .retry(with: try plan.retry(after: error)) }
  }

  // MARK: Samples as they are

  /// Copies samples whose packaging stays.
  private func copySamples(_ editor: (any HeaderEditing)?) async throws(CopyRefusal) -> Result {
    let opened = try CopySource.open(plan)
    let source = opened.source
    guard var copy = SampleCopy(source.video.track) else { throw .irregular }
    var writer = CopyWriter(plan, opened, editor)
    let (status, place) = (source.file.status, ProgressPlace(of: source.video.track, in: input))
    try writer.begin(copy.format)
    try await Interruption.handled(
      by: { status.stop() },
      during: { () async throws(CopyRefusal) in
        try await Progress.during(place) { () async throws(CopyRefusal) in
          func next() throws(CopyRefusal) -> VideoSample? {
            do throws(Failure) { return try source.video.next() } catch { throw .failure(error) }
          }
          while !status.isStopping, !writer.isFinished, let sample = try next() {
            let accessUnit = try copy.accessUnit(sample)
            place.reach(time: accessUnit.presentation, bytes: source.video.position)
            try writer.take(accessUnit)
          }
        }
      })
    try writer.finish()
    return summary(of: writer, source.video.track.remark)
  }

  // MARK: Through a pipeline

  /// Reads the file once, and takes its access units apart.
  private func runPipeline(_ editor: (any HeaderEditing)?) async throws(CopyRefusal) -> Result {
    let (reader, writer) = try open(editor)
    let (pipeline, target) = (reader.pipeline, plan.target)
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
                guard writer.take(sample) else {
                  reader.fail(Failure(reader.input.name))
                  return false
                }
                if writer.ends() { reader.end() }
                return true
              }
            } catch { throw reader.failure(error) }
            try await reader.playToEnd()
          }
        })
    } catch {
      await pipeline.stop()
      if let refusal = writer.refusal { throw refusal }
      try CopyRefusal.failing(Interruption.check)
      throw .failure(error)
    }
    await pipeline.stop()
    return try writer.finish { summary(of: $0, reader.remark) }
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
      var refusal: CopyRefusal?
      var hasEnded = false
    }

    private let state: Mutex<State>
    private let known: KnownTimes?
    private let needsTimes: Bool

    /// - Parameters:
    ///   - origin: the distance of the pipeline's timestamps from times of the media, in nanoseconds.
    ///   - known: the times that the container has, if the pipeline's are derived.
    init(
      _ writer: sending CopyWriter, origin: Int64, following known: KnownTimes? = nil,
      needsTimes: Bool
    ) {
      state = Mutex(State(writer: writer, origin: origin))
      (self.known, self.needsTimes) = (known, needsTimes)
    }

    /// Why an access unit was not written.
    var refusal: CopyRefusal? { state.withLock { $0.refusal } }

    /// Returns false if the access unit cannot be written.
    func take(_ sample: Sample) -> Bool {
      let configuration = sample.caps?.codecData ?? []
      return state.withLock { state in
        guard !state.writer.isFinished else { return true }
        do throws(CopyRefusal) {
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
          return true
        } catch {
          state.refusal = error
          return false
        }
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

  private func open(
    _ editor: (any HeaderEditing)?
  ) throws(CopyRefusal) -> (reader: any PictureSource, writer: Writer) {
    let (container, drop, packaging) = (plan.container, plan.drop, plan.packaging)
    @Sendable func chain(_ codec: FormatDescription.Codec) throws(PipelineError) -> [PipelineElement] {
      let repackager = try codec.repackager(for: container, inBand: packaging == .inBand)
      if let drop { try repackager[0].set("drop", .string(drop)) }
      return try repackager + [PipelineElement("appsink", name: "packaged", ["sync": false, "max-buffers": 64])]
    }
    let needsTimes = container != .annexb || plan.bounds != nil
    guard !input.isRaw else {
      let reader = try CopyRefusal.failing { () throws(Failure) in
        try input.pictureSource(framerate: plan.framerate, chain)
      }
      return (reader, Writer(CopyWriter(plan, nil, editor), origin: 0, needsTimes: needsTimes))
    }
    let opened = try CopySource.open(plan)
    let source = opened.source
    let reader = try CopyRefusal.failing { () throws(Failure) in
      try ContainerReader(source.file, source.video, clips: false, chain)
    }
    return (
      reader,
      Writer(
        CopyWriter(plan, opened, editor), origin: ContainerSource.origin, following: source.known,
        needsTimes: needsTimes)
    )
  }

  // MARK: The result

  /// Summarizes the written contents, and the contents that were left out.
  private func summary(of writer: CopyWriter, _ remark: String) -> Result {
    let (window, isHidden) = (writer.window, plan.bounds?.mode == .hidden)
    var summary = "\(plan.target.name): "
    if Interruption.signal != nil { summary += "\(Interruption.remark)\(Text.count(writer.written, "access unit")): " }
    summary += "\(plan.container.name), \(Text.list(writer.contents))"
    if writer.early > 0 { summary += "; \(Text.count(writer.early, "picture")) before the first keyframe" }
    let source = plan.bounds == nil ? "the shown part of the source" : "the cut"
    if let remark = window.remark { summary += "; \(remark)" }
    if window.hiddenInFront > 0, !plan.hasEditList || isHidden {
      summary += "; \(Text.count(window.hiddenInFront, "picture")) before \(source)"
      if isHidden { summary += ", hidden" }
    }
    if window.hiddenBehind > 0, !plan.hasEditList {
      summary += "; \(Text.count(window.hiddenBehind, "picture")) after \(source)"
    }
    summary += remark
    if plan.bounds?.end == nil, input.hasGrown { summary += "; the source grew in the meantime, and may have more" }
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

extension FormatDescription.Codec {
  /// Makes a repackager, and the element that sets its output.
  ///
  /// - Parameters:
  ///   - isInBand: whether parameter sets stay with their pictures, if the container has a description of the video.
  ///   - name: of the second element.
  package func repackager(
    for container: TargetContainer, inBand isInBand: Bool = false, name: String? = nil
  ) throws(PipelineError) -> [PipelineElement] {
    let outOfBand = isInBand ? syntax.inBandStreamFormat : syntax.outOfBandStreamFormat
    let format = container.hasStartCodes ? syntax.byteStreamFormat : outOfBand
    let caps = "\(mediaType), stream-format=(string)\(format), alignment=(string)au"
    return try [
      PipelineElement("swifth\(digits)repack"), PipelineElement("capsfilter", name: name, ["caps": .string(caps)]),
    ]
  }
}

extension Window {
  /// The beginning of a cut, for the user; `nil` for no cut, and before the beginning is known.
  fileprivate var remark: String? {
    guard isCut, let opening, let shown else { return nil }
    let distance = opening.wanted - shown.start
    var remark = "from \(Text.time(ClockTime(positive: opening.bounds.offset + shown.start - opening.origin)))"
    if shown.start == opening.keyframe, distance > Self.tolerance {
      remark += ", a keyframe \(Text.fixed(Double(distance) / 1e9, 3)) s before --start"
    }
    if opening.droppedLeading > 0 {
      remark += ", without \(Text.count(opening.droppedLeading, "leading picture")), shown before it"
    }
    if opening.keptLeading > 0 {
      remark +=
        ", with \(Text.count(opening.keptLeading, "leading picture")) that "
        + "\(opening.keptLeading == 1 ? "refers" : "refer") to pictures that were cut off"
    }
    return remark
  }
}
