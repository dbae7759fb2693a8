// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// A buffer's picture, mapped plane by plane as long as the value lives (`GstVideoFrame`). It holds a reference to the
/// buffer.
///
/// Strides and offsets come from the buffer's `GstVideoMeta` if it has one, otherwise from the format.
@safe public struct VideoFrameMap: ~Copyable, @unchecked Sendable {
  private var raw: GstVideoFrame
  /// Whether the map is for writing.
  public let isWritable: Bool

  /// Timestamps and flags of the buffer that is mapped.
  public var attributes: Buffer.Attributes {
    guard let buffer = unsafe raw.buffer else { return Buffer.Attributes() }
    return unsafe Buffer.lending(buffer) { $0.attributes }
  }

  /// The purpose of a map.
  public enum Access: Sendable {
    /// The memory is not changed.
    case reading
    /// The memory is overwritten; its content may be lost.
    case writing
    /// The memory is changed.
    case readingAndWriting
  }

  /// Maps a buffer; for writing it must have no other owner.
  ///
  /// - Throws: `FlowError.error` when the buffer cannot be mapped for this access, or is too small for the format.
  public init(_ buffer: borrowing Buffer, info: VideoInfo, for access: Access) throws(FlowError) {
    unsafe raw = GstVideoFrame()
    isWritable = access != .reading
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

  /// Lends a frame that a base class mapped, for writing if the body changes it, and will unmap.
  static func lending<Failure: Error>(
    _ frame: UnsafeMutablePointer<GstVideoFrame>, _ body: (inout VideoFrameMap) throws(Failure) -> Void
  ) throws(Failure) {
    var map = unsafe VideoFrameMap(mapped: frame.pointee)
    do throws(Failure) {
      try body(&map)
      unsafe map.giveBack(to: frame)
    } catch {
      unsafe map.giveBack(to: frame)
      throw error
    }
  }

  private consuming func giveBack(to frame: UnsafeMutablePointer<GstVideoFrame>) {
    unsafe precondition(raw.buffer == frame.pointee.buffer, LentObject.replaced)
    discard self
  }

  private init(mapped frame: GstVideoFrame) { unsafe (raw, isWritable) = (frame, true) }

  /// Format, size, strides and offsets of this buffer.
  public var info: VideoInfo { unsafe VideoInfo(raw.info) }
  /// The number of planes.
  public var planeCount: Int { info.planeCount }

  /// The rows of a plane; 0 after the last plane.
  public func rowCount(ofPlane plane: Int) -> Int { info.planeSize(plane).rows }

  /// The bytes of a row of a plane, without padding; empty after the last row or plane.
  @_lifetime(borrow self)
  public borrowing func row(_ row: Int, ofPlane index: Int) -> Span<UInt8> {
    let bytes = unsafe rowBytes(row, ofPlane: index)
    let span = unsafe Span<UInt8>(_unsafeElements: UnsafeBufferPointer(bytes))
    return unsafe overrideLifetime(span, borrowing: self)
  }

  /// The bytes of a row of a plane, without padding; empty after the last row or plane, and in a map for reading.
  @_lifetime(&self)
  public mutating func mutableRow(_ row: Int, ofPlane index: Int) -> MutableSpan<UInt8> {
    let none = unsafe UnsafeMutableBufferPointer<UInt8>(start: nil, count: 0)
    let bytes = unsafe isWritable ? rowBytes(row, ofPlane: index) : none
    let span = unsafe MutableSpan<UInt8>(_unsafeElements: bytes)
    return unsafe overrideLifetime(span, mutating: &self)
  }

  private func rowBytes(_ row: Int, ofPlane index: Int) -> UnsafeMutableBufferPointer<UInt8> {
    let none = unsafe UnsafeMutableBufferPointer<UInt8>(start: nil, count: 0)
    let size = info.planeSize(index)
    guard 0..<size.rows ~= row, let plane = unsafe plane(index), let base = unsafe plane.memory.baseAddress else {
      return unsafe none
    }
    let (distance, overflow) = row.multipliedReportingOverflow(by: stride(ofPlane: index))
    guard !overflow, distance >= 0 else { return unsafe none }
    // The meta may be wrong: the row must end within the memory.
    let rest = unsafe plane.memory.count - (plane.start - base)
    let count = min(size.bytes, rest - min(rest, distance))
    guard count > 0 else { return unsafe none }
    let start = unsafe (plane.start + distance).assumingMemoryBound(to: UInt8.self)
    return unsafe UnsafeMutableBufferPointer(start: start, count: count)
  }

  /// Another owner of the mapped buffer.
  public borrowing func shareBuffer() -> Buffer { unsafe .retaining(raw.buffer) }

  /// Bytes from one row to the next; 0 after the last plane.
  public func stride(ofPlane plane: Int) -> Int { info.stride(ofPlane: plane) }

  /// A plane's first sample, and all the memory around it, padding included.
  ///
  /// - Returns: `nil` for a plane that the format does not have.
  /// - Warning: valid as long as the map lives; to be written only when ``isWritable``.
  @unsafe public func plane(_ index: Int) -> (start: UnsafeMutableRawPointer, memory: UnsafeMutableRawBufferPointer)? {
    guard 0..<planeCount ~= index else { return nil }
    let (data, ownMap) =
      switch index {
      case 0: unsafe (raw.data.0, raw.map.0)
      case 1: unsafe (raw.data.1, raw.map.1)
      case 2: unsafe (raw.data.2, raw.map.2)
      default: unsafe (raw.data.3, raw.map.3)
      }
    // Without GstVideoMeta the whole buffer is mapped once, as plane 0, and the other maps are undefined.
    let map = unsafe raw.meta == nil ? raw.map.0 : ownMap
    guard let data = unsafe data, let start = unsafe map.data else { return nil }
    return unsafe (data, UnsafeMutableRawBufferPointer(start: start, count: Int(clamping: map.size)))
  }

  /// The first row of a plane without its padding, the bytes from one row to the next, and the number of rows in the
  /// plane's memory. ``row(_:ofPlane:)`` gives the same row by row; this is for pictures of a thousand rows.
  ///
  /// - Returns: `nil` when there is no such row or plane.
  /// - Warning: valid as long as the map lives.
  @unsafe package func rows(ofPlane index: Int) -> (first: UnsafeRawBufferPointer, stride: Int, count: Int)? {
    let size = info.planeSize(index)
    let stride = stride(ofPlane: index)
    guard size.bytes > 0, let plane = unsafe plane(index), let base = unsafe plane.memory.baseAddress else {
      return nil
    }
    // The meta may be wrong: every row must end within the memory.
    let rest = unsafe plane.memory.count - (plane.start - base) - size.bytes
    guard rest >= 0 else { return nil }
    let count = stride > 0 ? min(size.rows, rest / stride + 1) : min(size.rows, 1)
    return unsafe (UnsafeRawBufferPointer(start: plane.start, count: size.bytes), stride, count)
  }

  /// Copies bytes to the beginning of a row. Returns `false`, without a copy, when they would exceed the plane's
  /// memory, and in a map for reading.
  @discardableResult
  public mutating func write(_ samples: Span<UInt8>, toRow row: Int, ofPlane index: Int) -> Bool {
    guard isWritable, row >= 0, let plane = unsafe plane(index) else { return false }
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
