// SPDX-License-Identifier: MPL-2.0
public import GStreamer

/// The caps and buffers that a pipeline makes of a file.
public struct FileRecording: Sendable {
  /// Caps or a buffer.
  public struct Entry: Equatable, Sendable {
    /// Whether it is caps.
    public var isCaps = false
    /// The attributes of a buffer.
    public var attributes = Buffer.Attributes()
    /// The caps as text, or the bytes of a buffer.
    public var content: [UInt8] = []

    /// The same without flags.
    public var withoutFlags: Entry {
      var entry = self
      entry.attributes.flags = []
      return entry
    }
  }

  /// The pipeline cannot be made, or does not end.
  public struct Failure: Error {}

  /// The caps and buffers in order.
  public let entries: [Entry]

  /// Whether the pipeline reached the end of the stream without an error.
  public let isWhole: Bool

  /// Plays a file to its end through elements, as on a gst-launch-1.0 line.
  ///
  /// A parser pulls the file, unless the elements begin with one, such as `queue`, that makes the source push.
  public init(of file: String, _ elements: String) throws(Failure) {
    let run = try RecordedPipeline(elements).play(file)
    (entries, isWhole) = (run.entries, run.isWhole)
  }
}
