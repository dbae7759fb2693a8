// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import Synchronization

/// The input of a pipeline at an `appsrc`.
///
/// Set its `caps` in the description or with `element.set("caps", …)`, and `format=time` for buffers with timestamps.
/// One task may send; it waits while `max-bytes`, `max-buffers` or `max-time` are queued. `block` must be off, as it
/// is by default: tasks wait here, not threads. Cancelling the task stops the pipeline. A stream that can be sought is
/// not sent but served: ``serve(isolation:_:)``.
public struct AppSource: Sendable {
  /// The pipeline that the appsrc is in.
  public let pipeline: Pipeline
  /// The appsrc, for its properties.
  public let element: PipelineElement
  private let wakeUps = WakeUps()
  private let demand = Demand()

  /// The requests of the appsrc.
  private final class Demand: Sendable {
    struct State {
      /// The number of seeks, including the seek at every start of a seekable stream.
      var seeks = 0
      /// The target of the last seek.
      var position: UInt64 = 0
      /// Whether data was requested since: data queued between a seek's signal and its flush is lost.
      var wantsData = false
    }
    let state = Mutex(State())
  }

  init(_ element: PipelineElement, in pipeline: Pipeline) throws(PipelineError) {
    guard element.kind == "appsrc" else {
      throw .wrongKind(element: element.name, kind: element.kind, expected: "appsrc")
    }
    (self.element, self.pipeline) = (element, pipeline)
    // A push that waited would hold what the seek waits for that ends the wait.
    try element.set("block", false)
    // Makes appsrc emit need-data when its queue is half empty, rather than empty.
    if try element.get("min-percent") == .uint(0) { try element.set("min-percent", 50) }
    try element.connect("need-data") { [wakeUps, demand] _ in
      demand.state.withLock { $0.wantsData = true }
      wakeUps.wakeAll()
      return nil
    }
    try element.connect("seek-data") { [wakeUps, demand] arguments in
      guard case .uint64(let position) = arguments[0] else { return false }
      // Never refused, even if no task serves it: GstBaseParse may free its record of a refused flushing seek twice.
      demand.state.withLock { state in
        state.seeks += 1
        (state.position, state.wantsData) = (position, false)
      }
      wakeUps.wakeAll()
      return true
    }
  }

  /// Sends a buffer, once there is room in the queue.
  /// - Throws: `element` for an error that an element posted, `flow` after the end of the stream, `stopped` or
  ///   `cancelled`.
  public func send(_ buffer: consuming Buffer) async throws(PipelineError) {
    try await waitForRoom()
    let raw = unsafe buffer.take()
    let flow = unsafe cgst_app_src_push_buffer(element.raw, raw)
    unsafe unref(raw)
    try check(flow)
  }

  /// Sends several buffers together, when there is room in the queue. An empty list sends nothing.
  /// - Throws: `element` for an error that an element posted, `flow` after the end of the stream, `stopped` or
  ///   `cancelled`.
  public func send(_ list: consuming BufferList) async throws(PipelineError) {
    if list.isEmpty { return }
    try await waitForRoom()
    try check(unsafe cgst_app_src_push_buffer_list(element.raw, list.raw))
  }

  /// Sends a buffer with its caps, which become the stream's, once there is room in the queue.
  /// - Throws: `element` for an error that an element posted, `flow` after the end of the stream, `stopped` or
  ///   `cancelled`.
  public func send(_ sample: Sample) async throws(PipelineError) {
    try await waitForRoom()
    try check(unsafe cgst_app_src_push_sample(element.raw, sample.raw))
  }

  /// Sends an event behind the buffers that were sent before, such as the start of another stream, at which decoders
  /// drain.
  /// - Throws: `element` for an error that an element posted, `flow` for an event that cannot be sent, `stopped` or
  ///   `cancelled`.
  public func send(_ event: consuming Event) throws(PipelineError) {
    if unsafe gst_element_send_event(element.raw, event.take()) == 0 { try check(GST_FLOW_ERROR) }
  }

