// SPDX-License-Identifier: MPL-2.0

/// The caps field `stream-format` of `video/x-h264`: where parameter sets are and how NAL units are packed.
enum StreamFormat: String, Sendable {
  /// Lengths in front, parameter sets in `codec_data`.
  case avc
  /// Lengths in front, parameter sets in the stream.
  case avc3
  /// Start codes in front, parameter sets in the stream.
  case byteStream = "byte-stream"

  /// The media type of caps.
  static let mediaType = "video/x-h264"

  /// Whether NAL units have lengths in front.
  var isLengthPrefixed: Bool { self != .byteStream }
}

/// The caps field `alignment`: what a buffer holds.
enum StreamAlignment: String, Sendable {
  /// One access unit.
  case accessUnit = "au"
  /// One NAL unit.
  case nalUnit = "nal"
}
