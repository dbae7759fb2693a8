// SPDX-License-Identifier: MPL-2.0
import GStreamer
import StreamReport
import Synchronization

/// The pictures between a keyframe and the start of the first edit of an MP4 file. They are not shown, but decoding the
/// first shown picture needs them. Files that were cut without encoding anew have such an edit list.
///
/// Sinks and muxers drop pictures before the segment, and without that keyframe everything up to the next one is lost.
/// So the segment is extended to include these pictures, and all streams are shown later by their duration. This needs
/// an MP4 file that can be read twice, and applies to its first edit; pictures dropped in any other file are counted.
final class LeadIn: Sendable {
  /// The duration of these pictures; zero if there are none.
  private let duration: ClockTime

  private struct State {
    /// The start of each pad's first segment, which may be sent more than once.
    var starts: [String: UInt64] = [:]
    /// The start of the latest video segment, in nanoseconds.
    var start: UInt64 = 0
    var dropped = 0
    var hasKeyframe = false
    var early = 0
  }
  private let state = Mutex(State())

  init(of input: InputFile) {
    duration = input.kind == .container("MP4") && input.size != nil ? Self.duration(of: input) ?? .zero : .zero
  }

  /// The number of pictures before the start of their segment, which sinks and muxers drop.
  var dropped: Int { state.withLock { $0.dropped } }

  /// The number of pictures before the first keyframe, whose reference pictures are missing.
  var early: Int { state.withLock { $0.early } }

  /// Extends the first segment of a pad by these pictures, and moves later ones by their duration.
  func include(in pad: PipelinePad, isVideo: Bool) {
    // Captures the name, not the pad: the pad owns the closure.
    pad.replaceSegments { [self, name = pad.name] segment in
      state.withLock { state in
        let first = state.starts[name] ?? segment.start
        state.starts[name] = first
        let moved = segment.start == first ? segment.extended(by: duration) : segment.moved(by: duration)
        if isVideo { state.start = moved.start }
        return moved
      }
    }
    guard isVideo else { return }
    pad.observeBuffers { [self] pts, isKeyframe in
      state.withLock { state in
        if let pts, pts.nanoseconds < state.start { state.dropped += 1 }
        state.hasKeyframe = state.hasKeyframe || isKeyframe
        if !state.hasKeyframe { state.early += 1 }
      }
    }
  }

  private static func duration(of input: InputFile) -> ClockTime? {
    guard let source = try? ReportSource(input), var samples = try? MP4.VideoSamples(source),
      let edit = samples.track.edits.first(where: { $0.mediaTime >= 0 }), edit.mediaTime > 0
    else { return nil }
    var keyframe: Int64?
    while let sample = try? samples.next(), sample.decodingTime <= edit.mediaTime {
      let time = sample.decodingTime &+ sample.compositionOffset
      if sample.isSync, time <= edit.mediaTime { keyframe = time }
    }
    guard let keyframe, keyframe >= 0, keyframe < edit.mediaTime, samples.track.timescale > 0 else { return nil }
    return ClockTime.seconds(UInt64(edit.mediaTime - keyframe), times: 1, over: samples.track.timescale)
  }
}
