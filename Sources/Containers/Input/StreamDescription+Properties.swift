// SPDX-License-Identifier: MPL-2.0
package import AVFormat
import H26x
package import StreamReport

extension StreamDescription {
  /// `audio (AAC)`.
  package var summary: String { "\(kindName) (\(displayName))" }

  /// `audio (AAC, ger), stream 2`.
  var numberedSummary: String {
    "\(kindName) (\([displayName, language].compactMap(\.self).joined(separator: ", "))), stream \(index)"
  }

  /// `video`, `audio`, `subtitles`, `attachment` or `data`.
  package var kindName: String {
    switch kind {
    case .video: isCover ? "cover" : "video"
    case .audio: "audio"
    case .subtitle: "subtitles"
    case .attachment: "attachment"
    case .data, .unknown: "data"
    }
  }

  /// Whether it is a track of MP4 that has the time code, which libavformat also has as metadata of the video.
  var isTimeCode: Bool { codecTag == 0x6463_6D74 }

  /// Whether it is a track of measurements that GoPro's cameras write, such as positions (GPMF).
  var isSensorData: Bool { kind == .data && codecTag == Self.sensorTag.rawValue }

  static let sensorTag = OutputContext.CodecTag("gpmd")

  /// The codec's name as people write it.
  package var displayName: String {
    if isTimeCode { return "time code" }
    if isSensorData { return "sensors" }
    if let name = Self.names[codecName] { return name }
    if codecName.hasPrefix("pcm_alaw") { return "A-law" }
    if codecName.hasPrefix("pcm_mulaw") { return "mu-law" }
    if codecName.hasPrefix("pcm_") { return "PCM" }
    return codecName.uppercased()
  }

  private static let names = [
    "h264": "H.264", "hevc": "H.265", "aac_latm": "AAC in LATM", "ac3": "AC-3", "eac3": "E-AC-3", "dts": "DTS",
    "opus": "Opus",
    "vorbis": "Vorbis", "truehd": "TrueHD", "mov_text": "timed text", "subrip": "SubRip", "webvtt": "WebVTT",
    "dvb_subtitle": "DVB", "dvb_teletext": "teletext", "hdmv_pgs_subtitle": "PGS", "eia_608": "CEA-608 captions",
    "mpeg4": "MPEG-4 video", "none": "unknown", "bin_data": "binary", "text": "text",
  ]

  /// The record of Dolby Vision, as far as libavformat reads it; `nil` without one.
  var dolbyVision: DolbyVision.Configuration? {
    sideData.first { $0.kind == .dolbyVision }.flatMap { DolbyVision.Configuration(values: $0.bytes) }
  }

  /// The language, if it is known.
  package var language: String? { metadata[key: "language"].flatMap { $0.isEmpty || $0 == "und" ? nil : $0 } }

  /// How pictures are turned to be upright, by the value of `videoflip`'s property `video-direction`: from the display
  /// matrix, nine numbers of 32 bits.
  package var rotation: String? {
    guard let matrix = sideData.first(where: { $0.kind == .displayMatrix })?.bytes, matrix.count >= 36 else {
      return nil
    }
    func number(_ index: Int) -> Int32 {
      matrix[index * 4..<index * 4 + 4].reversed().reduce(0) { $0 << 8 | Int32($1) }
    }
    let (a, b, c, d) = (number(0), number(1), number(3), number(4))
    if a == 0, d == 0 { return b > 0 && c < 0 ? "90r" : b < 0 && c > 0 ? "90l" : nil }
    return b == 0 && c == 0 && a < 0 && d < 0 ? "180" : nil
  }

  /// How pictures are turned, by the value of the tag image-orientation.
  package var rotationTag: String? {
    switch rotation {
    case "90r": "rotate-90"
    case "180": "rotate-180"
    case "90l": "rotate-270"
    default: nil
    }
  }

  /// The same for a track of MP4: the tag turns first and mirrors then. `nil` for upright pictures.
  package static func rotationTag(_ orientation: MP4.Orientation?) -> String? {
    guard let orientation else { return "unknown" }
    if orientation.isMirrored { return "flip-rotate-\((360 - orientation.rotation) % 360)" }
    return orientation.rotation == 0 ? nil : "rotate-\(orientation.rotation)"
  }
}

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
