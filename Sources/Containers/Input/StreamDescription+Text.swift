// SPDX-License-Identifier: MPL-2.0
package import AVFormat

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

  /// The codec's name as people write it.
  package var displayName: String {
    if isTimeCode { return "time code" }
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
}

extension StreamDescription {
  /// The language, if it is known.
  package var language: String? { metadata[key: "language"].flatMap { $0.isEmpty || $0 == "und" ? nil : $0 } }
}
