// SPDX-License-Identifier: MPL-2.0

/// Names of containers.
enum Container {
  /// The name of the container with these caps of typefind; the media type where it has none.
  static func name(ofCaps caps: String) -> String {
    let type = String(caps.prefix { $0 != "," && $0 != ";" })
    return switch type {
    case "video/quicktime": caps.contains("variant=(string)apple") ? "QuickTime" : "MP4"
    case "video/x-h264", "video/x-h265": "Annex B byte stream"
    default: names[type] ?? type
    }
  }

  private static let names = [
    "video/x-matroska": "Matroska", "video/webm": "WebM", "video/mpegts": "MPEG-TS", "video/x-flv": "FLV",
    "video/x-msvideo": "AVI", "video/mpeg": "MPEG program stream", "application/mxf": "MXF", "application/ogg": "Ogg",
    "application/vnd.ms-sstr+xml": "Smooth Streaming", "application/x-hls": "HLS",
  ]
}
