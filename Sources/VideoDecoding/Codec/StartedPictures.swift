// SPDX-License-Identifier: MPL-2.0
import Synchronization

/// Which of the last access units have started a picture, in a ring of their indices, so that it never grows. Written
/// by libavcodec's threads.
final class StartedPictures: Sendable {
  /// More than can be inside a decoder: 16 frames of two fields, and all threads.
  private static let capacity = 1024
  private let slots = Mutex([UInt64](repeating: .max, count: capacity))

  func insert(_ index: UInt64) { slots.withLock { $0[Int(index % UInt64(Self.capacity))] = index } }

  func contains(_ index: UInt64) -> Bool { slots.withLock { $0[Int(index % UInt64(Self.capacity))] == index } }
}
