// SPDX-License-Identifier: MPL-2.0
public import GStreamer

/// What arrives at the end of a pipeline that reads a file.
public struct FileRecording: Sendable {
  /// Caps or a buffer.
  public struct Entry: Equatable, Sendable {
    public var isCaps = false
    /// Of a buffer.
    public var attributes = Buffer.Attributes()
    /// The caps as text, or the bytes.
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

  /// In order.
  public let entries: [Entry]

  /// Whether it came to its end without an error.
  public let isWhole: Bool

  /// Plays a file to its end through elements, as on a gst-launch-1.0 line.
  ///
  /// The file is read by access at any place unless the elements begin with one, such as `queue`, that has it pushed.
  public init(of file: String, _ elements: String) throws(Failure) {
    let run = try RecordedPipeline(elements).play(file)
    (entries, isWhole) = (run.entries, run.isWhole)
  }
}
