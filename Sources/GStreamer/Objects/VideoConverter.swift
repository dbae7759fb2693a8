// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// Converts raw video between formats, sizes and color spaces (`GstVideoConverter`).
@safe public struct VideoConverter: ~Copyable {
  private let raw: OpaquePointer
  private let input: VideoInfo
  private let output: VideoInfo

  /// - Parameters:
  ///   - input: what to convert from.
  ///   - output: what to convert to.
  ///   - threads: how many to use; 0 is one for each processor.
  /// - Returns: `nil` when the conversion is not possible.
  public init?(from input: VideoInfo, to output: VideoInfo, threads: UInt32 = 1) {
    _ = isGStreamerReady
    let config = unsafe gst_structure_new_empty("GstVideoConverter")
    unsafe cgst_structure_set_uint(config, "GstVideoConverter.threads", threads)
    var (source, destination) = unsafe (input.raw, output.raw)
    guard let raw = unsafe gst_video_converter_new(&source, &destination, config) else { return nil }
    unsafe self.raw = raw
    self.input = input
    self.output = output
  }

  deinit { unsafe gst_video_converter_free(raw) }

  /// Converts a frame; strides and offsets come from a buffer's video meta if it has one.
  /// - Throws: `FlowError.error` when a buffer cannot be mapped.
  public func convert(_ source: borrowing Buffer, into destination: inout Buffer) throws(FlowError) {
    var (from, to) = unsafe (GstVideoFrame(), GstVideoFrame())
    var (inputInfo, outputInfo) = unsafe (input.raw, output.raw)
    guard unsafe gst_video_frame_map(&from, &inputInfo, source.raw, GST_MAP_READ) != 0 else { throw .error }
    defer { unsafe gst_video_frame_unmap(&from) }
    destination.makeWritable()
    guard unsafe gst_video_frame_map(&to, &outputInfo, destination.raw, GST_MAP_WRITE) != 0 else { throw .error }
    unsafe gst_video_converter_frame(raw, &from, &to)
    unsafe gst_video_frame_unmap(&to)
  }
}
