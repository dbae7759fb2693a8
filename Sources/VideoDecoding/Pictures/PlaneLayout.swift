// SPDX-License-Identifier: MPL-2.0

/// The layout of a picture's planes in one block of memory.
package struct PlaneLayout: Hashable {
  /// Bytes from one row of a plane to the next.
  let strides: [Int]
  /// The offset of each plane.
  let offsets: [Int]
  /// Bytes of each plane.
  let planeByteCounts: [Int]
  /// Bytes of the block, including bytes that vector code may read after the last sample.
  let byteCount: Int

  /// Planes one after the other, with the least strides or with these.
  ///
  /// - Parameter strides: as many as the format has planes; none for the least.
  package init(_ request: PictureRequest, strides given: [Int] = []) {
    let alignment = request.strideAlignment
    let strides =
      given.isEmpty ? (0..<request.pixelFormat.planeCount).map { request.minimumStride(plane: $0) } : given
    let byteCounts = strides.indices.map { strides[$0] * request.rowCount(plane: $0) }
    var offsets: [Int] = []
    var end = 0
    for byteCount in byteCounts {
      offsets.append(end)
      end += (byteCount + alignment - 1) / alignment * alignment
    }
    self.strides = strides
    self.offsets = offsets
    planeByteCounts = byteCounts
    byteCount = end + Self.overread
  }

  /// The planes in a block that begins at `start`.
  ///
  /// SAFETY: the caller vouches for `byteCount` bytes at `start`.
  @unsafe package func planes(at start: UnsafeMutablePointer<UInt8>) -> [PictureBuffer.Plane] {
    unsafe strides.indices.map { plane in
      unsafe PictureBuffer.Plane(
        start: start + offsets[plane], stride: strides[plane], byteCount: planeByteCounts[plane])
    }
  }

  /// Vector code may read this many bytes after the last sample.
  static let overread = 64
}
