// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// The access unit, or in NAL alignment the NAL unit, that makes up one output buffer.
struct ParsedUnit: Sendable {
  /// What the scanner found in it.
  var coded = H264.CodedUnit()
  /// What its SEI messages say.
  var information = UnitInformation()
  /// The size of what goes out, before anything is put in.
  var outputSize = 0
  /// The timestamps that it has or was given.
  var pts: ClockTime?
  var dts: ClockTime?
  var duration: ClockTime?
}
