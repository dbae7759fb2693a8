// SPDX-License-Identifier: MPL-2.0
import GStreamer
import Synchronization

/// The end of a repackaging pipeline: from parsed streams into a container.
final class RepackRoute: Sendable {
  private let container: TargetContainer
  private let muxer: PipelineElement?
  private let sink: PipelineElement
  private let drop: String?
  private let wantsAudio: Bool

  private struct State {
    var isBuilt = false
    var taken: [String] = []
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

  /// Whether a stream goes into the file that is written.
  func hasTaken(_ stream: MediaStream) -> Bool { state.withLock { $0.taken.contains(stream.pad.name) } }

  /// Says where a stream goes.
  func attach(_ stream: MediaStream, _ pipeline: Pipeline) throws(PipelineError) -> PipelineElement? {
    if let codec = stream.codec {
      let first = try attach(codec, pipeline)
      state.withLock { $0.taken.append(stream.pad.name) }
      return first
    }
    guard wantsAudio, stream.kind == "audio", let muxer, muxer.canTake(stream.pad.caps) else { return nil }
    var chain = try [queue()]
    // From ADTS to raw AAC and back.
    if stream.mediaType == "audio/mpeg", stream.field("mpegversion")?.integer == 4 {
      chain.append(try PipelineElement("aacparse"))
    }
    // Some muxers take no more streams once they have begun: it is left behind then.
    do { try attach(chain, pipeline) } catch { return nil }
    state.withLock { $0.taken.append(stream.pad.name) }
    return chain[0]
  }

  /// Makes the way of parsed video.
  func attach(_ codec: MediaStream.Codec, _ pipeline: Pipeline) throws(PipelineError) -> PipelineElement {
    let chain = try [queue()] + video(codec)
    if codec == .h265, let muxer, let caps = Caps(parsing: "video/x-h265"), !muxer.canTake(caps) {
      throw .notLinkable(from: codec.rawValue, to: container.name)
    }
    try attach(chain, pipeline)
    return chain[0]
  }

  private func attach(_ chain: [PipelineElement], _ pipeline: Pipeline) throws(PipelineError) {
    let isBuilt = state.withLock { state in
      defer { state.isBuilt = true }
      return state.isBuilt
    }
    if !isBuilt {
      try pipeline.add(sink)
      if let muxer {
        try pipeline.add(muxer)
        try pipeline.link(muxer, sink)
      }
    }
    for element in chain.reversed() { try pipeline.add(element) }
    for (a, b) in zip(chain, chain.dropFirst()) { try pipeline.link(a, b) }
    if let last = chain.last { try pipeline.link(last, muxer ?? sink) }
  }

  /// Streams come from one thread, and muxers wait for each of them.
  private func queue() throws(PipelineError) -> PipelineElement {
    try PipelineElement(
      "queue", ["max-size-buffers": 0, "max-size-bytes": 0, "max-size-time": .uint64(20_000_000_000)])
  }

  private func video(_ codec: MediaStream.Codec) throws(PipelineError) -> [PipelineElement] {
    let prefixed = codec == .h264 ? "avc" : "hvc1"
    let format = container.streamFormat == "byte-stream" ? "byte-stream" : prefixed
    let repack = try PipelineElement("swifth\(codec.digits)repack")
    if let drop { try repack.set("drop", .string(drop)) }
    let caps = "\(codec.mediaType), stream-format=(string)\(format), alignment=(string)au"
    return [repack, try PipelineElement("capsfilter", ["caps": .string(caps)])]
  }

  /// A failure with its remedy, where there is one.
  func explained(_ failure: Failure) -> Failure {
    guard failure.message.contains("has no PTS") else { return failure }
    return Failure("\(failure.message); the stream says no frame rate: give it with --framerate, such as 25")
  }
}
