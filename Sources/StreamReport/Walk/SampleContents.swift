// SPDX-License-Identifier: MPL-2.0
import H26x

/// The pictures in a sample of a container, and the error in its length prefixes.
struct SampleContents: Sendable {
  /// How many pictures begin in it.
  var pictures = 0
  /// The first NAL unit after its last picture that belongs to the next one, such as the SEI of a second field.
  var misplaced: (name: StaticString, offset: UInt64)?
  /// The error in its length prefixes; nil if they fill it.
  var failure: BitstreamError?
}
