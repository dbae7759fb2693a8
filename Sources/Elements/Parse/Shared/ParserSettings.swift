// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// The properties of a parser, read once a buffer.
struct ParserSettings: Sendable {
  /// Seconds between insertions of parameter sets; 0 for never, below 0 for before every IDR picture.
  var configInterval: Int32 = 0
  /// Time codes in SEI messages are rewritten from the metas of input buffers.
  var updatesTimeCode = false
  /// Frames a second of streams that signal no frame rate and have no timestamps; 0/1 for unknown.
  var frameRate = Fraction(0, 1)

  /// As GObject properties.
  static var properties: [Setting<ParserSettings>] {
    [
      .int(
        "config-interval", \.configInterval, in: -1...3600,
        "Seconds between insertions of parameter sets before random access points (0 = never, -1 = before every one)"),
      .boolean(
        "update-timecode", \.updatesTimeCode,
        "Rewrite the time codes of SEI messages from the GstVideoTimeCodeMeta of input buffers"),
      .fraction(
        "framerate", \.frameRate,
        "Frame rate of streams that have neither a rate nor timestamps (0/1 = unknown)"),
    ]
  }
}
