// SPDX-License-Identifier: MPL-2.0
package import AVFormat

/// How libavformat writes each container.
extension TargetContainer {
  /// The format that text subtitles of other containers are converted to.
  package var subtitles: SubtitleConverter.Target? {
    switch self {
    case .mp4, .mov: .timedText
    case .mkv: .subRip
    case .annexb, .ts, .flv, .hls: nil
    }
  }

  /// libavformat's name of the muxer.
  package var format: String {
    switch self {
    case .annexb: "h264"
    case .mp4, .hls: "mp4"
    case .mov: "mov"
    case .mkv: "matroska"
    case .ts: "mpegts"
    case .flv: "flv"
    }
  }

  /// libavformat's name of the demuxer.
  var demuxer: String { isMovie ? "mov" : format }

  /// The muxer's options.
  ///
  /// - Parameter beginsLate: whether pictures are shown in front of the first one that is decoded.
  package func options(_ timeBase: TimeBase, isFragmented: Bool, beginsLate: Bool = false) -> MetadataDictionary {
    var options = MetadataDictionary()
    // Nothing that the source does not have: no name of a library, no time.
    options[key: "fflags"] = "+bitexact"
    switch self {
    case .mp4, .mov, .hls:
      if self == .hls {
        // Fragments end where segments do. The file has one track, without an index at its end.
        options[key: "movflags"] = "+frag_custom+empty_moov+delay_moov+default_base_moof+skip_trailer"
        options[key: "write_tmcd"] = "0"
      } else if isFragmented {
        // The first fragment in front of moov, whose description of sound and whose start need it.
        options[key: "movflags"] = "+frag_keyframe+empty_moov+delay_moov+default_base_moof"
        // libavformat's edit list would hide them. Without it, all streams begin later.
        if beginsLate { options[key: "use_editlist"] = "0" }
      }
      // For keyframes that are far apart.
      if isFragmented { options[key: "frag_size"] = "\(1 << 24)" }
      // Boxes that ISO/IEC 14496-12 does not have: dvcC, st3d, sv3d; FLAC and TrueHD.
      options[key: "strict"] = "experimental"
      if timeBase.numerator == 1 { options[key: "movie_timescale"] = "\(Self.movieTimescale(timeBase.denominator))" }
    case .ts: options[key: "max_delay"] = "700000"
    case .annexb, .mkv, .flv: break
    }
    return options
  }

  /// Ticks a second in which a movie's edits last. These are the ticks of the video, or a multiple if they are longer
  /// than a millisecond.
  private static func movieTimescale(_ video: Int32) -> Int32 {
    let scale = Int64(video)
    return Int32(min(scale * ((999 + scale) / scale), 1_000_000))
  }
}

extension TargetContainer {
  /// Codecs of covers that the container holds: MP4 in iTunes metadata (`covr`), Matroska as attachments.
  var coverCodecs: Set<String> {
    switch self {
    case .mp4: ["mjpeg", "png", "bmp"]
    case .mkv: ["mjpeg", "png", "gif", "tiff"]
    case .annexb, .mov, .ts, .flv, .hls: []
    }
  }
}
