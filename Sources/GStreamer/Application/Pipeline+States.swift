// SPDX-License-Identifier: MPL-2.0
import CGStreamer

extension Pipeline {
  /// The state that was reached.
  public var state: State { states.current }
  /// The state on the way to which the pipeline is, `null` when it has arrived.
  var pendingState: State { states.pending }

  private var states: (current: State, pending: State) {
    var (current, pending) = (GST_STATE_NULL, GST_STATE_NULL)
    unsafe gst_element_get_state(raw, &current, &pending, 0)
    return (State(current), State(pending))
  }

  /// Lets data flow.
  ///
  /// Returns when all elements have been told, before the first buffer has come through.
  /// - Throws: `element`, what an element posted, or `stateChange`.
  public func play() async throws(PipelineError) { try await go(to: .playing) }

  /// Holds data flow.
  ///
  /// Returns when all elements have been told; see `preroll`.
  /// - Throws: `element`, what an element posted, or `stateChange`.
  public func pause() async throws(PipelineError) { try await go(to: .paused) }

  /// Pauses, and waits until every sink has its first buffer: formats, duration and position are known then, and it
  /// can be sought.
  ///
  /// A live pipeline has no buffers while it is paused; it is ready at once. Input of an `AppSource` must come from
  /// another task.
  /// - Throws: `element`, what an element posted, `stateChange`, `stopped` or `cancelled`.
  public func preroll() async throws(PipelineError) {
    try await go(to: .paused)
    try await settle()
  }

  /// Ends data flow and gives back all that the elements hold. The pipeline can be played again, from the beginning.
  ///
  /// Returns when all threads of the pipeline have ended.
  public func stop() async {
    hub.stop(isCancelled: false)
    await onOtherThread { [reference] in
      _ = unsafe gst_element_set_state(reference.element, GST_STATE_NULL)
    }
  }

  /// Plays to the end of the stream and stops.
  ///
  /// - Throws: `element`, what an element posted; `cancelled` when the task was cancelled; `stopped` when another task
  ///   stopped the pipeline. It has stopped in any case.
  public func run() async throws(PipelineError) {
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

  /// Tells sources that the input ends, and waits until the end has come through all sinks: the way to end a recording
  /// so that its file is whole. The pipeline must be playing.
  /// - Throws: `element`, what an element posted, `stopped` or `cancelled`.
  public func finish() async throws(PipelineError) {
    var messages = messages.makeAsyncIterator()
    await onOtherThread { [reference] in reference.endStream() }
    while try await messages.next() != nil {}
    if case .stopped(let isCancelled) = hub.phase { throw isCancelled ? .cancelled : .stopped }
  }

  /// Ends the stream behind an element, or that of the sources in a bin, and does not wait: for sources that go on for
  /// ever inside other elements, where `finish` does not reach them.
  public func endStream(behind element: PipelineElement) async {
    await onOtherThread { element.reference.endStream() }
  }

  private func go(to state: State) async throws(PipelineError) {
    if Task.isCancelled { throw .cancelled }
    if self.state == .null, pendingState == .null {
      hub.prepare()
    } else if case .failed(let failure) = hub.phase {
      // What was posted while nobody waited still counts: nothing moves any more.
      await stop()
      throw .element(failure)
    }
    let result = await onOtherThread { [reference] in
      unsafe gst_element_set_state(reference.element, state.raw)
    }
    guard result != GST_STATE_CHANGE_FAILURE else {
      let phase = hub.phase
      await stop()
      if case .failed(let failure) = phase { throw .element(failure) }
      throw .stateChange(state)
    }
    hub.start()
  }

  /// Waits until a state change or a seek is done.
  func settle() async throws(PipelineError) {
    let result = await endingOnCancellation(isolation: #isolation) {
      await onOtherThread { [reference, hub] in
        while true {
          // An error in a streaming thread does not end the wait: look for one now and then.
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
    case .idle, .running, .ended: if result == GST_STATE_CHANGE_FAILURE { throw .stateChange(.paused) }
    }
  }

  // MARK: Threads

  /// Begins to stop, from any thread, a streaming thread included.
  func requestStop(isCancelled: Bool) {
    hub.stop(isCancelled: isCancelled)
    unsafe gst_element_call_async(
      raw, { element, _ in unsafe gst_element_set_state(element, GST_STATE_NULL) }, nil, nil)
  }

  /// Waits for something that the pipeline brings; cancellation ends the pipeline, which ends the wait.
  func endingOnCancellation<Result>(
    isolation: isolated (any Actor)?, _ body: () async -> Result
  ) async -> Result {
    await withTaskCancellationHandler(operation: body, onCancel: { requestStop(isCancelled: true) })
  }

  /// Runs what may block on a thread of GStreamer's own pool: tasks' threads are few.
  func onOtherThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
      let job = unsafe Unmanaged.passRetained(Job { continuation.resume(returning: body()) })
      unsafe gst_element_call_async(
        raw,
        { _, data in if let data = unsafe data { unsafe Unmanaged<Job>.fromOpaque(data).takeUnretainedValue().body() }
        },
        job.toOpaque(),
        { data in if let data = unsafe data { unsafe Unmanaged<Job>.fromOpaque(data).release() } })
    }
  }
}

private final class Job: Sendable {
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

extension ObjectReference {
  /// Tells an element that the stream ends, a bin by telling each of its sources once.
  ///
  /// Not the bin itself: it would keep its state lock until a push that is under way is over, which itself may wait in a
  /// sink for the bin to change its state. Bins that have a way of their own with events, such as `rtspsrc`, are told.
  fileprivate func endStream() {
    guard unsafe cgst_is_plain_bin(raw) != 0 else {
      _ = unsafe gst_element_send_event(element, gst_event_new_eos())
      return
    }
    guard let sources = unsafe gst_bin_iterate_sources(raw.assumingMemoryBound(to: GstBin.self)) else { return }
    defer { unsafe gst_iterator_free(sources) }
    // Held, so that none of their addresses becomes another's.
    var told: [ObjectReference] = []
    while true {
      var item = GValue()
      defer { unsafe g_value_unset(&item) }
      switch unsafe gst_iterator_next(sources, &item) {
      case GST_ITERATOR_OK:
        guard let source = unsafe g_value_get_object(&item),
          !told.contains(where: { unsafe $0.raw == UnsafeMutableRawPointer(source) })
        else { continue }
        let reference = unsafe ObjectReference(retaining: source)
        told.append(reference)
        reference.endStream()
      case GST_ITERATOR_RESYNC: unsafe gst_iterator_resync(sources)
      default: return
      }
    }
  }
}
