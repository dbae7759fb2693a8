// SPDX-License-Identifier: MPL-2.0
public import H26x

/// One access unit, with the information that a session needs.
public struct AccessUnit: Sendable {
  /// All NAL units of one picture, or of one field, packaged as ``format`` describes.
  public var bytes: [UInt8]
  /// Comes back with the picture.
  public var tag: UInt64
  /// Presentation time, from any origin, if known.
  public var time: Duration?
  /// Decoding time, from the same origin, never later than ``time`` in an intact stream; nil if unknown.
  public var decodingTime: Duration?
  /// The picture's duration; nil if unknown.
  public var duration: Duration?
  /// Whether decoding may begin here, as the container marks its samples (`stss`), or as the stream does by its NAL
  /// unit types and recovery point SEI messages.
  public var isRandomAccessPoint: Bool
  /// Decode only because later pictures refer to it: gives no picture.
  public var doNotOutput: Bool
  /// Whether this access unit does not continue the previous one, as after a seek. Neither its picture nor later ones
  /// refer to earlier pictures.
  public var isDiscontinuous: Bool
  /// The stream's new format; nil if it has not changed.
  public var format: FormatDescription?

  /// Creates an access unit; the first of a stream must have a format.
  public init(
    _ bytes: [UInt8], tag: UInt64, time: Duration? = nil, decodingTime: Duration? = nil, duration: Duration? = nil,
    isRandomAccessPoint: Bool = false, doNotOutput: Bool = false, isDiscontinuous: Bool = false,
    format: FormatDescription? = nil
  ) {
    self.bytes = bytes
    self.tag = tag
    self.time = time
    self.decodingTime = decodingTime
    self.duration = duration
    self.isRandomAccessPoint = isRandomAccessPoint
    self.doNotOutput = doNotOutput
    self.isDiscontinuous = isDiscontinuous
    self.format = format
  }
}

extension DecompressionSession {
  /// Decodes an access unit. `nextResult` gives its result, now or after more access units.
  ///
  /// If the access unit has a format, that is accepted first. If it is discontinuous, the session outputs everything
  /// inside and restarts decoding with it.
  ///
  /// - Throws: `DecodeError` if the access unit is not taken: `formatChangeNotSupported` if ``canAccept(_:)`` is
  ///   false for its format, `invalidSession`, or `invalidArgument` if it is empty. Everything else is a result.
  public func decode(_ accessUnit: AccessUnit) throws(DecodeError) {
    if let format = accessUnit.format { try accept(format) }
    if accessUnit.isDiscontinuous { endSequence() }
    let request = DecodeRequest(
      tag: accessUnit.tag, time: accessUnit.time, duration: accessUnit.duration, doNotOutput: accessUnit.doNotOutput)
    try decode(accessUnit.bytes.span, request)
  }
}
