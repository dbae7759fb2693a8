// SPDX-License-Identifier: MPL-2.0
import H26x

/// The caller's request for an access unit.
struct DecodeRequest {
  /// Comes back with the result.
  let tag: UInt64
  /// Presentation time, if known.
  var time: Duration?
  /// How long the picture is shown, if known.
  var duration: Duration?
  /// How the picture is to be displayed by the SEI messages up to it.
  var display = DisplayMetadata()
  /// Decode only because later pictures refer to it.
  var doNotOutput = false
}
