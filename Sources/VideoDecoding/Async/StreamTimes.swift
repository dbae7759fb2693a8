// SPDX-License-Identifier: MPL-2.0
public import H26x

/// Where the times of the access units of a byte stream come from, which has no timestamps.
public enum StreamTimes: Sendable, Hashable {
  /// There are none. Each access unit is returned as soon as it is complete.
  case none
  /// They follow from the pictures' order and the frame rate that the stream signals. To find in which order its
  /// pictures are shown, the first access unit waits for those after it: as many as the stream may reorder.
  ///
  /// Decoding times count from zero.
  ///
  /// - Parameter fallbackRate: frames a second for a stream that does not signal its frame rate; nil to leave the times
  ///   of such a stream unknown.
  case pictureOrder(fallbackRate: Ratio? = nil)
}
