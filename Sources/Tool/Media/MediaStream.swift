// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// One of the streams of a file, as it comes out of `parsebin`.
struct MediaStream: Sendable {
  let pad: PipelinePad

  /// The codecs that this program is about.
  enum Codec: String, Sendable {
    case h264 = "H.264"
    case h265 = "H.265"

    /// By what caps call it.
    init?(mediaType: String) {
      switch mediaType {
      case "video/x-h264": self = .h264
      case "video/x-h265": self = .h265
      default: return nil
      }
    }

    /// The digits in elements' names.
    var digits: String { self == .h264 ? "264" : "265" }
    /// What caps call it.
    var mediaType: String { "video/x-h\(digits)" }
  }

  /// What caps call it, such as `audio/mpeg`.
  var mediaType: String { pad.caps.first.name }

  /// A field of its caps.
  func field(_ name: String) -> FieldValue? { pad.caps.first.value(name) }

  var codec: Codec? { Codec(mediaType: mediaType) }

  /// Whether it is AAC, which comes packed in several ways.
  var isAAC: Bool { mediaType == "audio/mpeg" && [2, 4].contains(field("mpegversion")?.integer) }

  /// Video, audio, subtitles, or what the media type says.
  var kind: String {
    let type = mediaType
    if type.hasPrefix("text/") || type.hasPrefix("subpicture/") || type.contains("subtitle") { return "subtitles" }
    return String(type.prefix { $0 != "/" })
  }

  /// The first value of a tag.
  func tag(_ name: String) -> FieldValue? { pad.tags.lazy.compactMap { $0[name] }.first }

  /// Whether its tags have come, which is with its first data.
  var isDescribed: Bool { tag("\(kind)-codec") != nil }

  /// What it is coded in, for people.
  var codecName: String {
    if let codec { return codec.rawValue }
    if isAAC { return "AAC" }
    return tag(kind == "subtitles" ? "subtitle-codec" : "\(kind)-codec")?.string ?? Self.names[mediaType] ?? mediaType
  }

  /// What has no tag that says it, before its first data at least.
  private static let names = [
    "text/x-raw": "text", "audio/x-vorbis": "Vorbis", "audio/x-opus": "Opus", "audio/x-flac": "FLAC",
    "audio/x-ac3": "AC-3", "audio/x-eac3": "E-AC-3", "audio/x-raw": "PCM", "audio/x-alaw": "A-law",
    "audio/x-mulaw": "mu-law", "application/x-ssa": "SSA", "application/x-ass": "ASS",
  ]

  /// By how many degrees players turn it clockwise, and whether they flip it first.
  var orientation: String? {
    guard let text = tag("image-orientation")?.string, text != "rotate-0" else { return nil }
    return text
  }
}
