// SPDX-License-Identifier: MPL-2.0
import H26x

/// The caller's request for an access unit.
struct DecodeRequest {
  /// Comes back with the result.
  let tag: UInt64
  /// Presentation time, if known.
  var time: Duration?
  /// The picture's duration, if known.
  var duration: Duration?
  /// The display metadata of the SEI messages up to the picture.
  var display = DisplayMetadata()
  /// Decode only because later pictures refer to it.
  var doNotOutput = false
  /// The caller has marked the access unit as damaged.
  var isDamaged = false
  /// Leave out, with both fields of a frame or none, as in key-unit trick mode.
  var isLeftOut = false
}
