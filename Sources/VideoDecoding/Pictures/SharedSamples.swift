// SPDX-License-Identifier: MPL-2.0

/// Where the samples of a picture lie in memory that another process has written.
package struct SharedSamples: Sendable {
  /// The memory's descriptor, valid as long as the picture.
  package let descriptor: Int32
  /// Its size.
  package let byteCount: Int
  /// Where the first sample of each plane is, cropped.
  package let offsets: [Int]
  /// Bytes from one row of a plane to the next.
  package let strides: [Int]
}
