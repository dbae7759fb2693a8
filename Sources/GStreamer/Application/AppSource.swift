// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// What goes into a pipeline at an `appsrc`, buffer by buffer.
///
/// Set its `caps` on the description's line or with `element.set("caps", …)`, and `format=time` when buffers have
/// timestamps. One task sends; it waits while the appsrc's `max-bytes` are full. Cancelling it stops the pipeline.
public struct AppSource: Sendable {
  /// The pipeline that it is in.
  public let pipeline: Pipeline
  /// The appsrc, for its properties.
  public let element: PipelineElement
  private let wakeUps = WakeUps()

  init(_ element: PipelineElement, in pipeline: Pipeline) throws(PipelineError) {
    guard element.kind == "appsrc" else { throw .noSuchElement(element.name) }
    (self.element, self.pipeline) = (element, pipeline)
    // Asked for again when half of it has gone, rather than when nothing is left.
    if try element.get("min-percent") == .uint(0) { try element.set("min-percent", 50) }
    try element.connect("need-data") { [wakeUps] _ in
      wakeUps.wakeAll()
      return nil
    }
  }

  /// Sends a buffer, when there is room for it.
  /// - Throws: `element`, what an element posted; `flow` when the stream was ended; `stopped` or `cancelled`.
  public func send(_ buffer: consuming Buffer) async throws(PipelineError) {
    try await waitForRoom()
    let raw = unsafe buffer.take()
    let flow = unsafe cgst_app_src_push_buffer(element.raw, raw)
    unsafe unref(raw)
    try check(flow)
  }

  /// Sends a buffer with its caps, which become the stream's, when there is room for it.
  /// - Throws: `element`, what an element posted; `flow` when the stream was ended; `stopped` or `cancelled`.
  public func send(_ sample: Sample) async throws(PipelineError) {
    try await waitForRoom()
    try check(unsafe cgst_app_src_push_sample(element.raw, sample.raw))
  }

  /// Sends all buffers of a sequence, such as another pipeline's `AppSink`, and ends the stream.
  public func send<Samples: AsyncSequence>(all samples: Samples) async throws where Samples.Element == Sample {
    for try await sample in samples { try await send(sample) }
    try finish()
  }

  /// Ends the stream: nothing can be sent any more. `Pipeline.messages` tells when the end has come through.
  /// - Throws: `element`, what an element posted; `stopped` or `cancelled`.
  public func finish() throws(PipelineError) { try check(unsafe cgst_app_src_end_of_stream(element.raw)) }

  private func waitForRoom() async throws(PipelineError) {
    if !Task.isCancelled, isRoom { return }
    let waiter = WakeUps.Waiter([wakeUps, pipeline.hub.wakeUps])
    while true {
      switch pipeline.hub.phase {
      case .failed(let failure): throw .element(failure)
      case .stopped(let isCancelled): throw isCancelled ? .cancelled : .stopped
      case .ended: throw .flow(.endOfStream)
      case .idle, .running: break
      }
      // Looked at after the place to wait was taken, so that no call is missed.
      if !Task.isCancelled, isRoom { return }
      await pipeline.endingOnCancellation(isolation: #isolation) { await waiter.wait(isolation: #isolation) }
    }
  }

  private var isRoom: Bool {
    guard let level = try? element.get("current-level-bytes").integer,
      let limit = try? element.get("max-bytes").integer
    else { return true }
    return limit == 0 || level < limit
  }

  private func check(_ flow: GstFlowReturn) throws(PipelineError) {
    if flow.rawValue >= 0 { return }
    switch pipeline.hub.phase {
    case .failed(let failure): throw .element(failure)
    case .stopped(let isCancelled): throw isCancelled ? .cancelled : .stopped
    case .idle, .running, .ended: throw .flow(FlowError(rawValue: flow.rawValue))
    }
  }
}
