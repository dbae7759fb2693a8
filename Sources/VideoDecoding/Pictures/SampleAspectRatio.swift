// SPDX-License-Identifier: MPL-2.0

/// Sample aspect ratio (H.264 Table E-1).
public struct SampleAspectRatio: Sendable, Hashable {
  /// Terms of the ratio, both positive.
  public let width: Int, height: Int
}
