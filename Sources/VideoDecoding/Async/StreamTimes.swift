// SPDX-License-Identifier: MPL-2.0
public import H26x

/// The source of the access units' times for a byte stream, which has no timestamps.
public enum StreamTimes: Sendable, Hashable {
  /// There are none. Each access unit is returned as soon as it is complete.
  case none
  /// Times follow from the pictures' order and the frame rate that the stream signals. To find the presentation order
  /// of its pictures, the first access unit waits for those after it: as many as the stream may reorder.
  ///
  /// Decoding times count from zero.
  ///
  /// - Parameter fallbackRate: frames a second for a stream that does not signal its frame rate; nil to leave the times
  ///   of such a stream unknown.
  case pictureOrder(fallbackRate: Ratio? = nil)
}
