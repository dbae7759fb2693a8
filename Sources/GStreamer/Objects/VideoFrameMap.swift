// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// A buffer's picture, mapped plane by plane until the value goes (`GstVideoFrame`). It holds the buffer.
///
/// Strides and offsets come from the buffer's `GstVideoMeta` when it has one, else from the format.
@safe public struct VideoFrameMap: ~Copyable, @unchecked Sendable {
  private var raw: GstVideoFrame

  /// What a map is for.
  public enum Access: Sendable { case reading, writing, readingAndWriting }

  /// Maps a buffer; for writing it must have no other owner.
  ///
  /// - Throws: `FlowError.error` when the buffer cannot be mapped so, or is too small for the format.
  public init(_ buffer: borrowing Buffer, info: VideoInfo, for access: Access) throws(FlowError) {
    unsafe raw = GstVideoFrame()
    var info = unsafe info.raw
    let flags =
      switch access {
      case .reading: GST_MAP_READ.rawValue
      case .writing: GST_MAP_WRITE.rawValue
      case .readingAndWriting: GST_MAP_READ.rawValue | GST_MAP_WRITE.rawValue
      }
    guard unsafe gst_video_frame_map(&raw, &info, buffer.raw, GstMapFlags(rawValue: flags)) != 0 else { throw .error }
  }

  deinit {
    var raw = unsafe raw
    unsafe gst_video_frame_unmap(&raw)
  }

  /// The geometry that the buffer has.
  public var info: VideoInfo { unsafe VideoInfo(raw.info) }
  public var planeCount: Int { info.planeCount }

  /// Another owner of the buffer that is mapped.
  public borrowing func shareBuffer() -> Buffer { unsafe .retaining(raw.buffer) }

  /// Bytes from one row to the next; 0 past the last plane.
  public func stride(ofPlane plane: Int) -> Int { info.stride(ofPlane: plane) }

  /// Where a plane's first shown sample is, and all the memory it lies in, padding included.
  ///
  /// - Returns: `nil` for a plane that the format does not have.
  /// - Warning: good as long as the map lives.
  @unsafe public func plane(_ index: Int) -> (start: UnsafeMutableRawPointer, memory: UnsafeMutableRawBufferPointer)? {
    guard 0..<planeCount ~= index else { return nil }
    let (data, ownMap) =
      switch index {
      case 0: unsafe (raw.data.0, raw.map.0)
      case 1: unsafe (raw.data.1, raw.map.1)
      case 2: unsafe (raw.data.2, raw.map.2)
      default: unsafe (raw.data.3, raw.map.3)
      }
    // Without a GstVideoMeta the whole buffer is mapped once, as plane 0.
    let map = unsafe ownMap.data == nil ? raw.map.0 : ownMap
    guard let data = unsafe data, let start = unsafe map.data else { return nil }
    return unsafe (data, UnsafeMutableRawBufferPointer(start: start, count: Int(clamping: map.size)))
  }

  /// Copies samples into the beginning of a row. Answers false when they would leave the plane's memory.
  ///
  /// The map must be for writing.
  @discardableResult
  public mutating func write(_ samples: Span<UInt8>, toRow row: Int, ofPlane index: Int) -> Bool {
    guard row >= 0, let plane = unsafe plane(index) else { return false }
    let (distance, overflow) = row.multipliedReportingOverflow(by: stride(ofPlane: index))
    let first = unsafe plane.start - plane.memory.baseAddress!
    guard !overflow, distance >= 0, unsafe samples.count <= plane.memory.count - first,
      unsafe distance <= plane.memory.count - first - samples.count
    else { return false }
    unsafe samples.withUnsafeBytes { source in
      guard let bytes = source.baseAddress else { return }
      unsafe (plane.start + distance).copyMemory(from: bytes, byteCount: source.count)
    }
    return true
  }
}
