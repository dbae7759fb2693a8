// SPDX-License-Identifier: MPL-2.0

/// The location of a picture's samples in memory that another process has written.
package struct SharedSamples: Sendable {
  /// The memory's descriptor, valid as long as the picture.
  package let descriptor: Int32
  /// Its size.
  package let byteCount: Int
  /// The offset of each plane's first sample, cropped.
  package let offsets: [Int]
  /// Bytes from one row of a plane to the next.
  package let strides: [Int]
}
