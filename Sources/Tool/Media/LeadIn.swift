// SPDX-License-Identifier: MPL-2.0
import GStreamer
import StreamReport
import Synchronization

/// Pictures that a file has and does not show: its edit list begins after a keyframe, whose picture and those that
/// follow it the first shown picture needs. Files that were cut without encoding anew are made so.
///
/// Sinks and muxers drop what stands before the segment, and with the keyframe everything up to the next one is lost.
/// So these pictures become part of the segment, and every stream is shown later by the time they take.
final class LeadIn: Sendable {
  private let duration: ClockTime
  /// Where the first segment of each pad begins; it may be sent more than once.
  private let starts = Mutex<[String: UInt64]>([:])

  /// - Returns: `nil` for a file without such pictures, and for one that is not MP4 or cannot be read twice.
  init?(of input: InputFile) {
    guard input.kind == .container("MP4"), input.size != nil, let duration = Self.duration(of: input) else {
      return nil
    }
    self.duration = duration
  }

  /// Makes these pictures part of what is shown.
  func include(in pad: PipelinePad) {
    // The name, not the pad: what the pad keeps must not keep the pad.
    pad.replaceSegments { [self, name = pad.name] segment in
      let start = starts.withLock { starts in
        if starts[name] == nil { starts[name] = segment.start }
        return starts[name]
      }
      return segment.start == start ? segment.extended(by: duration) : segment.moved(by: duration)
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
