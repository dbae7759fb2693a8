// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// The properties, and the base class's information about the current data. It is read once a buffer.
struct InputSnapshot: Sendable {
  /// The properties.
  var settings = ParserSettings()
  /// Pull mode.
  var isPulling = false
  /// No more data comes: the present data must be used up.
  var isDraining = false
  /// The base class has not shown this data before.
  var isNew = false
  /// The data's position in the input, in bytes; nil if unknown.
  var offset: UInt64?
  /// Timestamps and flags of the input.
  var attributes = Buffer.Attributes()
  /// The playback of the stream.
  var playback = Playback()
  /// The target of an accurate seek whose data has not come yet.
  var target: ClockTime?
}
