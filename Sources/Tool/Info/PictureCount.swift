// SPDX-License-Identifier: MPL-2.0
import Containers
import StreamReport

/// Pictures and keyframes of a stream, counted as a report counts them: the same whatever the stream is in.
struct PictureCount {
  /// Frames, and fields that have no second one.
  private(set) var pictures = 0
  private(set) var keyframes = 0

  mutating func add(_ accessUnit: AccessUnitRecord) {
    guard accessUnit.letter != nil else { return }
    if !accessUnit.isSecondField { pictures += 1 }
    if accessUnit.keyframe != .none { keyframes += 1 }
  }
}
