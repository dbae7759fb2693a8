// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import HardwareSupport
import HarnessSupport
import Testing

/// A buffer as downstream gets it that takes a device's memory.
struct DeviceBuffer {
  /// It is a device's memory; else it is the system's.
  let isOfDevice: Bool
  /// The format, of its GstVideoMeta where it is in a device's memory.
  let format: String
  /// The samples, row after row; nil where they do not lie within the memory.
  let bytes: [UInt8]?

  /// - Parameter caps: those of the last buffer; of a buffer in the system's memory without GstVideoMeta, too.
  init(_ buffer: consuming Buffer, _ caps: borrowing Caps) throws {
    let memory = unsafe gst_buffer_peek_memory(buffer.raw, 0)
    isOfDevice = unsafe gst_is_dmabuf_memory(memory) != 0
    let meta = unsafe gst_buffer_get_video_meta(buffer.raw)
    let described = unsafe meta.flatMap { meta in
      unsafe VideoInfo(
        format: VideoFormat(rawValue: meta.pointee.format.rawValue), width: Int(meta.pointee.width),
        height: Int(meta.pointee.height))
    }
    guard isOfDevice else {
      guard let info = described ?? VideoInfo(caps) else { throw Harness.Failure.noCaps }
      format = info.format.name
      bytes = try buffer.packed(info)
      return
    }
    let (layout, info) = try unsafe (#require(meta), #require(described))
    #expect(unsafe gst_buffer_n_memory(buffer.raw) == 1)
    #expect(unsafe layout.pointee.n_planes == 2)
    let (offsets, strides) = unsafe (layout.pointee.offset, layout.pointee.stride)
    let planes = [(offsets.0, strides.0), (offsets.1, strides.1)].enumerated().map { index, place in
      DescriptorReading.Plane(
        offset: Int(place.0), stride: Int(place.1), rowByteCount: info.planeSize(index).rowBytes,
        rowCount: info.planeSize(index).rows)
    }
    format = info.format.name
    bytes = unsafe DescriptorReading.bytes(
      gst_dmabuf_memory_get_fd(memory), byteCount: Int(gst_memory_get_sizes(memory, nil, nil)), planes)
  }
}

extension Harness {
  /// Pulls all output buffers. Those in the system's memory have a GstVideoMeta, or have come under the last caps.
  func takeDeviceBuffers() throws -> [DeviceBuffer] {
    var buffers: [DeviceBuffer] = []
    guard waiting > 0 else { return [] }
    let caps = try outputCaps()
    while let buffer = tryPull() { buffers.append(try DeviceBuffer(buffer, caps)) }
    return buffers
  }

  /// Pushes access units, takes what comes out behind each, and then the end of the stream.
  ///
  /// - Parameter prepare: is called before each access unit with its number, from 0.
  func decodeToDeviceMemory(_ units: [[UInt8]], prepare: (Int) -> Void = { _ in }) throws -> [DeviceBuffer] {
    var buffers: [DeviceBuffer] = []
    for (index, unit) in units.enumerated() {
      prepare(index)
      #expect(push(unit) == 0)
      buffers += try takeDeviceBuffers()
    }
    endOfStream()
    return buffers + (try takeDeviceBuffers())
  }
}
