// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// The times and flags with which an access unit is output.
struct OutgoingTimes: Sendable {
  /// In upstream's segment.
  var source = Buffer.Attributes()
  /// In the outgoing segment.
  var outgoing = Buffer.Attributes()
  /// The end of the access unit, if the base class does not know its times.
  var position: ClockTime?
}
