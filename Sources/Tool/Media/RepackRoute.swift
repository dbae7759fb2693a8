// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import Synchronization

/// The last part of a repackaging pipeline: from parsed streams to the muxer and the file.
final class RepackRoute: Sendable {
  private let container: TargetContainer
  private let muxer: PipelineElement?
  private let sink: PipelineElement
  private let drop: String?
  private let wantsAudio: Bool
  private let queues: MuxerQueues

  private struct State {
    var isBuilt = false
    var taken: [String] = []
    /// The number of video's access units that were written.
    var written = 0
    /// The number of access units without a PTS, which no container accepts.
    var untimed = 0
    /// The same of audio.
    var untimedAudio = 0
    var whenUntimed: (@Sendable () -> Void)?
  }
  private let state = Mutex(State())

  init(
    _ container: TargetContainer, into output: OutputFile, drop: String?, audio: Bool, fromPipe: Bool = true
  ) throws(Failure) {
    (self.container, self.drop, wantsAudio) = (container, drop, audio)
    queues = MuxerQueues(holds: audio && container.muxer != nil, isPipe: fromPipe)
    sink = try output.sink()
    do throws(PipelineError) {
      muxer = try container.muxer.map { kind throws(PipelineError) in try PipelineElement(kind) }
      if !output.isSeekable, container == .mkv || container == .flv { try muxer?.set("streamable", true) }
    } catch { throw Failure(error, about: output.name) }
  }

  /// Whether a stream is written.
  func hasTaken(_ stream: MediaStream) -> Bool { state.withLock { $0.taken.contains(stream.pad.name) } }

  /// The number of access units that were written, of the video.
  var written: Int { state.withLock { $0.written } }

  /// The number of access units dropped because they had no PTS.
  var untimed: Int { state.withLock { $0.untimed } }

  /// Sets a handler that is called at the first access unit without a PTS. `matroskamux` would drop it silently, and
  /// `flvmux` would give all of them the same time.
  func onUntimed(_ handler: @escaping @Sendable () -> Void) { state.withLock { $0.whenUntimed = handler } }

  /// Counts the video's access units, and drops those without a PTS in front of a muxer.
  private func watchVideo(at pad: PipelinePad?) {
    pad?.dropBuffers { [weak self] pts, _ in
      guard let self else { return false }
      guard pts == nil, muxer != nil else {
        state.withLock { $0.written += 1 }
        return false
      }
      let handler = state.withLock { state in
        state.untimed += 1
        return state.untimed == 1 ? state.whenUntimed : nil
      }
      handler?()
      return true
    }
    // The handler has the pipeline stopped. A muxer that is stopped while it writes the end of a file without pictures
    // may fail an assertion (mp4mux 1.22).
    pad?.dropEvents { [weak self] event in
      event.kind == .endOfStream && self?.state.withLock { $0.untimed > 0 && $0.whenUntimed != nil } == true
    }
  }

  /// Drops audio without a PTS, which `qtmux` refuses and `matroskamux` drops without a word.
  private func dropUntimedAudio(at pad: PipelinePad?) {
    pad?.dropBuffers { [weak self] pts, _ in
      guard pts == nil, let self else { return false }
      state.withLock { $0.untimedAudio += 1 }
      return true
    }
  }

  /// Adds the elements for a stream. Returns the first one for video; `nil` for audio and streams that are not written.
  func attach(_ stream: MediaStream, _ pipeline: Pipeline) throws(PipelineError) -> PipelineElement? {
    if let codec = stream.codec {
      let first = try attach(codec, from: stream.pad, pipeline)
      state.withLock { $0.taken.append(stream.pad.name) }
      return first
    }
    guard wantsAudio, stream.kind == "audio", let muxer, canCarry(stream),
      let queue = try queues.queue(for: stream.pad, isVideo: false)
    else { return nil }
    var isTaken = false
    defer { if !isTaken { queues.remove(queue) } }
    // The muxer chooses a pad template by the caps, which a queue alone does not have.
    // Without current caps the media type may be one of several, such as AC-3 and E-AC-3.
    let caps = stream.isAAC || stream.pad.currentCaps != nil ? stream.mediaType : stream.pad.caps.description
    let kind = try PipelineElement("capsfilter", ["caps": .string(caps)])
    if container == .mp4 || container == .mov || container == .mkv { dropUntimedAudio(at: kind.pad("src")) }
    let chain = try [queue] + (stream.isAAC ? [PipelineElement("aacparse")] : []) + [kind]
    try build(pipeline)
    try pipeline.add(chain: chain)
    // If this fails, the muxer must not have a pad yet that would wait for data.
    try stream.pad.link(to: queue)
    do throws(PipelineError) { try pipeline.link(kind, muxer) } catch {
      let nowhere = try PipelineElement("fakesink", ["sync": false, "async": false])
      try pipeline.add(nowhere)
      try pipeline.link(kind, nowhere)
      return nil
    }
    if let last = kind.pad("src") { queues.connect(queue, to: last) }
    isTaken = true
    state.withLock { $0.taken.append(stream.pad.name) }
    return nil
  }

