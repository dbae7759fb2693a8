// SPDX-License-Identifier: MPL-2.0
import Glibc
package import VideoDecoding

/// Reads the memory of descriptors, as a receiver of a picture in device memory does.
package enum DescriptorReading {
  /// A plane: its start, and its rows without padding.
  package struct Plane {
    let offset: Int, stride: Int
    let rowByteCount: Int, rowCount: Int

    package init(offset: Int, stride: Int, rowByteCount: Int, rowCount: Int) {
      self.offset = offset
      self.stride = stride
      self.rowByteCount = rowByteCount
      self.rowCount = rowCount
    }
  }

  /// The rows of all planes, one after the other; nil if they do not lie within the memory.
  package static func bytes(_ descriptor: Int32, byteCount: Int, _ planes: [Plane]) -> [UInt8]? {
    guard let memory = unsafe mmap(nil, byteCount, PROT_READ, MAP_SHARED, descriptor, 0),
      unsafe memory != UnsafeMutableRawPointer(bitPattern: -1)
    else { return nil }
    defer { unsafe munmap(memory, byteCount) }
    var bytes: [UInt8] = []
    for plane in planes {
      for row in 0..<plane.rowCount {
        let start = plane.offset + row * plane.stride
        guard start >= 0, start + plane.rowByteCount <= byteCount else { return nil }
        unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(start: memory + start, count: plane.rowByteCount))
      }
    }
    return bytes
  }
}

extension DecodedPicture {
  /// The cropped samples, as `copiedBytes` has them, of a picture in a device's memory; nil for others.
  package var bytesOfDevice: [UInt8]? {
    guard let samples = deviceSamples, samples.objects.count == 1 else { return nil }
    let planes = samples.offsets.indices.map { index in
      DescriptorReading.Plane(
        offset: samples.offsets[index], stride: samples.strides[index],
        rowByteCount: pixelFormat.rowByteCount(plane: index, width: width),
        rowCount: pixelFormat.rowCount(plane: index, height: height))
    }
    return DescriptorReading.bytes(samples.objects[0].descriptor, byteCount: samples.objects[0].byteCount, planes)
  }
}
