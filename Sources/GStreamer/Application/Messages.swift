// SPDX-License-Identifier: MPL-2.0

/// The messages of a pipeline, in the order in which they were posted.
///
/// The sequence ends behind `endOfStream` and when the pipeline is stopped, and throws what an element posted as an
/// error. What is posted before anybody iterates is kept, the newest 1,024 of it. Each iteration has all messages that
/// come while it lasts. Cancelling the task that waits for a message stops the pipeline.
public struct Messages: AsyncSequence, Sendable {
  /// A message.
  public typealias Element = Message
  /// What iterating throws.
  public typealias Failure = PipelineError

  let pipeline: Pipeline

  /// Begins to listen.
  public func makeAsyncIterator() -> Iterator {
    Iterator(pipeline: pipeline, messages: pipeline.hub.listen().makeAsyncIterator())
  }

  /// One listener.
  public struct Iterator: AsyncIteratorProtocol {
    let pipeline: Pipeline
    var messages: AsyncStream<Message>.Iterator

    /// The next message, `nil` behind the last.
    /// - Throws: `PipelineError.element`, what an element posted as an error.
    public mutating func next() async throws(PipelineError) -> Message? { try await next(isolation: nil) }

    /// The next message, `nil` behind the last.
    /// - Throws: `PipelineError.element`, what an element posted as an error.
    public mutating func next(isolation: isolated (any Actor)?) async throws(PipelineError) -> Message? {
      let message = await pipeline.endingOnCancellation(isolation: isolation) {
        await messages.next(isolation: isolation)
      }
      if case .error(let failure) = message?.content { throw .element(failure) }
      return message
    }
  }
}
