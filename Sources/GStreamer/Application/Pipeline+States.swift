// SPDX-License-Identifier: MPL-2.0
import CGStreamer

extension Pipeline {
  /// The current state.
  public var state: State { states.current }
  /// The state that is being changed to; `null` when no change is pending.
  var pendingState: State { states.pending }

  private var isNull: Bool {
    let states = states
    return states.current == .null && states.pending == .null
  }

  private var states: (current: State, pending: State) {
    var (current, pending) = (GST_STATE_NULL, GST_STATE_NULL)
    unsafe gst_element_get_state(raw, &current, &pending, 0)
    return (State(current), State(pending))
  }

  /// Starts data flow.
  ///
  /// Does not wait until the first buffer reaches a sink.
  /// - Throws: `element` for an error that an element posted, or `stateChange`.
  public func play() async throws(PipelineError) { try await go(to: .playing) }

  /// Pauses data flow.
  ///
  /// Does not wait until the sinks have a buffer; see `preroll`.
  /// - Throws: `element` for an error that an element posted, or `stateChange`.
  public func pause() async throws(PipelineError) { try await go(to: .paused) }

  /// Pauses, and waits until every sink has its first buffer: caps, duration and position are known then, and the
  /// stream can be sought.
  ///
  /// A live pipeline has no buffers while paused, and this returns immediately. Buffers for an `AppSource` must be
  /// sent by another task.
  /// - Throws: `element` for an error that an element posted, `stateChange`, `stopped` or `cancelled`.
  public func preroll() async throws(PipelineError) {
    try await go(to: .paused)
    try await settle()
  }

  /// Ends data flow and releases the elements' resources. The pipeline can be played again, from the beginning.
  ///
  /// Returns when all streaming threads have ended.
  public func stop() async {
    hub.stop(isCancelled: false)
    await onOtherThread { [reference] in
      _ = unsafe gst_element_set_state(reference.element, GST_STATE_NULL)
    }
  }

  /// Plays to the end of the stream and stops.
  ///
  /// - Throws: `element` for an error that an element posted, `cancelled` if the task was cancelled, `stopped` if
  ///   another task stopped the pipeline, and `empty` without elements. It is stopped in any case.
  public func run() async throws(PipelineError) {
    try checkHasElements()
    do throws(PipelineError) {
      try await play()
      var messages = messages.makeAsyncIterator()
      while try await messages.next() != nil {}
      let phase = hub.phase
      await stop()
      if case .stopped(let isCancelled) = phase { throw isCancelled ? .cancelled : .stopped }
    } catch {
      await stop()
      throw error
    }
  }

  /// Ends the stream at the sources, and waits until all sinks have reached the end: completes the file of a recording.
  /// - Throws: `notPlaying` unless the pipeline plays: otherwise no sink reaches the end. `element` for an error that
  ///   an element posted, `stopped`, `cancelled`, or `empty` without elements.
  public func finish() async throws(PipelineError) {
    try checkHasElements()
    if case .stopped(let isCancelled) = hub.phase { throw isCancelled ? .cancelled : .stopped }
    guard unsafe reference.element.pointee.target_state == GST_STATE_PLAYING else { throw .notPlaying }
    var messages = messages.makeAsyncIterator()
    await onOtherThread { [reference] in reference.endStream() }
    while try await messages.next() != nil {}
    if case .stopped(let isCancelled) = hub.phase { throw isCancelled ? .cancelled : .stopped }
  }

  /// Ends the stream at an element, or at the sources in a bin, without waiting: for endless sources inside other
  /// elements, which `finish` does not reach.
  public func endStream(at element: PipelineElement) async {
    await onOtherThread { element.reference.endStream() }
  }

  private func go(to state: State) async throws(PipelineError) {
    if Task.isCancelled { throw .cancelled }
    if !isNull {
      switch hub.phase {
      // The error was posted while no task waited; the pipeline can do no more.
      case .failed(let failure):
        await stop()
        throw .element(failure)
      // A cancelled task requested it; NULL is still to come.
      case .stopped: await stop()
      case .idle, .running, .ended: break
      }
    }
    if isNull { await onOtherThread { [hub] in hub.prepare() } }
    let result = await onOtherThread { [reference] in
      unsafe gst_element_set_state(reference.element, state.raw)
    }
    if result == GST_STATE_CHANGE_FAILURE { throw await failure(to: state) }
    hub.start()
  }

