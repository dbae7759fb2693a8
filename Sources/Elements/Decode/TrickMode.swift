// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// The pictures that playback at another speed needs.
struct TrickMode: Sendable {
  /// Only random access points are decoded.
  var keyUnitsOnly = false
  /// Pictures that nothing refers to may be dropped.
  var allowsSkipping = false

  init() {}

  /// - Parameters:
  ///   - input: the segment of the input.
  ///   - output: the segment of the output.
  init(input: Segment, output: Segment) {
    keyUnitsOnly = input.keyUnitsOnly
    allowsSkipping = output.allowsSkipping || output.forwardPredictedOnly
  }
}
