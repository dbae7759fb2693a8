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
