// SPDX-License-Identifier: MPL-2.0

/// The formats that `repack` writes.
package enum TargetContainer: String, CaseIterable {
  case annexb, mp4, mov, mkv, ts, flv
  /// Playlists and segments for HTTP live streaming.
  case hls

  /// The format of a file name's suffix; `nil` for an unknown one.
  package init?(fileName: String) {
    guard let dot = fileName.lastIndex(of: ".") else { return nil }
    switch fileName[fileName.index(after: dot)...].lowercased() {
    case "h264", "264", "avc", "26l", "jsv", "h265", "265", "hevc": self = .annexb
    case "mp4", "m4v": self = .mp4
    case "mov", "qt": self = .mov
    case "mkv": self = .mkv
    case "ts", "m2t", "mts": self = .ts
    case "flv": self = .flv
    default: return nil
    }
  }

  package var name: String {
    switch self {
    case .annexb: "Annex B byte stream"
    case .mp4: "MP4"
    case .mov: "QuickTime"
    case .mkv: "Matroska"
    case .ts: "MPEG-TS"
    case .flv: "FLV"
    case .hls: "HLS"
    }
  }

  /// The name of GStreamer's muxer; `nil` if it has none.
  package var muxer: String? {
    switch self {
    case .annexb, .hls: nil
    case .mp4: "mp4mux"
    case .mov: "qtmux"
    case .mkv: "matroskamux"
    case .ts: "mpegtsmux"
    case .flv: "flvmux"
    }
  }

  /// Whether it is of the ISO base media file format.
  package var isMovie: Bool { self == .mp4 || self == .mov || self == .hls }

  /// Whether it has a configuration of Dolby Vision.
  package var hasDolbyVisionRecord: Bool { self != .annexb && self != .flv }

  /// Whether its NAL units have start codes, not length prefixes.
  package var hasStartCodes: Bool { self == .annexb || self == .ts }
}