  /// Sends all buffers of a sequence, such as another pipeline's `AppSink`, then ends the stream.
  public func send<Samples: AsyncSequence>(all samples: Samples) async throws where Samples.Element == Sample {
    for try await sample in samples { try await send(sample) }
    try finish()
  }

  /// Ends the stream: nothing more can be sent. `Pipeline.messages` ends when the sinks have reached the end.
  /// - Throws: `element` for an error that an element posted; `stopped` or `cancelled`.
  public func finish() throws(PipelineError) { try check(unsafe cgst_app_src_end_of_stream(element.raw)) }

  /// Sends a stream that can be read from anywhere: from its beginning, and again from wherever a seek goes, until the
  /// pipeline stops.
  ///
  /// The appsrc needs `stream-type=seekable`, and `size` in bytes or `duration`, by its `format`, for the pipeline to
  /// compute how far it can seek. One task may serve; it waits while the queue is full, and behind the end of the
  /// stream for a seek. Cancelling it stops the pipeline.
  /// - Parameters:
  ///   - isolation: the actor that `read` runs on, the caller's.
  ///   - read: makes the buffer at a position, in bytes or nanoseconds by the appsrc's `format`, and moves the
  ///     position to the next; `nil` at the end of the stream. After a seek, the position is the seek's target.
  /// - Throws: `PipelineError.element` for an error that an element posted, `flow`, or `cancelled`; what `read` throws.
  public func serve(
    isolation: isolated (any Actor)? = #isolation, _ read: (inout UInt64) async throws -> Buffer?
  ) async throws {
    let waiter = WakeUps.Waiter([wakeUps, pipeline.hub.wakeUps])
    // Differs from any count of seeks, so that the first position is taken too.
    var seeks = -1
    var position: UInt64 = 0
    var isAtEnd = false
    while true {
      let state = demand.state.withLock(\.self)
      switch pipeline.hub.phase {
      case .failed(let failure): throw PipelineError.element(failure)
      case .stopped(let isCancelled):
        if isCancelled { throw PipelineError.cancelled }
        return
      case .idle, .running, .ended: break
      }
      if state.seeks != seeks { (seeks, position, isAtEnd) = (state.seeks, state.position, false) }
      guard !isAtEnd, state.wantsData, isRoom, !Task.isCancelled else {
        await pipeline.endingOnCancellation(isolation: isolation) { await waiter.wait(isolation: isolation) }
        continue
      }
      let start = position
      let buffer = try await read(&position)
      isAtEnd = buffer == nil
      let flow = push(buffer, unlessSoughtSince: seeks)
      if flow == GST_FLOW_FLUSHING {
        // A seek is about to come, or the pipeline is stopping; where neither does, this position is read again.
        (position, isAtEnd) = (start, false)
      } else {
        try check(flow)
      }
    }
  }

  /// Queues a buffer, or the end of the stream, unless there was a seek that it does not belong to.
  private func push(_ buffer: consuming Buffer?, unlessSoughtSince seeks: Int) -> GstFlowReturn {
    let raw =
      switch consume buffer {
      case .some(let buffer): unsafe Optional(buffer.take())
      case .none: unsafe UnsafeMutablePointer<GstBuffer>?.none
      }
    defer { if let raw = unsafe raw { unsafe unref(raw) } }
    // Locked until it is queued: a seek that comes then empties the queue.
    return demand.state.withLock { state in
      guard state.seeks == seeks else { return GST_FLOW_OK }
      let flow =
        if let raw = unsafe raw { unsafe cgst_app_src_push_buffer(element.raw, raw) } else {
          unsafe cgst_app_src_end_of_stream(element.raw)
        }
      if flow == GST_FLOW_FLUSHING { state.wantsData = false }
      return flow
    }
  }

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
    ["bytes", "buffers", "time"].allSatisfy { unit in
      guard let level = try? element.get("current-level-\(unit)").integer,
        let limit = try? element.get("max-\(unit)").integer
      else { return true }
      return limit == 0 || level < limit
    }
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
