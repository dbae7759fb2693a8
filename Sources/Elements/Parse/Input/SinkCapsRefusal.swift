// SPDX-License-Identifier: MPL-2.0

/// The reason caps are refused.
enum SinkCapsRefusal: String, Error {
  case unreadableCodecData = "codec_data cannot be read, and downstream accepts no packaging without it"
  case wrongAlignment = "length-prefixed streams need alignment=au"
  case unexpectedCodecData = "a byte stream has parameter sets in the stream, not in codec_data"
}
