// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// Where the samples of a picture lie in a device's memory.
package struct DeviceSamples: Sendable {
  /// Descriptors of the memory (DMA-BUF), valid as long as the picture, and their sizes in bytes.
  package let objects: [(descriptor: Int32, byteCount: Int)]
  /// Where the first sample of each plane is, cropped, as if the objects were one after the other.
  package let offsets: [Int]
  /// Bytes from one row of a plane to the next.
  package let strides: [Int]

  /// - Parameter firstSample: where a cropped plane of this index and stride begins in the coded one, in bytes.
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
