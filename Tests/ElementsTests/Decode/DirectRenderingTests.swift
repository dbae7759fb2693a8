// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import Glibc
import H26x
import HarnessSupport
import Testing

/// The property `direct-rendering` of decoders: whether they decode into the buffers of downstream.
@Suite(.serialized) struct DirectRenderingTests {
  let units: [[UInt8]]
  init() throws { units = try Clip.accessUnits("clip.h264") }

  @Test func decodesIntoBuffersOfThePool() throws {
    let harness = try Harness.decoder()
    var count = 0
    let positions = Clip.presentationOrder(units)
    for (index, unit) in units.enumerated() {
      harness.push(unit, pts: Clip.time(positions[index]))
      while let buffer = harness.tryPull() {
        count += 1
        // Strides and padding below the picture as libavcodec needs them.
        let meta = try unsafe #require(gst_buffer_get_video_meta(buffer.raw))
        let (stride, chroma) = unsafe (Int(meta.pointee.stride.0), Int(meta.pointee.offset.1))
        #expect(stride % 64 == 0 && chroma >= stride * 192)
      }
    }
    #expect(count > 50)
    // No picture was decoded anywhere else.
    #expect(harness.statistic("copied") == 0)
    let copying = try Harness.decoder(takesVideoMeta: false)
    _ = try copying.decode(units)
    #expect(copying.statistic("copied") == Clip.frameCount)
  }

  /// Without `GstVideoMeta`, planes that need no padding go out as they are, one memory each.
  @Test(arguments: ["I420", "NV12"]) func picturesWithoutPaddingAreNotCopied(format: String) throws {
    let units = try Clip.accessUnits("wide.h264")
    let output = "video/x-raw, format=\(format)"
    let expected = try Harness.decoder(output: output).decode(units)
    let harness = try Harness.decoder(output: output, takesVideoMeta: false)
    harness.push(units: units)
    harness.endOfStream()
    let caps = try harness.outputCaps()
    let described = VideoInfo(caps)
    let info = try #require(described)
    #expect(harness.waiting == expected.count && expected.count == units.count)
    #expect(harness.statistic("copied") == 0)
    // Kept until all are decoded: the decoder must not write into output pictures.
    var buffers: [[UInt8]] = []
    while var buffer = harness.tryPull() {
      #expect(unsafe Int(gst_buffer_n_memory(buffer.raw)) == info.planeCount)
      #expect(buffer.size == info.size)
      buffers.append(try buffer.packed(info))
      // Writing makes a copy.
      do {
        var map = try buffer.mapForWriting()
        var bytes = map.bytes
        bytes[0] ^= 0xFF
      }
      let changed = try buffer.packed(info)
      #expect(changed != buffers.last && changed.dropFirst() == buffers.last?.dropFirst())
    }
    #expect(buffers == expected.map(\.bytes))
  }

  /// Pictures that libavcodec still refers to are not copied, and a change of one is made in a copy.
  @Test func picturesOfThePoolAreShared() throws {
    let expected = try Harness.decoder().decode(units)
    let harness = try Harness.decoder("swifth264dec thread-type=none")
    var (pictures, shared) = ([[UInt8]](), 0)
    func take() throws {
      while var buffer = harness.tryPull() {
        let info = try #require(VideoInfo(try harness.outputCaps()))
        let (isWritable, isMemoryWritable) = (buffer.isWritable, buffer.isMemoryWritable)
        #expect(isWritable)
        if !isMemoryWritable { shared += 1 }
        pictures.append(try buffer.packed(info))
        var map = try buffer.mapForWriting()
        var bytes = map.bytes
        for index in stride(from: 0, to: bytes.count, by: 7) { bytes[index] ^= 0xFF }
      }
    }
    for (index, unit) in units.enumerated() {
      harness.push(units: [unit], from: index)
      try take()
    }
    harness.endOfStream()
    try take()
    #expect(pictures == expected.map(\.bytes))
    // Memory of another process is copied where downstream takes no GstVideoMeta, as here.
    #expect((shared > 0) == !DecoderIsolation.isTested)
  }

  @Test func directRenderingCanBeSwitchedOff() throws {
    let harness = try Harness.decoder("swifth264dec direct-rendering=false")
    #expect(try checksum(harness.decode(units)) == Clip.checksum())
    #expect(harness.statistic("copied") == Clip.frameCount)
  }
}
