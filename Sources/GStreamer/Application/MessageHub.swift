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
    /// The sequence numbers of flushing seeks that are being carried out.
    var seeks: [UInt32] = []
    var listeners: [Int: AsyncStream<Message>.Continuation] = [:]
    var next = 0
    /// What came before anybody listened.
    var early: [Message] = []

    /// Keeps a message that nobody has listened to, the newest 1,024 of them.
    mutating func keep(_ message: Message) {
      if early.count == 1024 { early.removeFirst() }
      early.append(message)
    }
  }

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

  /// A flushing seek begins. An end of the stream that is posted before it is done, and that does not come from it, is
  /// the end that the seek takes back.
  func beginSeek(_ number: UInt32) { state.withLock { $0.seeks.append(number) } }

  /// The seek was carried out, or refused.
  func endSeek(_ number: UInt32) {
    state.withLock { state in
      if let index = state.seeks.firstIndex(of: number) { state.seeks.remove(at: index) }
    }
  }

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
  ///
  /// Listeners are told without the lock: telling waits for the listener's task, and a task that is being cancelled
  /// waits for the lock, to stop the pipeline.
  ///
  /// - Parameter number: GStreamer's sequence number, by which an end belongs to a seek.
  func post(_ message: Message, number: UInt32 = 0) {
    var isLast = false
    let listeners: [Int: AsyncStream<Message>.Continuation] = state.withLock { state in
      // An error has others in its train: the first is the reason.
      if case .failed = state.phase { return [:] }
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
      // Whoever listens later is told the end by the phase.
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

  /// Messages from now on, and those that came before anybody listened; ends behind the end of the stream or an error.
  func listen() -> AsyncStream<Message> {
    let (stream, continuation) = AsyncStream.makeStream(of: Message.self)
    // A listener that has gone is found by the next message.
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
