// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import GStreamer

/// The part of a file that is kept, without re-encoding.
struct Cut: Sendable, Hashable {
  /// How the first picture is chosen.
  enum Mode: String, CaseIterable, ExpressibleByArgument {
    /// The keyframe at or before the start.
    case keyframe
    /// The picture that is shown at the start. The pictures that it needs are in the file, in front of the edit
    /// list's range.
    case hidden
  }

  /// The start, in nanoseconds since the first picture.
  var start: Int64 = 0
  /// The end, in the same time; `nil` for the end of the file.
  var end: Int64?
  var mode: Mode
  /// When the first picture is shown, in nanoseconds of the presentation that the user counts.
  var offset: Int64 = 0

  /// Half of a millisecond, to which containers round times.
  static let tolerance: Int64 = 500_000
}

/// The beginning of a cut, or of the source's presentation.
struct CutBeginning {
  /// The access units up to now, in decoding order, beginning with a keyframe.
  var entries: [CutFront.Entry]
  /// When the first shown picture is composed, and the first picture that is not shown any more, in nanoseconds of
  /// the media.
  var start: Int64
  var end: Int64?
  /// When the keyframe is composed, and the requested start of the cut.
  let keyframe: Int64
  let wanted: Int64
  /// When the first picture of the file is composed.
  let origin: Int64
  /// Leading pictures of the keyframe that need pictures in front of the cut: left out, and kept because others refer
  /// to them.
  let (droppedLeading, keptLeading): (Int, Int)

  /// The earliest presentation time.
  var earliest: Int64 { entries.lazy.map(\.accessUnit.presentation).min() ?? start }
}

extension CutBeginning {
  /// The beginning, for the user.
  func remark(_ cut: Cut) -> String {
    let distance = wanted - start
    var remark = "from \(Text.time(ClockTime(positive: cut.offset + start - origin)))"
    if start == keyframe, distance > Cut.tolerance {
      remark += ", a keyframe \(Text.fixed(Double(distance) / 1e9, 3)) s before --start"
    }
    if droppedLeading > 0 {
      remark += ", without \(Text.count(droppedLeading, "leading picture")), shown before it"
    }
    if keptLeading > 0 {
      remark +=
        ", with \(Text.count(keptLeading, "leading picture")) that \(keptLeading == 1 ? "refers" : "refer")"
        + " to pictures that were cut off"
    }
    return remark
  }
}
