// SPDX-License-Identifier: MPL-2.0
import AVFormat

/// A cover: one picture that belongs to the whole file. libavformat has a stream for it.
extension StreamDescription {
  /// The pictures of chapters are a stream, whose first picture libavformat attaches as well.
  var isCover: Bool {
    kind == .video && disposition.contains(.attachedPicture) && !disposition.contains(.timedThumbnails)
  }

  /// The name and the media type that Matroska gives an attached picture, if the source does not name it.
  var attachmentMetadata: MetadataDictionary? {
    guard let known = Self.pictureTypes[codecName] else { return nil }
    var metadata = metadata
    if metadata[key: "filename"] == nil { metadata[key: "filename"] = "cover.\(known.suffix)" }
    metadata[key: "mimetype"] = known.type
    return metadata
  }

  private static let pictureTypes: [String: (suffix: String, type: String)] = [
    "mjpeg": ("jpg", "image/jpeg"), "png": ("png", "image/png"), "gif": ("gif", "image/gif"),
    "tiff": ("tiff", "image/tiff"),
  ]
}

extension TargetContainer {
  /// Codecs of covers that the container holds: MP4 in iTunes metadata (`covr`), Matroska as attachments.
  var coverCodecs: Set<String> {
    switch self {
    case .mp4: ["mjpeg", "png", "bmp"]
    case .mkv: ["mjpeg", "png", "gif", "tiff"]
    case .annexb, .mov, .ts, .flv: []
    }
  }
}
