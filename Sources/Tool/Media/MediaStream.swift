// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// One of the streams of a file: a source pad of `parsebin`.
struct MediaStream: Sendable {
  let pad: PipelinePad

  /// The supported codecs.
  enum Codec: String, Sendable {
    case h264 = "H.264"
    case h265 = "H.265"

    /// The codec with this media type; `nil` for another.
    init?(mediaType: String) {
      switch mediaType {
      case "video/x-h264": self = .h264
      case "video/x-h265": self = .h265
      default: return nil
      }
    }

    /// The digits in the names of elements.
    var digits: String { self == .h264 ? "264" : "265" }
    /// The media type in caps.
    var mediaType: String { "video/x-h\(digits)" }
  }

  /// The media type in caps, such as `audio/mpeg`.
  var mediaType: String { pad.caps.first.name }

  /// A field of its caps.
  func field(_ name: String) -> FieldValue? { pad.caps.first.value(name) }

  var codec: Codec? { Codec(mediaType: mediaType) }

  /// Whether it is AAC, in whatever stream-format.
  var isAAC: Bool { mediaType == "audio/mpeg" && [2, 4].contains(field("mpegversion")?.integer) }

  /// `video`, `audio`, `subtitles`, or else the first part of the media type.
  var kind: String {
    let type = mediaType
    if type.hasPrefix("text/") || type.hasPrefix("subpicture/") || type.contains("subtitle") { return "subtitles" }
    return String(type.prefix { $0 != "/" })
  }

  /// The first value of a tag.
  func tag(_ name: String) -> FieldValue? { pad.tags.lazy.compactMap { $0[name] }.first }

  /// Whether its codec tag has come, as it does with the first data.
  var isDescribed: Bool { tag("\(kind)-codec") != nil }

  /// The codec's name: from the tag, the table below, or the media type.
  var codecName: String {
    if let codec { return codec.rawValue }
    if isAAC { return "AAC" }
    return tag(kind == "subtitles" ? "subtitle-codec" : "\(kind)-codec")?.string ?? Self.names[mediaType] ?? mediaType
  }

  /// Names of codecs that have no tag, at least before the first data.
  private static let names = [
    "text/x-raw": "text", "audio/x-vorbis": "Vorbis", "audio/x-opus": "Opus", "audio/x-flac": "FLAC",
    "audio/x-ac3": "AC-3", "audio/x-eac3": "E-AC-3", "audio/x-raw": "PCM", "audio/x-alaw": "A-law",
    "audio/x-mulaw": "mu-law", "application/x-ssa": "SSA", "application/x-ass": "ASS",
  ]

  /// The tag image-orientation, such as `rotate-90` or `flip-rotate-90`; `nil` for an upright picture.
  var orientation: String? {
    guard let text = tag("image-orientation")?.string, text != "rotate-0" else { return nil }
    return text
  }
}
