// SPDX-License-Identifier: MPL-2.0

extension ProgressPlace {
  /// In bytes of the file. The total of a pipe is not known.
  package convenience init(of input: InputFile) {
    let total = input.size.map { Double($0) }
    self.init(.bytes) { ProgressAmount(done: Double($0), total: total, unit: .bytes) }
  }

  /// In seconds of a video track, or in bytes of its file if the track's duration is not known.
  package convenience init(of track: VideoTrack, in input: InputFile) {
    if let duration = track.duration { self.init(of: duration) } else { self.init(of: input) }
  }
}