  /// The reason the pipeline does not get to a state; it is stopped.
  private func failure(to state: State) async -> PipelineError {
    // The state may have failed before the error is posted; it has been when no streaming thread runs any more.
    await onOtherThread { [reference] in _ = unsafe gst_element_set_state(reference.element, GST_STATE_NULL) }
    let phase = hub.phase
    await stop()
    return switch phase {
    case .failed(let failure): .element(failure)
    case .stopped(let isCancelled): isCancelled ? .cancelled : .stopped
    case .idle, .running, .ended: .stateChange(state)
    }
  }

  /// Waits until a state change or seek is complete.
  func settle() async throws(PipelineError) {
    let result = await endingOnCancellation(isolation: #isolation) {
      await onOtherThread { [reference, hub] in
        while true {
          // An error in a streaming thread does not end the wait: check for one every 20 ms.
          let result = unsafe gst_element_get_state(reference.element, nil, nil, 20_000_000)
          guard result == GST_STATE_CHANGE_ASYNC else { return result }
          switch hub.phase {
          case .idle, .running, .ended: continue
          case .failed, .stopped: return GST_STATE_CHANGE_FAILURE
          }
        }
      }
    }
    switch hub.phase {
    case .failed(let failure):
      await stop()
      throw .element(failure)
    case .stopped(let isCancelled): throw isCancelled ? .cancelled : .stopped
    case .idle, .running, .ended: if result == GST_STATE_CHANGE_FAILURE { throw await failure(to: .paused) }
    }
  }

  // MARK: Threads

  /// Stops without waiting, from any thread, streaming threads included.
  func requestStop(isCancelled: Bool) {
    let run = hub.stop(isCancelled: isCancelled)
    reference.callAsync { [reference, hub] in
      hub.stop(run: run) { _ = unsafe gst_element_set_state(reference.element, GST_STATE_NULL) }
    }
  }

  /// Calls a function that waits for the pipeline; cancellation stops the pipeline, which ends the wait.
  func endingOnCancellation<Result>(
    isolation: isolated (any Actor)?, _ body: () async -> Result
  ) async -> Result {
    await withTaskCancellationHandler(operation: body, onCancel: { requestStop(isCancelled: true) })
  }

  /// Calls a function that may block on a thread of GStreamer's pool: Swift's has few threads.
  func onOtherThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
      reference.callAsync { continuation.resume(returning: body()) }
    }
  }
}

private final class Job: Sendable {
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

extension ObjectReference {
  /// Calls a function on a thread of GStreamer's pool; the element lives until it returns.
  fileprivate func callAsync(_ body: @escaping @Sendable () -> Void) {
    let job = unsafe Unmanaged.passRetained(Job(body))
    unsafe gst_element_call_async(
      element,
      { _, data in if let data = unsafe data { unsafe Unmanaged<Job>.fromOpaque(data).takeUnretainedValue().body() } },
      job.toOpaque(),
      { data in if let data = unsafe data { unsafe Unmanaged<Job>.fromOpaque(data).release() } })
  }

  /// Ends the stream at an element, or once at each source of a bin.
  ///
  /// The event is not sent to the bin itself, which would hold its state lock until a push in progress returns. That
  /// push may wait in a sink for the bin to change its state. Bins that handle events themselves, such as `rtspsrc`,
  /// get the event.
  fileprivate func endStream() {
    guard unsafe cgst_is_plain_bin(raw) != 0 else {
      _ = unsafe gst_element_send_event(element, gst_event_new_eos())
      return
    }
    guard let sources = unsafe gst_bin_iterate_sources(raw.assumingMemoryBound(to: GstBin.self)) else { return }
    defer { unsafe gst_iterator_free(sources) }
    // Referenced, so that no address is reused.
    var notified: [ObjectReference] = []
    while true {
      var item = GValue()
      defer { unsafe g_value_unset(&item) }
      switch unsafe gst_iterator_next(sources, &item) {
      case GST_ITERATOR_OK:
        guard let source = unsafe g_value_get_object(&item),
          !notified.contains(where: { unsafe $0.raw == UnsafeMutableRawPointer(source) })
        else { continue }
        let reference = unsafe ObjectReference(retaining: source)
        notified.append(reference)
        reference.endStream()
      case GST_ITERATOR_RESYNC: unsafe gst_iterator_resync(sources)
      default: return
      }
    }
  }
}
