// SPDX-License-Identifier: MPL-2.0

extension MP4 {
  /// An entry of the edit list (`elst`; ISO/IEC 14496-12, 8.6.6).
  public struct Edit: Sendable, Hashable {
    /// `segment_duration` in ticks of the movie's timescale.
    public var duration: UInt64
    /// `media_time` in ticks of the track's timescale; −1 for an empty edit.
    public var mediaTime: Int64
    /// `media_rate`, in 1/65536.
    public var rate: UInt32
  }

  /// A part of a track's media that is shown: an edit that is not empty (ISO/IEC 14496-12, 8.6.6).
  package struct ShownRange: Sendable, Hashable {
    /// The composition time at which it begins, in ticks of the track: inside a sample, or at its beginning.
    package var start: Int64
    /// The composition time of the first sample that is not shown any more; nil if all up to the end are.
    package var end: Int64?
    /// The time at which it begins in the presentation, in ticks of the track.
    package var time: Int64
    /// Whether a sample that it begins inside is shown.
    package var showsCutSample = true

    package init(start: Int64, end: Int64?, time: Int64) { (self.start, self.end, self.time) = (start, end, time) }
  }
}

extension MP4.Edit {
  /// The `media_rate` of 1.
  package static let usualRate: UInt32 = 1 << 16
}

extension MP4.Track {
  /// The `media_rate` of the first edit that is not empty and has another than 1, in 1/65536; nil without one.
  ///
  /// The standard has two: 1, and 0 for a picture that stands still (ISO/IEC 14496-12, 8.6.6); QuickTime has any. None
  /// but 1 is supported: ``shownRanges(movieTimescale:)`` has the media at that rate, as libavformat has it.
  package var otherEditRate: UInt32? { edits.first { $0.mediaTime >= 0 && $0.rate != MP4.Edit.usualRate }?.rate }

  /// Returns the ranges that the edit list shows, in its order; nil without an edit list. Without one, everything is
  /// shown at its composition time.
  ///
  /// The last edit may have no duration: in fragmented files, whose duration is not known yet, and in files whose
  /// writer was interrupted.
  ///
  /// - Parameter movieTimescale: ``MP4/Movie/timescale``, in whose ticks durations of edits are.
  package func shownRanges(movieTimescale: UInt32) -> [MP4.ShownRange]? {
    guard !edits.isEmpty, movieTimescale > 0, timescale > 0 else { return nil }
    func ticks(_ duration: UInt64) -> Int64 {
      let (high, low) = duration.multipliedFullWidth(by: UInt64(timescale))
      guard high < UInt64(movieTimescale) else { return .max }
      return Int64(clamping: UInt64(movieTimescale).dividingFullWidth((high, low)).quotient)
    }
    var time: Int64 = 0
    var ranges: [MP4.ShownRange] = []
    for (index, edit) in edits.enumerated() {
      let length = ticks(edit.duration)
      if edit.mediaTime >= 0 {
        let isOpen = edit.duration == 0 && index == edits.count - 1
        guard isOpen || length > 0 else { continue }
        let (end, isBeyond) = edit.mediaTime.addingReportingOverflow(length)
        ranges.append(
          MP4.ShownRange(start: edit.mediaTime, end: isOpen || isBeyond ? nil : end, time: time))
      }
      time = time.addingReportingOverflow(length).partialValue
      // Only edits of hundreds of millennia come here.
      guard time >= 0 else { break }
    }
    return ranges.isEmpty ? nil : ranges
  }
}
