// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// A buffer with its caps and segment, from or for a pipeline (`GstSample`).
///
/// It can be copied and sent between tasks; the bytes are shared and never changed.
public struct Sample: Sendable {
  @safe private final class Box: @unchecked Sendable {
    // Never changed: any thread may read it.
    let raw: OpaquePointer
    init(owning raw: OpaquePointer) { unsafe self.raw = raw }
    deinit { unsafe gst_mini_object_unref(UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstMiniObject.self)) }
  }

  private let box: Box
  @unsafe var raw: OpaquePointer { unsafe box.raw }

  /// Takes over one reference.
  @unsafe init(owning raw: OpaquePointer) { unsafe box = Box(owning: raw) }

  /// A buffer with its caps.
  public init(_ buffer: consuming Buffer, caps: borrowing Caps) {
    let raw = unsafe buffer.take()
    unsafe self.init(owning: gst_sample_new(raw, caps.raw, nil, nil))
    unsafe unref(raw)
  }

  private var cBuffer: UnsafeMutablePointer<GstBuffer>? { unsafe gst_sample_get_buffer(raw) }

  /// The buffer, shared: a change copies it. Without memory if the sample has no buffer.
  public var buffer: Buffer {
    guard let buffer = unsafe cBuffer else { return Buffer() }
    return unsafe Buffer.retaining(buffer)
  }

  /// The buffers, shared, of a sample that has a list of them, as samples of an `appsink` with `buffer-list=true`
  /// may; `nil` for a sample of one buffer.
  public var bufferList: BufferList? {
    guard let list = unsafe gst_sample_get_buffer_list(raw) else { return nil }
    return unsafe BufferList.retaining(list)
  }

  /// Timestamps and flags of the buffer.
  public var attributes: Buffer.Attributes { buffer.attributes }
  /// Presentation timestamp.
  public var pts: ClockTime? { buffer.pts }
  /// Duration of the content.
  public var duration: ClockTime? { buffer.duration }
  /// Bytes in the buffer.
  public var size: Int { unsafe cBuffer.map { unsafe Int(clamping: gst_buffer_get_size($0)) } ?? 0 }

  /// The caps, if known.
  public var caps: Caps? {
    guard let caps = unsafe gst_sample_get_caps(raw) else { return nil }
    return unsafe Caps.retaining(caps)
  }

  /// The description of raw video; `nil` for other caps.
  public var videoInfo: VideoInfo? {
    guard let caps = unsafe gst_sample_get_caps(raw) else { return nil }
    return unsafe Caps.lending(caps) { VideoInfo($0) }
  }

  /// The position in the stream, as ``Pipeline/position`` and seeks count it: the presentation timestamp in the
  /// segment. `nil` if either is missing, or the buffer is not in the segment.
  public var streamTime: ClockTime? { segment?.streamTime(of: pts) }

  /// The segment that the buffer belongs to.
  public var segment: Segment? { unsafe gst_sample_get_segment(raw).map { unsafe Segment($0.pointee) } }

  /// Maps the bytes for reading as long as the map lives: `try sample.map().bytes` is a span.
  /// - Throws: `FlowError.error` when there is no buffer, or its memory cannot be mapped.
  @_lifetime(borrow self)
  public func map() throws(FlowError) -> ReadMap {
    guard let buffer = unsafe cBuffer else { throw .error }
    let map = try unsafe ReadMap(buffer)
    return unsafe overrideLifetime(map, borrowing: self)
  }

  /// A copy of the bytes.
  /// - Throws: `FlowError.error` when there is no buffer, or its memory cannot be mapped.
  public func copiedBytes() throws(FlowError) -> [UInt8] {
    guard let buffer = unsafe cBuffer else { throw .error }
    let map = try unsafe ReadMap(buffer)
    return map.copiedBytes()
  }

  /// Maps raw video for reading, plane by plane.
  /// - Throws: `FlowError.error` when it is not raw video, or its memory cannot be mapped.
  public func mapVideo() throws(FlowError) -> VideoFrameMap {
    guard let info = videoInfo else { throw .error }
    return try VideoFrameMap(buffer, info: info, for: .reading)
  }
}
