// SPDX-License-Identifier: MPL-2.0

/// The Debian packages that have the elements which this program makes by name.
package enum ElementPackage {
  private static let elements = [
    "gstreamer1.0-plugins-base": [
      "appsink", "appsrc", "audioconvert", "audioresample", "decodebin", "parsebin", "videoconvert", "videoscale",
    ],
    "gstreamer1.0-plugins-good": [
      "autoaudiosink", "autovideosink", "flvmux", "jpegenc", "matroskamux", "pngenc", "rtph264depay", "rtph265depay",
      "rtpjitterbuffer", "rtspsrc", "udpsrc", "videoflip",
    ],
    "gstreamer1.0-plugins-bad": ["mpegtsmux", "sdpdemux", "videocodectestsink"],
    "gstreamer1.0-swifth26x": ["4", "5"].flatMap { codec in
      ["parse", "repack", "dec"].map { "swifth26\(codec)\($0)" }
    },
  ]

  /// The package of an element; nil for one that this program does not make by itself.
  static func containing(_ element: String) -> String? { elements.first { $0.value.contains(element) }?.key }

  /// The package with the demultiplexer of a container's media type, for those whose demultiplexer is in a package that
  /// may be missing.
  private static func demultiplexing(_ mediaType: String) -> String? {
    switch mediaType {
    case "video/quicktime", "video/x-matroska", "video/webm", "video/x-flv", "video/x-msvideo":
      "gstreamer1.0-plugins-good"
    case "video/mpegts": "gstreamer1.0-plugins-bad"
    default: nil
    }
  }

  /// The remedy if a file has nothing but these media types; empty if none of them is a container.
  package static func remedy(forMediaTypes types: [String]) -> String {
    types.lazy.compactMap(demultiplexing).first.map { "; install the package \($0)" } ?? ""
  }

  /// The remedy in a message, with the separator from the fault; empty if no package is known.
  package static func remedy(for element: String) -> String {
    containing(element).map { "; install the package \($0)" } ?? ""
  }
}
