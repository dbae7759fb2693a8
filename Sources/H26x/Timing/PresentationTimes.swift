// SPDX-License-Identifier: MPL-2.0

/// Presentation and decoding time of a picture, in nanoseconds from the start of the stream, and how long it is shown.
package struct PresentationTimes: Sendable, Hashable {
  /// When it is shown.
  package var presentation: UInt64
  /// When it is decoded, never later.
  package var decoding: UInt64
  /// How long it is shown, in nanoseconds: a frame's duration, or half of it for a field.
  package var duration: UInt64
}
