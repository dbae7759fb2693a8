// SPDX-License-Identifier: MPL-2.0

/// The delay from a session's input to its output.
public struct SessionLatency: Sendable, Hashable {
  /// Frames held back for reordering.
  public let reorderDepth: Int
  /// Frames held back by frame threads, and by the exchange with a codec in a process of its own.
  public let threadDelay: Int
  /// Both together, in frames.
  public var frames: Int { reorderDepth + threadDelay }
}
