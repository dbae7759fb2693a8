// SPDX-License-Identifier: MPL-2.0
import CLinux
import Glibc
import H26x

/// Verifies slices on a thread of its own while the codec decodes them, in decoding order.
///
/// One caller at a time. The thread ends with the verifier.
@safe final class SliceVerifier {
  private struct State {
    /// The access units that wait, the oldest first.
    var tasks: [SliceTask] = []
    /// The access unit that is being read; nil if its verdict is not wanted any more.
    var current: UInt64?
    /// The verdicts that have not been fetched.
    var verdicts: [SliceVerdict] = []
    /// Counts calls of `discard`.
    var generation: UInt64 = 0
    var isEnding = false

    /// The oldest access unit without a verdict.
    var oldest: UInt64? { current ?? tasks.first?.index }
  }

  /// Access units that may wait, at most: the caller then waits for the first of them.
  private static let limit = 32

  private let state: Monitor<State>
  /// Nil if no thread could be made: the caller's verifies.
  private let thread: pthread_t?
  private let packaging: NALPackaging

  init(_ packaging: NALPackaging) {
    self.packaging = packaging
    state = Monitor(State())
    let worker = unsafe Unmanaged.passRetained(Worker(state, packaging))
    var thread = pthread_t()
    let error = unsafe pthread_create(
      &thread, nil,
      { data in
        if let data = unsafe data { unsafe Unmanaged<Worker>.fromOpaque(data).takeRetainedValue().run() }
        return nil
      }, worker.toOpaque())
    if error != 0 { unsafe worker.release() }
    self.thread = error == 0 ? thread : nil
  }

  deinit {
    state.withLock { $0.isEnding = true }
    if let thread { pthread_join(thread, nil) }
  }

  /// Has the slices of an access unit verified. Their numbers rise.
  func verify(_ task: SliceTask) {
    guard thread != nil else {
      var verification = SliceVerification(packaging)
      if let verdict = verification.verdict(on: task) { state.withLock { $0.verdicts.append(verdict) } }
      return
    }
    state.wait { state -> Void? in
      guard state.tasks.count < Self.limit else { return nil }
      state.tasks.append(task)
      return ()
    }
  }

  /// The verdicts on the access units up to `index`, when all of these are known. Each comes once.
  func verdicts(upTo index: UInt64) -> [SliceVerdict] {
    state.wait { state in
      guard state.oldest.map({ $0 > index }) ?? true else { return nil }
      guard !state.verdicts.isEmpty else { return [] }
      let count = state.verdicts.firstIndex { $0.task.index > index } ?? state.verdicts.count
      defer { state.verdicts.removeFirst(count) }
      return Array(state.verdicts[..<count])
    }
  }

  /// Nobody wants the verdicts on the access units so far any more.
  func discard() {
    state.withLock { state in
      state.generation &+= 1
      state.tasks.removeAll()
      state.verdicts.removeAll()
      state.current = nil
    }
  }

  /// The thread's function, and what it needs.
  private final class Worker: Sendable {
    private let state: Monitor<State>
    private let packaging: NALPackaging

    init(_ state: Monitor<State>, _ packaging: NALPackaging) { (self.state, self.packaging) = (state, packaging) }

    func run() {
      // The application's handlers run on its own threads.
      var signals = sigset_t()
      unsafe sigfillset(&signals)
      unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
      var verification = SliceVerification(packaging)
      var lastGeneration: UInt64 = 0
      while let (task, generation) = next() {
        if generation != lastGeneration { verification.forgetLeftovers() }
        lastGeneration = generation
        let verdict = verification.verdict(on: task) {
          state.withLock(notifies: false) { $0.isEnding || $0.generation != generation }
        }
        state.withLock { state in
          guard state.generation == generation else { return }
          state.current = nil
          if let verdict { state.verdicts.append(verdict) }
        }
      }
    }

    /// The next access unit; nil when the thread ends.
    private func next() -> (SliceTask, generation: UInt64)? {
      state.wait { state -> (SliceTask, generation: UInt64)?? in
        if state.isEnding { return .some(nil) }
        guard !state.tasks.isEmpty else { return nil }
        let task = state.tasks.removeFirst()
        state.current = task.index
        return (task, state.generation)
      }
    }
  }
}
