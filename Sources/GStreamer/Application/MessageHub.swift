// SPDX-License-Identifier: MPL-2.0
import Synchronization

/// Where the messages of a pipeline arrive, on whatever thread posts them, and from where they go to the tasks that
/// iterate over them. It knows what has become of the pipeline.
final class MessageHub: Sendable {
  /// What has become of the pipeline.
  enum Phase: Sendable {
    /// Not started.
    case idle
    /// Its elements are paused or playing.
    case running
    /// All sinks have come to the end.
    case ended
    /// An element posted an error.
    case failed(ElementFailure)
    /// Stopped by the application.
    case stopped(isCancelled: Bool)
  }

  private struct State {
    var phase = Phase.idle
    var listeners: [Int: AsyncStream<Message>.Continuation] = [:]
    var next = 0
    /// What came before anybody listened.
    var early: [Message] = []
  }

  private static let mostEarlyMessages = 1024

  private let state = Mutex(State())
  /// Called when the phase changes.
  let wakeUps = WakeUps()

  var phase: Phase { state.withLock { $0.phase } }

  /// Data flow has begun; it may have ended by now.
  func start() { change { if case .idle = $0 { $0 = .running } } }

  /// A new run begins after the pipeline was stopped.
  func prepare() {
    change {
      switch $0 {
      case .stopped, .failed: $0 = .idle
      case .idle, .running, .ended: break
      }
    }
  }

  /// The end is taken back by a seek.
  func resume() { change { if case .ended = $0 { $0 = .running } } }

  /// The pipeline stops; everyone who waits for it ends.
  func stop(isCancelled: Bool) {
    let listeners = state.withLock { state in
      switch state.phase {
      case .stopped, .failed: break
      case .idle, .running, .ended: state.phase = .stopped(isCancelled: isCancelled)
      }
      state.early = []
      defer { state.listeners = [:] }
      return Array(state.listeners.values)
    }
    for listener in listeners { listener.finish() }
    wakeUps.wakeAll()
  }

  private func change(_ body: (inout Phase) -> Void) {
    state.withLock { body(&$0.phase) }
    wakeUps.wakeAll()
  }

  /// A message was posted.
  func post(_ message: Message) {
    let finished: [AsyncStream<Message>.Continuation] = state.withLock { state in
      // An error has others in its train: the first is the reason.
      if case .failed = state.phase { return [] }
      var isLast = false
      switch (message.content, state.phase) {
      case (.error(let failure), .idle), (.error(let failure), .running), (.error(let failure), .ended):
        state.phase = .failed(failure)
        isLast = true
      case (.endOfStream, .idle), (.endOfStream, .running):
        state.phase = .ended
        isLast = true
      default: break
      }
      // Whoever listens later is told the end by the phase.
      if state.listeners.isEmpty, !isLast {
        if state.early.count == Self.mostEarlyMessages { state.early.removeFirst() }
        state.early.append(message)
      }
      for listener in state.listeners.values { listener.yield(message) }
      guard isLast else { return [] }
      defer { state.listeners = [:] }
      return Array(state.listeners.values)
    }
    for listener in finished { listener.finish() }
    switch message.content {
    case .error, .endOfStream: wakeUps.wakeAll()
    default: break
    }
  }

  /// Messages from now on, and those that came before anybody listened; ends behind the end of the stream or an error.
  func listen() -> AsyncStream<Message> {
    let (stream, continuation) = AsyncStream.makeStream(of: Message.self)
    let key: Int? = state.withLock { state in
      for message in state.early { continuation.yield(message) }
      state.early = []
      switch state.phase {
      case .idle, .running:
        defer { state.next &+= 1 }
        state.listeners[state.next] = continuation
        return state.next
      case .ended:
        continuation.yield(Message(source: "", isFromPipeline: true, content: .endOfStream))
      case .failed(let failure):
        continuation.yield(Message(source: failure.source, isFromPipeline: false, content: .error(failure)))
      case .stopped: break
      }
      return nil
    }
    if let key {
      continuation.onTermination = { [weak self] _ in
        _ = self?.state.withLock { $0.listeners.removeValue(forKey: key) }
      }
    } else {
      continuation.finish()
    }
    return stream
  }
}
