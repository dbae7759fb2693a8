// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// The description of one stream that `h26x info` prints, as fields of GStreamer's caps and tags.
struct StreamDetails: Sendable {
  /// `video`, `audio`, `subtitles`, `chapters` or another kind.
  var kind: String
  /// Its number in the container, from 0; `nil` for a byte stream.
  var number: Int?
  /// `nil` for other codecs than H.264 and H.265.
  var codec: FormatDescription.Codec?
  /// The codec's name.
  var codecName: String
  /// Fields of its caps.
  var fields: [String: FieldValue] = [:]
  /// Whether the frame rate is an average of differing durations.
  var isRateVariable = false
  var language: String?
  var title: String?
  /// The container's marks, such as `default` and `forced`.
  var flags: [String] = []
  /// Bits a second, by a tag.
  var bitrate: Double?
  /// The orientation of pictures, by the value of the tag image-orientation: `rotate-90`, `flip-rotate-90`; `nil` for
  /// upright pictures.
  var orientation: String?

  /// The caps fields that are printed, in this order.
  static let videoFields = [
    "profile", "level", "tier", "width", "height", "pixel-aspect-ratio", "framerate", "interlace-mode",
    "chroma-format", "bit-depth-luma", "bit-depth-chroma", "colorimetry", "mastering-display-info",
    "content-light-level", "stream-format", "alignment",
  ]

  /// A field as text; `nil` when it is not there.
  func text(_ field: String) -> String? {
    switch fields[field] {
    case .string(let text): text
    case .fraction(let ratio): "\(ratio.numerator)/\(ratio.denominator)"
    case let value: value?.integer.map { "\($0)" }
    }
  }
}
