// SPDX-License-Identifier: MPL-2.0

/// A message of an element or the pipeline to the application (`GstMessage`); it holds no reference to them.
public struct Message: Sendable {
  /// The name of the element that posted it.
  public var source: String
  /// Whether the pipeline itself posted it, for all its elements.
  public var isFromPipeline: Bool
  /// The type of the message, with its data.
  public var content: Content

  /// Types of messages (`GstMessageType`).
  public enum Content: Sendable {
    /// All sinks have reached the end of the stream.
    case endOfStream
    /// An error that stops an element.
    case error(ElementFailure)
    /// A fault; data flow continues.
    case warning(ElementFailure)
    /// Information.
    case info(ElementFailure)
    /// An element, or the pipeline, has changed its state.
    case stateChanged(from: Pipeline.State, to: Pipeline.State)
    /// Tags of the stream.
    case tags(Tags)
    /// The fill level of a network source's buffer, in percent; below 100 the application should pause.
    case buffering(percent: Int)
    /// The latency of an element changed. The application need not do anything: soon after, ``Pipeline`` queries the
    /// latency of all elements and configures the sinks with it.
    case latency
    /// The duration changed.
    case durationChanged
    /// An asynchronous state change or seek is complete.
    case asyncDone
    /// All sinks have received the start of a stream.
    case streamStart
    /// Streams to choose from: see ``Pipeline/selectStreams(_:at:)``.
    case streamCollection(StreamCollection)
    /// The streams of a collection that play from now on, by their ids.
    case streamsSelected(StreamCollection, ids: [String])
    /// The segment of a segment seek has been played.
    case segmentDone
    /// A buffer was dropped or late.
    case qualityOfService
    /// An element's own message, by its structure.
    case element(Fields)
    /// A message that the application posted.
    case application(Fields)
    /// Any other message, by GStreamer's name for its type.
    case other(String)
  }
}

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

/// An error or a warning that an element posted.
public struct ElementFailure: Error, Sendable {
  /// The error.
  public var error: ElementError
  /// The name of the element.
  public var source: String
  /// The name of the element's factory, such as `filesrc`; `bin` for a bin made from a description.
  public var kind = ""
  /// Details for programs.
  public var details: Fields?
}

extension ElementFailure: CustomStringConvertible {
  /// The element's name and the message for users.
  public var description: String { "\(source): \(error.message)" }
}
