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
///   ▼                             │                                                 │
/// Seam     Seam                encodes those that cannot be copied; SeamCheck       │
///   ▼                             │                                                 ▼
/// Sink     CopySink            PresentationTimes, when they are shown          OtherStreamSpan
///                                 ▼                                                 │
///                              MediaOutput ─▶ MovieFile  ◀──────────────────────────┘
/// ```
///
/// The ranges of a copy are read one after the other, each by a source and a window of its own, and written into one sink.
/// In a join, ranges are of different inputs.
///
/// A stage that cannot go on throws a ``CopyRefusal``, and ``CopyPlan/retry(after:)`` makes the plan of the next pass.
///
/// The stages up to the window belong to one source and one range of it. The stages behind it belong to the copy: they
/// take access units of any source, also those that are encoded anew.
package struct Copy {
  /// The result, for the user.
  package struct Result: Sendable {
    /// The written contents, and how the range was cut if there is one.
    package let summary: String
    /// The ranges that are cut in another way than requested, or that players may show with damage, with the reason.
    package let remarks: [String]
    /// How each range was cut, if there are several.
    package let ranges: [String]
    /// Whether there are pictures that an edit list hides.
    package let hidesPictures: Bool
    /// The metadata that edits have changed, a line for each kind.
    package let edited: [String]
    /// The contents that were left out, a line for each.
    package let left: [String]
  }

  /// How a pass ends.
  private enum Outcome<Value: Sendable>: Sendable {
    case done(Value)
    case retry(with: CopyPlan)
  }

  private let plan: CopyPlan

  /// Writes the file.
  ///
  /// - Parameter editor: changes the headers; `nil` if no changes are requested.
  package static func run(
    _ request: CopyPlan, editing editor: (any HeaderEditing)? = nil
  ) async throws(Failure) -> Result {
    try await passes(request, editor) { copy, writer, remark in copy.summary(of: writer, remark) }
  }

  /// The contents of a copy without bounds.
  ///
  /// - `accessUnits`: in decoding order, without their bytes.
  /// - `shown`: the range that the source shows. `parts`: all of them, if there are several.
  /// - `obstacle`: why pictures cannot be encoded. `openObstacle`: why not in front of a recovery point.
  typealias Survey = (
    accessUnits: [MediaOutput.AccessUnit], shown: ShownRange?, parts: [ShownRange], obstacle: SeamObstacle?,
    openObstacle: SeamObstacle?
  )

  /// Reads a video, or its beginning. Nothing is written.
  static func survey(_ request: CopyPlan, untilFirstPicture isShort: Bool) async throws(Failure) -> Survey {
    try await contents(request, untilFirstPicture: isShort).survey
  }

  /// Reads a video, or its beginning, and the formats that it has in the container of the request. Nothing is written.
  static func contents(
    _ request: CopyPlan, untilFirstPicture isShort: Bool
  ) async throws(Failure) -> (survey: Survey, formats: [MediaOutput.VideoFormat]) {
    try await passes(request.surveying(untilFirstPicture: isShort), nil) { _, writer, _ in
      let (window, obstacles) = (writer.window, (writer.obstacle, writer.openObstacle))
      let survey: Survey = (writer.surveyed ?? [], window.shown, window.parts, obstacles.0, obstacles.1)
      return (survey: survey, formats: writer.formats)
    }
  }

  /// Performs passes until one completes the copy.
  private static func passes<Value: Sendable>(
    _ request: CopyPlan, _ editor: (any HeaderEditing)?,
    _ value: @escaping @Sendable (Copy, borrowing CopyWriter, _ remark: String) -> Value
  ) async throws(Failure) -> Value {
    var plan = try request.decided()
    while true {
      try Interruption.check()
      switch try await Copy(plan: plan).pass(editor, value) {
      case .done(let result): return result
      case .retry(let next): plan = next
      }
    }
  }

  private func pass<Value: Sendable>(
    _ editor: (any HeaderEditing)?, _ value: @escaping @Sendable (Copy, borrowing CopyWriter, String) -> Value
  ) async throws(Failure) -> Outcome<Value> {
    var number = 0
    func copy() async throws(CopyRefusal) -> Value {
      try await plan.packaging == .asTheyAre
        ? copySamples(editor, &number, value) : runPipeline(editor, &number, value)
    }
    do throws(CopyRefusal) { return .done(try await copy()) } catch {
      return .retry(with: try plan.retry(after: error, in: number))
    }
  }

  // MARK: Samples as they are

  /// Copies samples whose packaging stays.
  ///
  /// - Parameter number: of the range that is read.
  private func copySamples<Value>(
    _ editor: (any HeaderEditing)?, _ number: inout Int, _ value: (Copy, borrowing CopyWriter, String) -> Value
  ) async throws(CopyRefusal) -> Value {
    var opened = try CopySource.open(plan, plan.ranges[0])
    var writer = CopyWriter(plan, opened, editor)
    try await copySamples(opened.source, &writer)
    while number + 1 < plan.ranges.count, Interruption.signal == nil {
      number += 1
      opened = try CopySource.open(plan, plan.ranges[number])
      writer.beginRange(number, opened)
      try await copySamples(opened.source, &writer)
    }
    do throws(Failure) { try writer.finish() } catch { throw .failure(error) }
    return value(self, writer, opened.source.video.track.remark)
  }

  private func copySamples(_ source: CopySource, _ writer: inout CopyWriter) async throws(CopyRefusal) {
    guard var copy = SampleCopy(source.video.track) else { throw .irregular }
    let (status, place) = (source.file.status, ProgressPlace(of: source.video.track, in: source.file.input))
    try writer.begin(copy.format)
    try await Interruption.handled(
      by: { status.stop() },
      during: { () async throws(CopyRefusal) in
        try await Progress.during(place) { () async throws(CopyRefusal) in
          func next() throws(CopyRefusal) -> VideoSample? {
            do throws(Failure) { return try source.video.next() } catch { throw .failure(error) }
          }
          while Interruption.signal == nil, !writer.isFinished, let sample = try next() {
            let accessUnit = try copy.accessUnit(sample)
            place.reach(time: accessUnit.presentation, bytes: source.video.position)
            try writer.take(accessUnit)
          }
        }
      })
    try writer.finishRange()
  }

  // MARK: Through a pipeline

  /// Reads the file once, and takes its access units apart.
  ///
  /// - Parameter number: of the range that is read.
  private func runPipeline<Value: Sendable>(
    _ editor: (any HeaderEditing)?, _ number: inout Int, _ value: (Copy, borrowing CopyWriter, String) -> Value
  ) async throws(CopyRefusal) -> Value {
    let writer = Writer(plan, editor)
    while true {
      let reader = try writer.open(number)
      try await run(reader, writer)
      guard number + 1 < plan.ranges.count, Interruption.signal == nil else {
        return try writer.finish { value(self, $0, reader.remark) }
      }
      number += 1
    }
  }

  /// Runs the pipeline of a range.
  private func run(_ reader: any PictureSource, _ writer: Writer) async throws(CopyRefusal) {
    let (pipeline, target) = (reader.pipeline, plan.target)
    do throws(Failure) {
      try await Interruption.handled(
        by: {
          reader.end()
          Task { await Self.endIfStuck(target) }
        },
        during: { () async throws(Failure) in
          guard Interruption.signal == nil else { return }
          try await Progress.during(reader.place) { () async throws(Failure) in
            try await reader.begin()
            do throws(PipelineError) {
              // The reader holds the pipeline, which holds the handler: each range would keep its file open.
              try pipeline.appSink("packaged").onSample { [weak reader] sample in
                guard writer.take(sample) else {
                  if let reader { reader.fail(Failure(reader.input.name)) }
                  return false
                }
                if writer.ends() { reader?.end() }
                return true
              }
            } catch { throw reader.failure(error) }
            try await reader.playToEnd()
          }
        })
    } catch {
      await pipeline.stop()
      let refusal = writer.refusal
      guard Interruption.signal != nil, writer.hasWritten, refusal?.isFailure != true else {
        if let refusal { throw refusal }
        try CopyRefusal.failing(Interruption.check)
        throw .failure(error)
      }
    }
    await pipeline.stop()
    try writer.finishRange()
  }

  /// Opens ranges, and writes them on the threads of their pipelines.
  private final class Writer: Sendable {
    private struct State: ~Copyable {
      /// `nil` before the first range is open.
      var writer: CopyWriter?
      var range = Range()
      var refusal: CopyRefusal?
    }

    private struct Range {
      /// The distance of the pipeline's timestamps from times of the media, in nanoseconds.
      var origin: Int64 = 0
      /// The times that the container has, if the pipeline's are derived.
      var known: KnownTimes?
      /// The latest presentation time so far.
      var latest = Int64.min
      /// The configuration record of the last sample.
      var configuration: [UInt8]?
      var hasEnded = false
    }

    private let state = Mutex(State())
    private let plan: CopyPlan
    private let editor: (any HeaderEditing)?

    init(_ plan: CopyPlan, _ editor: (any HeaderEditing)?) { (self.plan, self.editor) = (plan, editor) }

    private var needsTimes: Bool { plan.container != .annexb || plan.isCut }

    /// Why an access unit was not written.
    var refusal: CopyRefusal? { state.withLock { $0.refusal } }

    /// Whether the target has pictures.
    var hasWritten: Bool { state.withLock { $0.writer?.written ?? 0 > 0 } }

    /// Opens a range.
    func open(_ number: Int) throws(CopyRefusal) -> any PictureSource {
      try state.withLock { state throws(CopyRefusal) in
        let (reader, opened) = try source(number)
        if state.writer == nil {
          state.writer = CopyWriter(plan, opened, editor)
        } else {
          state.writer?.beginRange(number, opened)
        }
        state.range = Range()
        if let opened { (state.range.origin, state.range.known) = (ContainerSource.origin, opened.source.known) }
        return reader
      }
    }

    private func source(
      _ number: Int
    ) throws(CopyRefusal) -> (reader: any PictureSource, opened: CopySource.Opened?) {
      let (container, drop, packaging) = (plan.container, plan.drop, plan.packaging)
      @Sendable func chain(_ codec: FormatDescription.Codec) throws(PipelineError) -> [PipelineElement] {
        let repackager = try codec.repackager(for: container, inBand: packaging == .inBand)
        if let drop { try repackager[0].set("drop", .string(drop)) }
        return try repackager + [PipelineElement("appsink", name: "packaged", ["sync": false, "max-buffers": 64])]
      }
      let input = plan.input(of: plan.ranges[number])
      guard !input.isRaw else {
        return try CopyRefusal.failing { () throws(Failure) in
          // A byte stream has no times that the framerate could change.
          let framerate = plan.framerate ?? (plan.joined != nil && container == .annexb ? Fraction(25, 1) : nil)
          return (try input.pictureSource(framerate: framerate, chain), nil)
        }
      }
      let opened = try CopySource.open(plan, plan.ranges[number])
      return try CopyRefusal.failing { () throws(Failure) in
        (try ContainerReader(opened.source.file, opened.source.video, clips: false, chain), opened)
      }
    }

    /// Returns false if the access unit cannot be written.
    func take(_ sample: Sample) -> Bool {
      let configuration = sample.caps?.codecData ?? []
      return state.withLock { state in
        guard state.writer?.isFinished == false else { return true }
        do throws(CopyRefusal) {
          if state.range.latest == .min, let first = state.range.known?.first, let time = sample.attributes.pts {
            state.range.origin = Int64(clamping: time.nanoseconds) - first
          }
          let accessUnit = try sample.accessUnit(origin: state.range.origin, needsTime: needsTimes)
          state.range.latest = max(state.range.latest, accessUnit.presentation)
          if configuration != state.range.configuration, let format = sample.videoFormat {
            try state.writer?.begin(format)
            state.range.configuration = configuration
          }
          try state.writer?.take(accessUnit)
          return true
        } catch {
          state.refusal = error
          return false
        }
      }
    }

    /// Whether nothing more of the range is needed; true once. A pipeline that does not play yet misses the end that a
    /// signal requests.
    func ends() -> Bool {
      state.withLock { state in
        guard state.writer?.isFinished == true || Interruption.signal != nil, !state.range.hasEnded else {
          return false
        }
        state.range.hasEnded = true
        return true
      }
    }

    /// Writes the rest of a range.
    func finishRange() throws(CopyRefusal) {
      try state.withLock { state throws(CopyRefusal) in
        // Derived times have no gaps.
        guard state.range.known.map({ $0.latest <= state.range.latest }) ?? true else { throw .gap }
        try state.writer?.finishRange()
      }
    }

    /// Completes the target.
    func finish<Value: Sendable>(_ value: (borrowing CopyWriter) -> Value) throws(CopyRefusal) -> Value {
      try state.withLock { state throws(CopyRefusal) in
        guard var writer = state.writer.take() else {
          throw .failure(Failure("\(plan.target.name): no picture to write"))
        }
        do throws(Failure) { try writer.finish() } catch { throw .failure(error) }
        return value(writer)
      }
    }
  }

  // MARK: The result

  /// Summarizes the written contents, and the contents that were left out.
  private func summary(of writer: borrowing CopyWriter, _ remark: String) -> Result {
    var summary = "\(plan.target.name): "
    if writer.isCutShort { summary += "\(Interruption.remark)\(Text.count(writer.written, "access unit")): " }
    summary += "\(plan.container.name), \(Text.list(writer.contents))"
    if writer.early > 0 { summary += "; \(Text.count(writer.early, "picture")) before the first keyframe" }
    var ranges = writer.finishedWindows.enumerated().map { number, window in
      window.map { self.remark(about: $0) } ?? "; has \(writer.missed[number] ?? "no picture")"
    }
    if ranges.count == 1, plan.ranges.count == 1 {
      summary += ranges.removeFirst()
    } else {
      // Most files of a join begin with their first picture.
      ranges = ranges.enumerated().compactMap { number, remark in
        plan.joined != nil && remark == "; from \(Text.time(.zero))"
          ? nil : "\(plan.target.name): \(name(ofRange: number))\(remark.dropFirst())"
      }
    }
    if writer.encoded > 0 { summary += "; \(Text.count(writer.encoded, "picture")) encoded" }
    if let psnr = writer.lowestPSNR { summary += ", lowest PSNR \(Text.fixed(psnr, 1)) dB" }
    if writer.removedOperations > 0 {
      summary += "; \(Text.count(writer.removedOperations, "marking operation")) of pictures that were cut off removed"
    }
    summary += remark
    if writer.unendedInputs.contains(where: \.hasGrown) {
      summary += "; the source grew in the meantime, and may have more"
    }
    return Result(
      summary: summary, remarks: plan.remarks + warnings(writer), ranges: ranges, hidesPictures: hidesPictures(writer),
      edited: writer.editedMetadata, left: writer.losses)
  }

  private func warnings(_ writer: borrowing CopyWriter) -> [String] {
    var warnings = writer.finishedWindows.enumerated().compactMap { number, window in
      window?.opening?.passesRecoveryPoint == true ? plan.remark(onEarlyBeginning: number, .recoveryPoint) : nil
    }
    warnings += writer.recoveryPoints.map { number in
      let reason = plan.ranges[number].beginningObstacle.map { " (\($0.beginningText))" } ?? ""
      return "\(name(ofRange: number)) begins with a recovery point, not an IDR picture\(reason): players may lose "
        + "pictures there"
    }
    if let made = writer.madeDolbyVision {
      warnings.append((writer.formats.first?.dolbyVision ?? .copied).remark(made))
    }
    return warnings + writer.targetRemarks
  }

  /// - Parameter number: from 0.
  private func name(ofRange number: Int) -> String {
    plan.joined == nil || !plan.ranges.indices.contains(number)
      ? "range \(number + 1)" : plan.input(of: plan.ranges[number]).name
  }

  private func hidesPictures(_ writer: borrowing CopyWriter) -> Bool {
    plan.hasEditList && plan.isCut
      && writer.finishedWindows.contains { $0.map { $0.hiddenInFront > 0 || $0.hiddenBehind > 0 } ?? false }
  }

  /// The end of a sentence about a range.
  private func remark(about window: Window) -> String {
    let isHidden = plan.ranges.contains { $0.bounds?.mode == .hidden }
    let source = plan.isCut && plan.joined == nil ? "the cut" : "the shown part of the source"
    var text = window.remark.map { "; \($0)" } ?? ""
    if window.hiddenInFront > 0, !plan.hasEditList || isHidden {
      text += "; \(Text.count(window.hiddenInFront, "picture")) before \(source)"
      if isHidden { text += ", hidden" }
    }
    if window.hiddenBehind > 0, !plan.hasEditList {
      text += "; \(Text.count(window.hiddenBehind, "picture")) after \(source)"
    }
    return text
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
      remark += ", a keyframe \(Text.fixed(Double(distance) / 1e9, 3)) s before the requested start"
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
