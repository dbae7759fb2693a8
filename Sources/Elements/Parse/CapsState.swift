// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// What output caps are made of beside the parameter sets, and what they are.
struct CapsState: Sendable {
  /// Caps went out.
  var isSet = false
  /// Something changed since.
  var isStale = true
  /// How often parameter sets had changed when that was looked at last.
  var parameterSetChanges: UInt64 = 0
  /// A buffer went out under these caps.
  var hasSentBuffer = false
  /// The SPS that they describe.
  var sequenceParameterSetID: UInt8?
  /// Every picture is intra coded by profile.
  var isIntraOnly = false
  /// Frames a second, of upstream or the VUI; `nil` when unknown.
  var frameRate: GStreamer.Fraction?
  /// The ticks of the VUI, when they make sense.
  var vuiTiming: H264.VUI.Timing?
  /// The VUI's frame rate is beyond the level: its ticks are no measure of time.
  var ignoresVUITiming = false
  /// The `codec_data` that goes with them.
  var codecData: [UInt8] = []
}
