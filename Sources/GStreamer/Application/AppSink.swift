// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// What comes out of a pipeline at an `appsink`, buffer by buffer.
///
/// ```swift
/// for try await sample in try pipeline.appSink("pictures") { … }
/// ```
///
/// The sequence ends with the stream and when the pipeline is stopped, and throws what an element posted as an error.
/// The pipeline waits when `max-buffers` buffers were not fetched yet (4 unless it was set; `drop=true` throws the
/// oldest away instead). Cancelling the task that waits for a buffer stops the pipeline. Several tasks may iterate,
/// each buffer goes to one of them.
public struct AppSink: AsyncSequence, Sendable {
  /// A buffer with its caps.
  public typealias Element = Sample
  /// What iterating throws.
  public typealias Failure = PipelineError

  /// The pipeline that it is in.
  public let pipeline: Pipeline
  /// The appsink, for its properties.
  public let element: PipelineElement
  private let wakeUps = WakeUps()

  init(_ element: PipelineElement, in pipeline: Pipeline) throws(PipelineError) {
    guard element.kind == "appsink" else { throw .noSuchElement(element.name) }
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

  /// Calls a handler with every buffer as it comes, on the thread that brings it, so that none is woken for it. Once the
  /// handler answers false, the pipeline is asked for no more. To be called before the pipeline plays.
  /// - Throws: `noSuchSignal`, which no appsink gives reason for.
  package func onSample(_ handler: @escaping @Sendable (Sample) -> Bool) throws(PipelineError) {
    let flushing = FieldValue.int(FlowError.flushing.rawValue)
    try element.connect("new-sample") { [element] _ in
      guard let sample = unsafe cgst_app_sink_try_pull(element.raw, 0) else { return nil }
      return handler(unsafe Sample(owning: sample)) ? nil : flushing
    }
  }

  /// Begins to wait for buffers.
  public func makeAsyncIterator() -> Iterator {
    Iterator(sink: self, waiter: WakeUps.Waiter([wakeUps, pipeline.hub.wakeUps]))
  }

  /// One that fetches buffers.
  public struct Iterator: AsyncIteratorProtocol {
    let sink: AppSink
    let waiter: WakeUps.Waiter

    /// The next buffer, `nil` behind the last.
    /// - Throws: `PipelineError.element`, what an element posted as an error.
    public mutating func next() async throws(PipelineError) -> Sample? { try await next(isolation: nil) }

    /// The next buffer, `nil` behind the last.
    /// - Throws: `PipelineError.element`, what an element posted as an error.
    public mutating func next(isolation: isolated (any Actor)?) async throws(PipelineError) -> Sample? {
      let pipeline = sink.pipeline
      while true {
        let phase = pipeline.hub.phase
        // Asked before the buffer: another may come in between, but none behind the end.
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

  /// Whether the stream has ended and all buffers were fetched; an appsink that was not started says so too.
  private var isAtEnd: Bool { (try? element.get("eos")) == .boolean(true) }
}
