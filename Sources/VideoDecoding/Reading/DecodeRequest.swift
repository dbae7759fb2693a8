// SPDX-License-Identifier: MPL-2.0
import H26x

/// The caller's request for an access unit. It stays with the access unit, and then with the picture.
package struct DecodeRequest: Sendable {
  /// Comes back with the result.
  package let tag: UInt64
  /// Presentation time, if known.
  package var time: Duration?
  /// The picture's duration, if known; of two fields, at last the sum of both.
  package var duration: Duration?
  /// The display metadata of the SEI messages up to the picture.
  var display = DisplayMetadata()
  /// Decode only because later pictures refer to it. The result is a drop.
  var doNotOutput = false
  /// It lacks NAL units, so that its picture is corrupt.
  package var isDamaged = false
  /// Leave it undecoded, unless it completes a frame whose first field was decoded, as in key-unit trick mode. The
  /// result is a drop for `doNotOutput`.
  package var isLeftOut = false

  /// A request to decode an access unit, and to output its picture unless told otherwise.
  package init(tag: UInt64, time: Duration? = nil, duration: Duration? = nil, doNotOutput: Bool = false) {
    self.tag = tag
    self.time = time
    self.duration = duration
    self.doNotOutput = doNotOutput
  }
}
