// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// How a picture is meant to be shown, by its picture timing SEI, in the words of buffers.
struct PictureDisplay: Sendable {
  /// A time of day that the picture was given.
  struct TimeCode: Sendable {
    var hours: UInt32
    var minutes: UInt32
    var seconds: UInt32
    var frames: UInt32
    /// `n_frames` counts pairs of ticks rather than ticks.
    var isFieldBased: Bool
    /// Numbers are left out so that the count keeps up with the clock.
    var dropsFrames: Bool
    var isInterlaced: Bool
    /// The field that it is for: 0 both, 1 the first, 2 the second.
    var fieldCount: UInt32
  }

  /// Field periods that it lasts; nil when the stream does not say.
  var fieldPeriods: Int?
  /// Which field comes first and whether it is shown twice; nil when the stream does not say.
  var interlaceFlags: Buffer.Flags?
  /// It is a bottom field alone.
  var isBottomField = false
  var timeCodes: [TimeCode] = []
}
