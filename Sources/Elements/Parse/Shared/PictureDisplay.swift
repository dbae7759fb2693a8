// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// The display of a picture, by its SEI, as flags and metas of buffers.
struct PictureDisplay: Sendable {
  /// A time code of the picture.
  struct TimeCode: Sendable {
    var hours: UInt32
    var minutes: UInt32
    var seconds: UInt32
    var frames: UInt32
    /// `n_frames` counts pairs of ticks rather than ticks.
    var isFieldBased: Bool
    /// Drop-frame counting.
    var dropsFrames: Bool
    var isInterlaced: Bool
    /// The field that it is for: 0 both, 1 the first, 2 the second.
    var fieldCount: UInt32

    /// Creates a time code from an SEI message; missing fields are 0.
    init(_ timestamp: ClockTimestamp, fieldCount: UInt32) {
      hours = UInt32(timestamp.hours ?? 0)
      minutes = UInt32(timestamp.minutes ?? 0)
      seconds = UInt32(timestamp.seconds ?? 0)
      frames = UInt32(timestamp.frames)
      isFieldBased = timestamp.isFieldBased
      // counting_type 4 drops frames 0 and 1 of most minutes, 6 an unspecified number.
      dropsFrames = timestamp.countingType == 4 || timestamp.countingType == 6
      isInterlaced = timestamp.scanType == 1
      self.fieldCount = fieldCount
    }
  }

  /// Field periods that it lasts; nil when the stream does not signal them.
  var fieldPeriods: Int?
  /// The field that comes first, and whether it is shown twice; nil if the stream does not signal it.
  var interlaceFlags: Buffer.Flags?
  /// Whether the top field of fields and field pairs is first; nil for frames, and if the stream does not signal it.
  var isTopFirst: Bool?
  /// It is a bottom field alone.
  var isBottomField = false
  var timeCodes: [TimeCode] = []

  /// Sets the field that each time code is for, by ``isTopFirst``.
  mutating func orderTimeCodes(isTopFirst: Bool?) {
    for index in timeCodes.indices {
      timeCodes[index].isInterlaced = isTopFirst != nil
      timeCodes[index].fieldCount = isTopFirst.map { $0 == (index % 2 == 0) ? 1 : 2 } ?? 0
    }
  }
}
