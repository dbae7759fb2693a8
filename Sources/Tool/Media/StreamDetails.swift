// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// What `h26x info` prints of one stream, as fields of GStreamer's caps and tags.
struct StreamDetails: Sendable {
  /// `video`, `audio`, `subtitles`, `chapters` or another kind.
  var kind: String
  /// `nil` for other codecs than H.264 and H.265.
  var codec: FormatDescription.Codec?
  /// The codec's name.
  var codecName: String
  /// Fields of its caps.
  var fields: [String: FieldValue] = [:]
  /// Whether the frame rate is an average of differing durations.
  var isRateVariable = false
  var language: String?
  /// Bits a second, by a tag.
  var bitrate: Double?
  /// See `MediaStream.orientation`.
  var orientation: String?

  /// The caps fields that are printed, in this order.
  static let videoFields = [
    "profile", "level", "tier", "width", "height", "pixel-aspect-ratio", "framerate", "interlace-mode",
    "chroma-format", "bit-depth-luma", "bit-depth-chroma", "colorimetry", "mastering-display-info",
    "content-light-level", "stream-format", "alignment",
  ]
  private static let audioFields = ["rate", "channels"]

  /// A field as text; `nil` when it is not there.
  func text(_ field: String) -> String? {
    switch fields[field] {
    case .string(let text): text
    case .fraction(let ratio): "\(ratio.numerator)/\(ratio.denominator)"
    case let value: value?.integer.map { "\($0)" }
    }
  }
}

extension StreamDetails {
  /// From the caps and tags of a stream.
  init(_ stream: MediaStream) {
    self.init(kind: stream.kind, codec: stream.codec, codecName: stream.codecName)
    for field in stream.codec == nil ? Self.audioFields : Self.videoFields { fields[field] = stream.field(field) }
    // Parsers do not say more where only some pictures may be interlaced.
    if fields["interlace-mode"] == nil, stream.field("coded-picture-structure")?.string == "field" {
      fields["interlace-mode"] = "mixed"
    }
    language = stream.tag("language-code")?.string.flatMap { $0 == "und" ? nil : $0 }
    bitrate = (stream.tag("bitrate") ?? stream.tag("nominal-bitrate"))?.number
    orientation = stream.orientation
  }
}
