// SPDX-License-Identifier: MPL-2.0
import GStreamer
import StreamReport

/// The duration of an MP4 file's movie, by which `qtdemux` of GStreamer 1.22 ends each track. It compares it with the
/// times of the media, so that a track whose edits begin later loses its end; and it ignores tracks that are shorter
/// than a fifth of it. Where it is unknown, `qtdemux` goes by the tracks.
enum MP4Duration {
  /// Hides the duration from the demultiplexer where it would lose pictures or a track.
  ///
  /// - Parameter pad: the sink pad of `parsebin`.
  static func hide(in input: InputFile, from pad: PipelinePad?) {
    guard input.kind == .container("MP4"), input.size != nil, let pad, let source = try? ReportSource(input),
      let samples = try? MP4.VideoSamples(source), let range = samples.movieDurationRange
    else { return }
    if samples.movie.tracks.contains(where: { isCut($0, in: samples.movie) }) { pad.zeroPulled(range) }
  }

  private static func isCut(_ track: MP4.Track, in movie: MP4.Movie) -> Bool {
    let shown = track.edits.filter { $0.mediaTime >= 0 }
    guard let first = shown.first else { return false }
    // The first pictures of a stream with B-frames are shown a few later than they are decoded.
    let start = UInt64(first.mediaTime) / UInt64(max(track.timescale, 1))
    let duration: UInt64 = shown.reduce(0) { $0.addingReportingOverflow($1.duration).partialValue }
    return start >= 1 || duration < movie.duration / 4
  }
}
