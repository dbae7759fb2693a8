// SPDX-License-Identifier: MPL-2.0

/// The slices of a picture, as far as their headers show whether they are all there.
package struct SliceSequence: Sendable, Hashable {
  /// The slice that begins the picture could be read.
  package private(set) var hasFirst = false
  /// Those that could be read follow one another in decoding order, each once.
  package private(set) var isInOrder = true
  /// One could not be read.
  package private(set) var hasUnreadable = false
  private var lastAddress: UInt32?

  /// Takes the next slice.
  ///
  /// - Parameter address: its start, counted in decoding order.
  mutating func take(address: UInt32, isFirstInPicture: Bool) {
    if isFirstInPicture { hasFirst = true }
    if let lastAddress, address <= lastAddress { isInOrder = false }
    lastAddress = address
  }

  /// The next slice cannot be read.
  mutating func takeUnreadable() { hasUnreadable = true }
}
