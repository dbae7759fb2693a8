// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// The input of a pipeline at an `appsrc`.
///
/// Set its `caps` in the description or with `element.set("caps", …)`, and `format=time` for buffers with timestamps.
/// One task may send; it waits while `max-bytes` are queued. Cancelling it stops the pipeline.
public struct AppSource: Sendable {
  /// The pipeline that the appsrc is in.
  public let pipeline: Pipeline
  /// The appsrc, for its properties.
  public let element: PipelineElement
  private let wakeUps = WakeUps()

  init(_ element: PipelineElement, in pipeline: Pipeline) throws(PipelineError) {
    guard element.kind == "appsrc" else { throw .noSuchElement(element.name) }
    (self.element, self.pipeline) = (element, pipeline)
    // Makes appsrc emit need-data when its queue is half empty, rather than empty.
    if try element.get("min-percent") == .uint(0) { try element.set("min-percent", 50) }
    try element.connect("need-data") { [wakeUps] _ in
      wakeUps.wakeAll()
      return nil
    }
  }

  /// Sends a buffer, once there is room in the queue.
  /// - Throws: `element` for an error that an element posted; `flow` after the end of the stream; `stopped` or
  ///   `cancelled`.
  public func send(_ buffer: consuming Buffer) async throws(PipelineError) {
    try await waitForRoom()
    let raw = unsafe buffer.take()
    let flow = unsafe cgst_app_src_push_buffer(element.raw, raw)
    unsafe unref(raw)
    try check(flow)
  }

  /// Sends a buffer with its caps, which become the stream's, once there is room in the queue.
  /// - Throws: `element` for an error that an element posted; `flow` after the end of the stream; `stopped` or
  ///   `cancelled`.
  public func send(_ sample: Sample) async throws(PipelineError) {
    try await waitForRoom()
    try check(unsafe cgst_app_src_push_sample(element.raw, sample.raw))
  }

  /// Sends all buffers of a sequence, such as another pipeline's `AppSink`, then ends the stream.
  public func send<Samples: AsyncSequence>(all samples: Samples) async throws where Samples.Element == Sample {
    for try await sample in samples { try await send(sample) }
    try finish()
  }

  /// Ends the stream: nothing more can be sent. `Pipeline.messages` ends when the sinks have reached the end.
  /// - Throws: `element` for an error that an element posted; `stopped` or `cancelled`.
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
      // Read once the waiter exists, so that no wake-up is missed.
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
