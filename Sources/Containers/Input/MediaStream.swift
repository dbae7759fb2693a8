// SPDX-License-Identifier: MPL-2.0
package import GStreamer
package import H26x

/// One of the streams of a file: a source pad of `parsebin`.
package struct MediaStream: Sendable {
  package let pad: PipelinePad

  /// The media type in caps, such as `audio/mpeg`.
  package var mediaType: String { pad.caps.first.name }

  /// A field of its caps.
  package func field(_ name: String) -> FieldValue? { pad.caps.first.value(name) }

  /// `nil` for other codecs than H.264 and H.265.
  package var codec: FormatDescription.Codec? { FormatDescription.Codec(mediaType: mediaType) }

  /// Whether it is AAC, in whatever stream-format.
  var isAAC: Bool { mediaType == "audio/mpeg" && [2, 4].contains(field("mpegversion")?.integer) }

  /// `video`, `audio`, `subtitles`, or else the first part of the media type.
  package var kind: String {
    let type = mediaType
    let beginnings = ["text/", "subpicture/", "application/x-subtitle"]
    if beginnings.contains(where: type.hasPrefix) { return "subtitles" }
    return String(type.prefix { $0 != "/" })
  }

  /// The first value of a tag.
  func tag(_ name: String) -> FieldValue? { pad.tags.lazy.compactMap { $0[name] }.first }

  /// The codec's name: from the tag, the table below, or the media type.
  package var codecName: String {
    if let codec { return codec.name }
    if isAAC { return "AAC" }
    return tag(kind == "subtitles" ? "subtitle-codec" : "\(kind)-codec")?.string ?? Self.names[mediaType] ?? mediaType
  }

  /// Names of codecs that have no tag, at least before the first data.
  private static let names = [
    "text/x-raw": "text", "audio/x-vorbis": "Vorbis", "audio/x-opus": "Opus", "audio/x-flac": "FLAC",
    "audio/x-ac3": "AC-3", "audio/x-eac3": "E-AC-3", "audio/x-raw": "PCM", "audio/x-alaw": "A-law",
    "audio/x-mulaw": "mu-law", "application/x-ssa": "SSA", "application/x-ass": "ASS",
  ]
}
