// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// A buffer's bytes, mapped for reading as long as the value lives.
@safe public struct ReadMap: ~Copyable, ~Escapable {
  private let buffer: UnsafeMutablePointer<GstBuffer>
  private var info = unsafe GstMapInfo()

  @_lifetime(borrow buffer)
  init(_ buffer: UnsafeMutablePointer<GstBuffer>) throws(FlowError) {
    unsafe self.buffer = buffer
    guard unsafe gst_buffer_map(buffer, &info, GST_MAP_READ) != 0 else { throw .error }
  }

  deinit {
    var info = unsafe info
    unsafe gst_buffer_unmap(buffer, &info)
  }

  /// A copy of the bytes.
  func copiedBytes() -> [UInt8] {
    let count = unsafe info.data == nil ? 0 : Int(info.size)
    return unsafe Array(UnsafeBufferPointer(start: info.data, count: count))
  }

  /// The bytes.
  public var bytes: Span<UInt8> {
    @_lifetime(borrow self) get {
      let span = unsafe Span(
        _unsafeElements: UnsafeBufferPointer(start: info.data, count: info.data == nil ? 0 : Int(info.size)))
      return unsafe overrideLifetime(span, borrowing: self)
    }
  }
}

/// A buffer's bytes, mapped for reading and writing as long as the value lives.
@safe public struct WriteMap: ~Copyable, ~Escapable {
  private let buffer: UnsafeMutablePointer<GstBuffer>
  private var info = unsafe GstMapInfo()

  @_lifetime(borrow buffer)
  init(_ buffer: UnsafeMutablePointer<GstBuffer>) throws(FlowError) {
    unsafe self.buffer = buffer
    let flags = GstMapFlags(rawValue: GST_MAP_READ.rawValue | GST_MAP_WRITE.rawValue)
    guard unsafe gst_buffer_map(buffer, &info, flags) != 0 else { throw .error }
  }

  deinit {
    var info = unsafe info
    unsafe gst_buffer_unmap(buffer, &info)
  }

  /// The bytes.
  public var bytes: MutableSpan<UInt8> {
    @_lifetime(&self) mutating get {
      let span = unsafe MutableSpan(
        _unsafeElements: UnsafeMutableBufferPointer(start: info.data, count: info.data == nil ? 0 : Int(info.size)))
      return unsafe overrideLifetime(span, mutating: &self)
    }
  }
}
