// SPDX-License-Identifier: MPL-2.0

/// Why caps are refused.
enum SinkCapsRefusal: String, Error {
  case missingCodecData = "there is no codec_data, which streams need whose parameter sets are not in-band"
  case unreadableCodecData = "codec_data cannot be read, and downstream accepts no packaging without it"
  case wrongAlignment = "length-prefixed streams need alignment=au"
  case unexpectedCodecData = "a byte stream has its parameter sets in the stream, not in codec_data"
}
