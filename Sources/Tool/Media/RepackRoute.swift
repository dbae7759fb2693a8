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

  private struct State {
    var isBuilt = false
    var taken: [String] = []
    /// Queues that hold back data until every stream is linked.
    var held: [PipelineElement] = []
    var isReleased = false
    /// The number of access units without a PTS, which no container accepts.
    var untimed = 0
    var whenUntimed: (@Sendable () -> Void)?
  }
  private let state = Mutex(State())

  init(_ container: TargetContainer, into output: OutputFile, drop: String?, audio: Bool) throws(Failure) {
    (self.container, self.drop, wantsAudio) = (container, drop, audio)
    sink = try output.sink()
    do throws(PipelineError) {
      muxer = try container.muxer.map { kind throws(PipelineError) in try PipelineElement(kind) }
      if !output.isSeekable, container == .mkv || container == .flv { try muxer?.set("streamable", true) }
    } catch { throw Failure(error, about: output.name) }
  }

  /// Whether a stream is written.
  func hasTaken(_ stream: MediaStream) -> Bool { state.withLock { $0.taken.contains(stream.pad.name) } }

  /// The number of access units dropped because they had no PTS.
  var untimed: Int { state.withLock { $0.untimed } }

  /// Sets a handler that is called at the first access unit without a PTS. `matroskamux` would drop it silently, and
  /// `flvmux` would give all of them the same time.
  func onUntimed(_ handler: @escaping @Sendable () -> Void) { state.withLock { $0.whenUntimed = handler } }

  private func dropUntimed(at pad: PipelinePad?) {
    pad?.dropBuffers { [weak self] pts, _ in
      guard pts == nil, let self else { return false }
      let handler = state.withLock { state in
        state.untimed += 1
        return state.untimed == 1 ? state.whenUntimed : nil
      }
      handler?()
      return true
    }
  }

  /// Adds the elements for a stream. Returns the first one for video; `nil` for audio and streams that are not written.
  func attach(_ stream: MediaStream, _ pipeline: Pipeline) throws(PipelineError) -> PipelineElement? {
    if let codec = stream.codec {
      let first = try attach(codec, pipeline)
      state.withLock { $0.taken.append(stream.pad.name) }
      return first
    }
    guard wantsAudio, stream.kind == "audio", let muxer, !state.withLock({ $0.isReleased }), canCarry(stream) else {
      return nil
    }
    // The muxer chooses a pad template by the caps, which a queue alone does not have.
    let kind = try PipelineElement("capsfilter", ["caps": .string(stream.mediaType)])
    let chain = try [queue()] + (stream.isAAC ? [PipelineElement("aacparse")] : []) + [kind]
    do throws(PipelineError) {
      try build(pipeline)
      try pipeline.add(chain: chain)
      // If this fails, the muxer must not have a pad yet that would wait for data.
      try stream.pad.link(to: chain[0])
      try pipeline.link(kind, muxer)
    } catch { return nil }
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

  /// Lets the queues deliver, when every stream is linked: most muxers accept no new pad once they have begun.
  func release() {
    let held = state.withLock { state in
      defer { (state.held, state.isReleased) = ([], true) }
      return state.held
    }
    for queue in held { try? queue.set("min-threshold-time", .uint64(0)) }
  }

  /// Adds repackager and muxer for parsed video, and returns the first element.
  func attach(_ codec: FormatDescription.Codec, _ pipeline: Pipeline) throws(PipelineError) -> PipelineElement {
    let chain = try [queue()] + video(codec)
    if muxer != nil { dropUntimed(at: chain.last?.pad("src")) }
    if codec == .h265, let muxer, let caps = Caps(parsing: "video/x-h265"), !muxer.canTake(caps) {
      throw .notLinkable(from: codec.name, to: container.name)
    }
    try attach(chain, pipeline)
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

  /// A queue for one stream: one demultiplexer thread delivers all streams, and muxers wait for data of each.
  private func queue() throws(PipelineError) -> PipelineElement {
    let queue = try PipelineElement(
      "queue", ["max-size-buffers": 0, "max-size-bytes": 0, "max-size-time": .uint64(20_000_000_000)])
    guard wantsAudio, muxer != nil else { return queue }
    // Demultiplexers such as flvdemux add the pad of audio only with its first data.
    try state.withLock { state throws(PipelineError) in
      guard !state.isReleased else { return }
      try queue.set("min-threshold-time", .uint64(10_000_000_000))
      state.held.append(queue)
    }
    return queue
  }

  private func video(_ codec: FormatDescription.Codec) throws(PipelineError) -> [PipelineElement] {
    let prefixed = codec == .h264 ? "avc" : "hvc1"
    let format = container.streamFormat == "byte-stream" ? "byte-stream" : prefixed
    let repack = try PipelineElement("swifth\(codec.digits)repack")
    if let drop { try repack.set("drop", .string(drop)) }
    let caps = "\(codec.mediaType), stream-format=(string)\(format), alignment=(string)au"
    return [repack, try PipelineElement("capsfilter", ["caps": .string(caps)])]
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
