// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// What is said of a stream of a file, in the words of GStreamer's caps and tags.
struct StreamDetails: Sendable {
  /// Video, audio, subtitles or something else.
  var kind: String
  /// `nil` for what this program is not about.
  var codec: MediaStream.Codec?
  /// What it is coded in, for people.
  var codecName: String
  /// Fields of its caps.
  var fields: [String: FieldValue] = [:]
  var language: String?
  /// Bits a second by the container.
  var bitrate: Double?
  /// How players turn it; see `MediaStream.orientation`.
  var orientation: String?

  /// The fields that are told, in their order.
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
  /// What comes out of a pipeline.
  init(_ stream: MediaStream) {
    self.init(kind: stream.kind, codec: stream.codec, codecName: stream.codecName)
    for field in stream.codec == nil ? Self.audioFields : Self.videoFields { fields[field] = stream.field(field) }
    language = stream.tag("language-code")?.string.flatMap { $0 == "und" ? nil : $0 }
    bitrate = (stream.tag("bitrate") ?? stream.tag("nominal-bitrate"))?.number
    orientation = stream.orientation
  }
}
