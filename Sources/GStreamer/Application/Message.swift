// SPDX-License-Identifier: MPL-2.0

/// What an element or the pipeline tells the application (`GstMessage`): a value that holds no element.
public struct Message: Sendable {
  /// The name of the element that posted it.
  public var source: String
  /// Whether the pipeline itself posted it, and so speaks for all its elements.
  public var isFromPipeline: Bool
  /// What it says.
  public var content: Content

  /// What a message says.
  public enum Content: Sendable {
    /// All sinks have come to the end.
    case endOfStream
    /// An element cannot go on.
    case error(ElementFailure)
    /// Something is wrong; data flow goes on.
    case warning(ElementFailure)
    /// Something to know.
    case info(ElementFailure)
    /// An element, or the pipeline, is in another state.
    case stateChanged(from: Pipeline.State, to: Pipeline.State)
    /// Facts about the stream.
    case tags(Tags)
    /// How full the buffer of a network source is, in percent; below 100 an application pauses.
    case buffering(percent: Int)
    /// Latency changed; the pipeline has taken it into account already.
    case latency
    /// The duration is another than was said before.
    case durationChanged
    /// A state change or seek that was going on is done.
    case asyncDone
    /// All sinks have begun with a stream.
    case streamStart
    /// The part that a segment seek asked for has been played.
    case segmentDone
    /// A buffer was dropped or came late.
    case qualityOfService
    /// A message of the element's own, by its structure.
    case element(Fields)
    /// A message that the application posted.
    case application(Fields)
    /// Anything else, by GStreamer's name for it.
    case other(String)
  }
}
