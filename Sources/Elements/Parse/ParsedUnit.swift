// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// The access unit, or in NAL alignment the NAL unit, that makes up one output buffer.
struct ParsedUnit: Sendable {
  /// What the scanner found in it.
  var coded = H264.ScannedAccessUnit()
  /// What its SEI messages say.
  var information = UnitInformation()
  /// Its picture order was read, if it has one.
  var isOrderKnown = false
  /// Where it begins in what the base class hands over.
  var start = 0
  /// The size of what goes out, before anything is put in.
  var outputSize = 0
  /// The timestamps that it has or was given, and its flags.
  var attributes = Buffer.Attributes()
}
