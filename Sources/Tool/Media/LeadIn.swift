// SPDX-License-Identifier: MPL-2.0
import GStreamer
import StreamReport
import Synchronization

/// The pictures between a keyframe and the start of the first edit of an MP4 file. They are not shown, but decoding the
/// first shown picture needs them. Files that were cut without encoding anew have such an edit list.
///
/// Sinks and muxers drop what stands before the segment, and with the keyframe everything up to the next one is lost.
/// So these pictures become part of the segment, and every stream is shown later by the time they take. That serves the
/// first edit of an MP4 that can be read twice; what is dropped of others is counted.
final class LeadIn: Sendable {
  /// What the first edit has of such pictures.
  private let duration: ClockTime

  private struct State {
    /// Where the first segment of each pad begins; it may be sent more than once.
    var starts: [String: UInt64] = [:]
    /// Where the latest segment of pictures begins.
    var start: UInt64 = 0
    var dropped = 0
    var hasKeyframe = false
    var early = 0
  }
  private let state = Mutex(State())

  init(of input: InputFile) {
    duration = input.kind == .container("MP4") && input.size != nil ? Self.duration(of: input) ?? .zero : .zero
  }

  /// Pictures that stand before their segment all the same.
  var dropped: Int { state.withLock { $0.dropped } }

  /// Pictures in front of the first keyframe: they need others that did not come.
  var early: Int { state.withLock { $0.early } }

  /// Makes these pictures part of what is shown.
  func include(in pad: PipelinePad, isVideo: Bool) {
    // The name, not the pad: what the pad keeps must not keep the pad.
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
    pad.dropBuffers { [self] pts, isKeyframe in
      state.withLock { state in
        if let pts, pts.nanoseconds < state.start { state.dropped += 1 }
        state.hasKeyframe = state.hasKeyframe || isKeyframe
        if !state.hasKeyframe { state.early += 1 }
      }
      return false
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
