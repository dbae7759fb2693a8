// SPDX-License-Identifier: MPL-2.0
public import H26x

/// One access unit, with what a session has to know of it.
public struct AccessUnit: Sendable {
  /// All NAL units of one picture, or of one field, packaged as ``format`` says.
  public var bytes: [UInt8]
  /// Comes back with the picture.
  public var tag: UInt64
  /// When it is shown, from any origin, if that is known.
  public var time: Duration?
  /// Decode for the sake of later pictures only.
  public var doNotOutput: Bool
  /// What the stream is from here on; nil where it is as before.
  public var format: FormatDescription?

  /// Creates an access unit; the first of a stream has to have a format.
  public init(
    _ bytes: [UInt8], tag: UInt64, time: Duration? = nil, doNotOutput: Bool = false, format: FormatDescription? = nil
  ) {
    self.bytes = bytes
    self.tag = tag
    self.time = time
    self.doNotOutput = doNotOutput
    self.format = format
  }
}
