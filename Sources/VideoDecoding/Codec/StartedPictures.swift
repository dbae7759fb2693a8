// SPDX-License-Identifier: MPL-2.0

/// Which of the last access units have started a picture, in a ring of their indices, so that it never grows.
struct StartedPictures {
  /// More than can be inside a decoder: 16 frames of two fields, and all threads.
  private static let capacity = 1024
  private var slots = [UInt64](repeating: .max, count: capacity)

  mutating func insert(_ index: UInt64) { slots[Int(index % UInt64(Self.capacity))] = index }

  func contains(_ index: UInt64) -> Bool { slots[Int(index % UInt64(Self.capacity))] == index }
}
