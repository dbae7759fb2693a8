// SPDX-License-Identifier: MPL-2.0
public import H26x

/// One access unit, with what a session needs to know of it.
public struct AccessUnit: Sendable {
  /// All NAL units of one picture, or of one field, packaged as ``format`` describes.
  public var bytes: [UInt8]
  /// Comes back with the picture.
  public var tag: UInt64
  /// Presentation time, from any origin, if known.
  public var time: Duration?
  /// Decode only because later pictures refer to it: gives no picture.
  public var doNotOutput: Bool
  /// The stream's format from here on; nil where it has not changed.
  public var format: FormatDescription?

  /// Creates an access unit; the first of a stream must have a format.
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
