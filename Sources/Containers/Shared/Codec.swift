// SPDX-License-Identifier: MPL-2.0
package import H26x

extension FormatDescription.Codec {
  /// The codec with this media type; `nil` for another.
  package init?(mediaType: String) {
    switch mediaType {
    case H264.mediaType: self = .h264
    case H265.mediaType: self = .h265
    default: return nil
    }
  }

  /// The syntax, which has GStreamer's names.
  package var syntax: any (ElementCodecSyntax & StreamEditing).Type { self == .h264 ? H264.self : H265.self }
  /// The name for users.
  package var name: String { syntax.name }
  /// The digits in the names of elements.
  package var digits: String { self == .h264 ? "264" : "265" }
  /// The media type in caps.
  package var mediaType: String { syntax.mediaType }
}

extension FormatDescription {
  /// The format in the parameter sets of a configuration record; `nil` if it has none that can be read.
  package init?(_ codec: Codec, configuration: [UInt8]) {
    do throws(BitstreamError) {
      self =
        switch codec {
        case .h264: try H264.formatDescription(H264.ConfigurationRecord(configuration.span))
        case .h265: try H265.formatDescription(H265.ConfigurationRecord(configuration.span))
        }
    } catch { return nil }
  }
}
