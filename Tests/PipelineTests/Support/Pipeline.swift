// SPDX-License-Identifier: MPL-2.0
import Foundation

/// The first elements of a pipeline that reads `file`, with stock's demultiplexer for `container` if it has one.
///
/// - Parameter container: a manifest's word (`annexb`, `mp4:avc1`, `mkv`, `ts`, `flv`) or a file's suffix.
func source(_ file: String, container: String) -> String {
  let demuxer =
    switch container.prefix(while: { $0 != ":" }) {
    case "mp4": "qtdemux"
    case "mkv": "matroskademux"
    case "ts": "tsdemux"
    case "flv": "flvdemux"
    default: ""
    }
  return "filesrc location=\(file)" + (demuxer.isEmpty ? "" : " ! \(demuxer) ! video/x-h264;video/x-h265 ! queue")
}

extension Command {
  /// The MD5 that `videocodectestsink` posted: of all pictures, cropped, planar, without padding.
  var pictureChecksum: String? {
    output.firstMatch(of: /conformance\/checksum,.* checksum=\(string\)([0-9a-f]+);/).map { String($0.1) }
  }
}
