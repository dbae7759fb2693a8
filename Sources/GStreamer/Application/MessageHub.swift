// SPDX-License-Identifier: MPL-2.0
import Synchronization

/// Receives the messages of a pipeline, on the threads that post them, and distributes them to the tasks that iterate
/// over them. Tracks the phase of the pipeline.
final class MessageHub: Sendable {
  /// The phase of a pipeline.
  enum Phase: Sendable {
    /// Not started.
    case idle
    /// Its elements are paused or playing.
    case running
    /// All sinks have reached the end of the stream.
    case ended
    /// An element posted an error.
    case failed(ElementFailure)
    /// Stopped by the application.
    case stopped(isCancelled: Bool)
  }

  private struct State {
    var phase = Phase.idle
    /// The number of runs so far.
    var run = 0
    /// The sequence numbers of flushing seeks in progress.
    var seeks: [UInt32] = []
    var listeners: [Int: AsyncStream<Message>.Continuation] = [:]
    var next = 0
    /// Messages posted without a listener.
    var early: [Message] = []

    /// Keeps a message without a listener; the newest 1,024 are kept.
    mutating func keep(_ message: Message) {
      if early.count == 1024 { early.removeFirst() }
      early.append(message)
    }
  }

  private let state = Mutex(State())
  /// Woken when the phase changes.
  let wakeUps = WakeUps()

  /// Held while a request to stop sets the state NULL, and while a run begins: a request that is late must not stop the
  /// next run. A set state may wait long, so that only GStreamer's threads take the lock.
  private let stopping = Mutex(())

  var phase: Phase { state.withLock { $0.phase } }

  /// The pipeline was started; the stream may have ended already.
  func start() { change { if case .idle = $0 { $0 = .running } } }

  /// Begins a new run of a pipeline whose state is NULL. May wait for a late request to stop.
  func prepare() {
    stopping.withLock { _ in
      state.withLock { state in
        state.run &+= 1
        switch state.phase {
        case .stopped, .failed: state.phase = .idle
        case .idle, .running, .ended: break
        }
      }
    }
    wakeUps.wakeAll()
  }

  /// Calls a function that sets the state NULL, unless a run began after this one. May wait.
  func stop(run: Int, _ setState: () -> Void) {
    stopping.withLock { _ in if state.withLock({ $0.run }) == run { setState() } }
  }

  /// A seek resumes data flow after the end of the stream. Returns whether the stream had ended.
  func resume() -> Bool {
    var hadEnded = false
    change {
      guard case .ended = $0 else { return }
      $0 = .running
      hadEnded = true
    }
    return hadEnded
  }

  /// A flushing seek begins. Until it is done, an end of stream with another sequence number predates the seek and is
  /// ignored.
  func beginSeek(_ number: UInt32) { state.withLock { $0.seeks.append(number) } }

  /// The seek is done, or was refused.
  func endSeek(_ number: UInt32) {
    state.withLock { state in
      if let index = state.seeks.firstIndex(of: number) { state.seeks.remove(at: index) }
    }
  }

  /// The pipeline stops; all iterations and waits end. Returns the number of the run that stops.
  @discardableResult
  func stop(isCancelled: Bool) -> Int {
    let (run, listeners) = state.withLock { state in
      switch state.phase {
      case .stopped, .failed: break
      case .idle, .running, .ended: state.phase = .stopped(isCancelled: isCancelled)
      }
      state.early = []
      defer { state.listeners = [:] }
      return (state.run, Array(state.listeners.values))
    }
    for listener in listeners { listener.finish() }
    wakeUps.wakeAll()
    return run
  }

  private func change(_ body: (inout Phase) -> Void) {
    state.withLock { body(&$0.phase) }
    wakeUps.wakeAll()
  }

  /// Processes a posted message.
  ///
  /// Yields to listeners without holding the lock: yielding waits for the listener's task, and a task that is being
  /// cancelled waits for the lock, to stop the pipeline.
  ///
  /// - Parameter number: GStreamer's sequence number, which an end of stream shares with its seek.
  func post(_ message: Message, number: UInt32 = 0) {
    var isLast = false
    let listeners: [Int: AsyncStream<Message>.Continuation] = state.withLock { state in
      switch state.phase {
      // Further errors are consequences of the first; messages of a stopped pipeline are no concern of its next run.
      case .failed, .stopped: return [:]
      case .idle, .running, .ended: break
      }
      if case .endOfStream = message.content, !state.seeks.isEmpty, !state.seeks.contains(number) { return [:] }
      switch (message.content, state.phase) {
      case (.error(let failure), .idle), (.error(let failure), .running), (.error(let failure), .ended):
        state.phase = .failed(failure)
        isLast = true
      case (.endOfStream, .idle), (.endOfStream, .running):
        state.phase = .ended
        isLast = true
      default: break
      }
      let listeners = state.listeners
      // Later listeners learn of the end by the phase.
      if listeners.isEmpty, !isLast { state.keep(message) }
      if isLast { state.listeners = [:] }
      return listeners
    }
    var gone: [Int] = []
    for (key, listener) in listeners {
      if case .terminated = listener.yield(message) { gone.append(key) }
      if isLast { listener.finish() }
    }
    if !gone.isEmpty, !isLast {
      state.withLock { state in
        for key in gone { state.listeners[key] = nil }
        if gone.count == listeners.count { state.keep(message) }
      }
    }
    switch message.content {
    case .error, .endOfStream: wakeUps.wakeAll()
    default: break
    }
  }

  /// The messages from now on, and those posted without a listener; ends after the end of the stream or an error.
  func listen() -> AsyncStream<Message> {
    // A listener that does not read loses the oldest messages; never the last message, which has its outcome.
    let (stream, continuation) = AsyncStream.makeStream(of: Message.self, bufferingPolicy: .bufferingNewest(1024))
    // A terminated listener is removed at the next message.
    let isListening = state.withLock { state in
      for message in state.early { continuation.yield(message) }
      state.early = []
      switch state.phase {
      case .idle, .running:
        state.listeners[state.next] = continuation
        state.next &+= 1
        return true
      case .ended:
        continuation.yield(Message(source: "", isFromPipeline: true, content: .endOfStream))
      case .failed(let failure):
        continuation.yield(Message(source: failure.source, isFromPipeline: false, content: .error(failure)))
      case .stopped: break
      }
      return false
    }
    if !isListening { continuation.finish() }
    return stream
  }
}