  /// Whether the muxer takes an audio stream.
  private func canCarry(_ stream: MediaStream) -> Bool {
    guard let muxer else { return false }
    // Whatever the stream-format: aacparse converts between ADTS and raw AAC.
    let version = stream.field("mpegversion")?.integer ?? 4
    if stream.isAAC, let caps = Caps(parsing: "audio/mpeg, mpegversion=(int)\(version)") { return muxer.canTake(caps) }
    return muxer.canTake(stream.pad.caps)
  }

  /// Lets the muxer begin, when it has the caps of every stream that was linked: most accept no new pad then.
  func complete() { queues.complete() }

  /// Lets the muxer begin with what it has, so that an interrupted pipeline can end.
  func release() { queues.releaseAll() }

  /// Sets a handler that is called when a stream has no data, nor caps for the muxer, as far as queues can hold the
  /// others.
  func onGivenUp(_ handler: @escaping @Sendable () -> Void) { queues.onGivenUp(handler) }

  /// What was left behind of streams that were written, for the user.
  var losses: [String] {
    let untimed = state.withLock { $0.untimedAudio }
    let cuts = queues.cuts.map { cut in
      "\(cut.isVideo ? "video" : "audio") after \(Text.time(cut.after)), which pauses for too long"
    }
    return cuts + (untimed > 0 ? ["\(Text.count(untimed, "audio packet")) without a time"] : [])
  }

  /// Adds repackager and muxer for parsed video, and returns the first element.
  func attach(
    _ codec: FormatDescription.Codec, from pad: PipelinePad? = nil, _ pipeline: Pipeline
  ) throws(PipelineError) -> PipelineElement {
    let queue = try queues.queue(for: pad, isVideo: true)
    let chain = try (queue.map { [$0] } ?? []) + video(codec)
    let last = chain.last?.pad("src")
    watchVideo(at: last)
    if codec == .h265, let muxer, let caps = Caps(parsing: "video/x-h265"), !muxer.canTake(caps) {
      throw .notLinkable(from: codec.name, to: container.name)
    }
    try attach(chain, pipeline)
    if let queue, let last { queues.connect(queue, to: last) }
    return chain[0]
  }

  private func attach(_ chain: [PipelineElement], _ pipeline: Pipeline) throws(PipelineError) {
    try build(pipeline)
    try pipeline.add(chain: chain)
    if let last = chain.last { try pipeline.link(last, muxer ?? sink) }
  }

  /// Adds muxer and sink, with the first stream.
  private func build(_ pipeline: Pipeline) throws(PipelineError) {
    let isBuilt = state.withLock { state in
      defer { state.isBuilt = true }
      return state.isBuilt
    }
    guard !isBuilt else { return }
    try pipeline.add(chain: (muxer.map { [$0] } ?? []) + [sink])
  }

  private func video(_ codec: FormatDescription.Codec) throws(PipelineError) -> [PipelineElement] {
    let format = container.hasStartCodes ? codec.syntax.byteStreamFormat : codec.syntax.outOfBandStreamFormat
    let repack = try PipelineElement("swifth\(codec.digits)repack")
    if let drop { try repack.set("drop", .string(drop)) }
    let caps = "\(codec.mediaType), stream-format=(string)\(format), alignment=(string)au"
    return [repack, try PipelineElement("capsfilter", name: "packaged", ["caps": .string(caps)])]
  }

  /// Why the container's streams cannot be repackaged; `nil` when they can.
  func refusal(of containerCaps: String?) -> String? {
    guard muxer != nil, containerCaps?.hasPrefix("video/x-msvideo") == true else { return nil }
    return "AVI does not say when pictures are shown, which \(container.name) needs; make a byte stream of it first "
      + "(-o FILE.h264), which can be repackaged"
  }

  /// Whether EOS has reached the sink, so that the file is complete.
  var hasEnded: Bool { sink.pad("sink")?.hasEnded ?? false }

  /// The failure with its remedy, where there is one.
  func explained(_ failure: Failure) -> Failure {
    // Its only error of this kind.
    guard let posted = failure.elementFailure, posted.kind == "matroskamux", posted.error.code == .stream(.mux) else {
      return failure
    }
    return Failure(
      "\(failure.message): where the format changes within a stream, Matroska cannot hold it; .ts and .mp4 do",
      cause: failure.cause)
  }
}
