// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import Synchronization

/// The buffers that reach an `appsink` of a pipeline.
///
/// ```swift
/// for try await sample in try pipeline.appSink("pictures") { … }
/// ```
///
/// Buffers come once the pipeline plays, including the buffer that it has prerolled with. The sequence ends at the
/// end of the stream and when the pipeline is stopped, and throws errors that elements post. At most `max-buffers`
/// buffers wait to be fetched (4 unless set); then the pipeline waits, or drops the oldest with `drop=true`.
/// Cancelling the task that waits for a buffer stops the pipeline and ends the sequence; `Task.isCancelled`
/// distinguishes this from the end of the stream. If several tasks iterate, each buffer goes to one of them.
public struct AppSink: AsyncSequence, Sendable {
  /// A buffer with its caps.
  public typealias Element = Sample
  /// The error that iteration throws.
  public typealias Failure = PipelineError

  /// The pipeline that the appsink is in.
  public let pipeline: Pipeline
  /// The appsink, for its properties.
  public let element: PipelineElement
  private let wakeUps = WakeUps()

  init(_ element: PipelineElement, in pipeline: Pipeline) throws(PipelineError) {
    guard element.kind == "appsink" else {
      throw .wrongKind(element: element.name, kind: element.kind, expected: "appsink")
    }
    (self.element, self.pipeline) = (element, pipeline)
    try element.set("emit-signals", true)
    if try element.get("max-buffers") == .uint(0) { try element.set("max-buffers", 4) }
    for signal in ["new-sample", "eos"] {
      try element.connect(signal) { [wakeUps] _ in
        wakeUps.wakeAll()
        return nil
      }
    }
  }

  /// Calls a handler with each buffer on its streaming thread, so that no task is woken for it. When the handler
  /// returns false, it is not called again, and the appsink returns flushing upstream. To be called before the
  /// pipeline plays.
  /// - Throws: `noSuchSignal`, which an appsink never causes.
  package func onSample(_ handler: @escaping @Sendable (Sample) -> Bool) throws(PipelineError) {
    let flushing = FieldValue.int(FlowError.flushing.rawValue)
    let hasEnded = Atomic(false)
    try element.connect("new-sample") { [element] _ in
      guard let sample = unsafe cgst_app_sink_try_pull(element.raw, 0) else { return nil }
      let buffer = unsafe Sample(owning: sample)
      // Elements may push on after an error.
      guard !hasEnded.load(ordering: .relaxed) else { return flushing }
      guard handler(buffer) else {
        hasEnded.store(true, ordering: .relaxed)
        return flushing
      }
      return nil
    }
  }

  /// The buffer that a paused pipeline has prerolled with, once; it comes again when the pipeline plays. `nil` when
  /// there is none.
  package func takePreroll() -> Sample? {
    unsafe cgst_app_sink_try_pull_preroll(element.raw, 0).map { unsafe Sample(owning: $0) }
  }

  /// An iterator over the buffers to come.
  public func makeAsyncIterator() -> Iterator {
    Iterator(sink: self, waiter: WakeUps.Waiter([wakeUps, pipeline.hub.wakeUps]))
  }

  /// Fetches the buffers.
  public struct Iterator: AsyncIteratorProtocol {
    let sink: AppSink
    let waiter: WakeUps.Waiter

    /// The next buffer, `nil` after the last.
    /// - Throws: `PipelineError.element` for an error that an element posted.
    public mutating func next(
      isolation: isolated (any Actor)? = #isolation
    ) async throws(PipelineError) -> Sample? {
      let pipeline = sink.pipeline
      while true {
        let phase = pipeline.hub.phase
        // Read before the pull: after the end no further buffer can come.
        let isAtEnd = sink.isAtEnd
        if case .stopped = phase { return nil }
        if let sample = unsafe cgst_app_sink_try_pull(sink.element.raw, 0) { return unsafe Sample(owning: sample) }
        switch phase {
        case .failed(let failure): throw .element(failure)
        case .running, .ended: if isAtEnd { return nil }
        case .idle, .stopped: break
        }
        await pipeline.endingOnCancellation(isolation: isolation) { await waiter.wait(isolation: isolation) }
      }
    }
  }

  /// Whether the stream has ended and all buffers were fetched; true for an appsink before it is started, too.
  private var isAtEnd: Bool { (try? element.get("eos")) == .boolean(true) }
}
