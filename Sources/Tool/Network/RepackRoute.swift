// SPDX-License-Identifier: MPL-2.0
import Containers
import GStreamer
import H26x
import Synchronization

/// The last part of a pipeline that records a received stream: from parsed video to the muxer and the file.
final class RepackRoute: Sendable {
  private let container: TargetContainer
  private let muxer: PipelineElement?
  private let sink: PipelineElement

  private struct State {
    var isBuilt = false
    /// The number of access units without a PTS, which no container accepts.
    var untimed = 0
    /// The muxer's pad for access units.
    var pad: PipelinePad?
    /// The configuration record of the last access unit, and the reader of access units that have it.
    var configuration: [UInt8]?
    var roles: (any AccessUnitRoleReading)?
    var isAtStart = true
    /// The configuration of Dolby Vision that the stream calls for; `nil` for none.
    var dolbyVision: DolbyVision.Configuration?
  }
  private let state = Mutex(State())

  init(_ container: TargetContainer, into output: OutputFile) throws(Failure) {
    self.container = container
    sink = try output.sink()
    do throws(PipelineError) {
      muxer = try container.muxer.map { kind throws(PipelineError) in try PipelineElement(kind) }
      if !output.isSeekable, container == .mkv || container == .flv { try muxer?.set("streamable", true) }
    } catch { throw Failure(error, about: output.name) }
  }

  /// The number of access units dropped because they had no PTS.
  var untimed: Int { state.withLock { $0.untimed } }

  /// The configuration of Dolby Vision that the stream calls for, if the container has one. GStreamer's muxers write
  /// none.
  var dolbyVision: DolbyVision.Configuration? { state.withLock { $0.dolbyVision } }

  /// Drops access units without a PTS in front of a muxer: `matroskamux` would do so silently, and `flvmux` would
  /// give all of them the same time. Access units with which decoding cannot begin are marked as delta units: muxers
  /// take all others for sync samples.
  private func watchVideo(_ codec: FormatDescription.Codec, at pad: PipelinePad?) {
    guard muxer != nil, let pad else { return }
    state.withLock { $0.pad = pad }
    pad.changeBuffers { [weak self] buffer in
      guard let self else { return .pass }
      guard buffer.pts != nil else {
        state.withLock { $0.untimed += 1 }
        return .drop
      }
      if let bytes = try? buffer.copiedBytes(), !isSync(bytes, codec) {
        buffer.flags.insert(.deltaUnit)
      }
      return .pass
    }
  }

  /// Whether decoding can begin with an access unit.
  private func isSync(_ bytes: [UInt8], _ codec: FormatDescription.Codec) -> Bool {
    state.withLock { state in
      let configuration = state.pad?.currentCaps?.codecData ?? []
      if configuration != state.configuration {
        state.roles = codec.roleReader(configuration, hasStartCodes: container.hasStartCodes)
        state.configuration = configuration
      }
      guard let role = state.roles?.role(of: bytes) else { return true }
      defer { state.isAtStart = false }
      // Nothing is in front of the first picture that others could refer to.
      let isSync = role.start != .none || state.isAtStart && role.isIntra
      if isSync, state.dolbyVision == nil, container.hasDolbyVisionRecord, let caps = state.pad?.currentCaps {
        state.dolbyVision = MediaOutput.VideoFormat(caps)?
          .newDolbyVision(.copied, bytes, hasStartCodes: container.hasStartCodes)
      }
      return isSync
    }
  }

  /// Adds repackager and muxer for parsed video, and returns the first element.
  func attach(
    _ codec: FormatDescription.Codec, _ pipeline: Pipeline
  ) throws(PipelineError) -> PipelineElement {
    let chain = try codec.repackager(for: container, name: "packaged")
    watchVideo(codec, at: chain.last?.pad("src"))
    if codec == .h265, let muxer, let caps = Caps(parsing: "video/x-h265"), !muxer.canTake(caps) {
      throw .notLinkable(from: codec.name, to: container.name)
    }
    try build(pipeline)
    try pipeline.add(chain: chain)
    if let last = chain.last { try pipeline.link(last, muxer ?? sink) }
    return chain[0]
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

  /// Whether EOS has reached the sink, so that the file is complete.
  var hasEnded: Bool { sink.pad("sink")?.hasEnded ?? false }

  /// The failure with its remedy, if there is one.
  func explained(_ failure: Failure) -> Failure {
    // Its only error of this kind.
    guard let posted = failure.elementFailure, posted.kind == "matroskamux", posted.error.code == .stream(.mux) else {
      return failure
    }
    return Failure(
      "\(failure.message): the format changes within the stream, which Matroska cannot store; .ts and .mp4 can",
      cause: failure.cause)
  }
}
