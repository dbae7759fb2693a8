// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// The times of an access unit, in upstream's segment.
struct AccessUnitTimes: Sendable {
  var pts: ClockTime?
  var dts: ClockTime?
  var duration: ClockTime?
  /// The DTS derived for it because upstream gave none, in nanoseconds. The first ones may be below 0: the outgoing
  /// segment is shifted.
  var rebuiltDecodingTime: Int64?
}
