// SPDX-License-Identifier: MPL-2.0

/// The messages of a pipeline. Messages of one thread keep the order in which it posted them.
///
/// The sequence ends after `endOfStream` and when the pipeline is stopped, and throws errors that elements post. The
/// newest 1,024 unread messages are kept, also before an iteration begins. Each of several iterations gets all
/// messages posted while it lasts. Cancelling the task that waits for a message stops the pipeline.
public struct Messages: AsyncSequence, Sendable {
  /// A message.
  public typealias Element = Message
  /// The error that iteration throws.
  public typealias Failure = PipelineError

  let pipeline: Pipeline

  /// An iterator over the messages from now on, and those kept.
  public func makeAsyncIterator() -> Iterator {
    Iterator(pipeline: pipeline, messages: pipeline.hub.listen().makeAsyncIterator())
  }

  /// Receives the messages.
  public struct Iterator: AsyncIteratorProtocol {
    let pipeline: Pipeline
    var messages: AsyncStream<Message>.Iterator

    /// The next message, `nil` after the last.
    /// - Throws: `PipelineError.element` for an error that an element posted.
    public mutating func next(
      isolation: isolated (any Actor)? = #isolation
    ) async throws(PipelineError) -> Message? {
      let message = await pipeline.endingOnCancellation(isolation: isolation) {
        await messages.next(isolation: isolation)
      }
      if case .error(let failure) = message?.content { throw .element(failure) }
      return message
    }
  }
}
