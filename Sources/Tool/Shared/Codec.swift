// SPDX-License-Identifier: MPL-2.0
import H26x

extension FormatDescription.Codec {
  /// The codec with this media type; `nil` for another.
  init?(mediaType: String) {
    switch mediaType {
    case "video/x-h264": self = .h264
    case "video/x-h265": self = .h265
    default: return nil
    }
  }

  /// The name for users.
  var name: String { "H.\(digits)" }
  /// The digits in the names of elements.
  var digits: String { self == .h264 ? "264" : "265" }
  /// The media type in caps.
  var mediaType: String { "video/x-h\(digits)" }
}
