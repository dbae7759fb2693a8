// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// The location of a picture's samples in a device's memory.
package struct DeviceSamples: Sendable {
  /// Descriptors of the memory (DMA-BUF), valid as long as the picture, and their sizes in bytes.
  package let objects: [(descriptor: Int32, byteCount: Int)]
  /// The offset of each plane's first sample, cropped, as if the objects followed one another.
  package let offsets: [Int]
  /// Bytes from one row of a plane to the next.
  package let strides: [Int]

  /// - Parameter firstSample: returns the offset of a cropped plane of this index and stride in the coded plane, in
  ///   bytes.
  /// - Returns: `nil` for more than can be addressed.
  init?(_ description: SurfaceDescription, firstSample: (_ plane: Int, _ stride: Int) -> Int) {
    var objects: [(descriptor: Int32, byteCount: Int)] = []
    var starts: [Int] = []
    var end = 0
    for object in description.objects {
      objects.append((object.descriptor, object.byteCount))
      starts.append(end)
      let sum = end.addingReportingOverflow(object.byteCount)
      guard !sum.overflow else { return nil }
      end = sum.partialValue
    }
    self.objects = objects
    let (luma, chroma) = (description.luma, description.chroma)
    offsets = [
      starts[luma.object] + luma.offset + firstSample(0, luma.stride),
      starts[chroma.object] + chroma.offset + firstSample(1, chroma.stride),
    ]
    strides = [luma.stride, chroma.stride]
  }
}
