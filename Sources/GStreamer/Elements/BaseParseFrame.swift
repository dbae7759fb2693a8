// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// A frame or the data to search for one (`GstBaseParseFrame`). Valid during the call.
@safe public struct BaseParseFrame: ~Copyable {
  @unsafe let raw: UnsafeMutablePointer<GstBaseParseFrame>
  @unsafe init(_ raw: UnsafeMutablePointer<GstBaseParseFrame>) { unsafe self.raw = raw }

  /// The bytes in the input buffer.
  public var size: Int { unsafe Int(clamping: gst_buffer_get_size(raw.pointee.buffer)) }

  /// Maps the input buffer for reading. Throws `FlowError.error` when that fails.
  @_lifetime(borrow self)
  public borrowing func map() throws(FlowError) -> ReadMap {
    let map = try unsafe ReadMap(raw.pointee.buffer)
    return unsafe overrideLifetime(map, borrowing: self)
  }

  /// Whether the base class passes this data for the first time: not again with more, after `needsMoreData`.
  public var isNew: Bool { unsafe raw.pointee.flags & GST_BASE_PARSE_FRAME_FLAG_NEW_FRAME.rawValue != 0 }

  /// Position in the input in bytes from its start; `UInt64.max` when unknown.
  public var offset: UInt64 { unsafe UInt64(raw.pointee.offset) }

  /// Consumes the frame without pushing anything downstream.
  public func markAsDropped() { unsafe raw.pointee.flags |= GST_BASE_PARSE_FRAME_FLAG_DROP.rawValue }

  /// Changes the input buffer's timestamps and flags, which become the frame's.
  public func modifyBuffer(_ body: (inout Buffer) -> Void) {
    var buffer = unsafe Buffer(owning: raw.pointee.buffer)
    body(&buffer)
    unsafe raw.pointee.buffer = buffer.take()
  }

  /// Calls a function with the input buffer.
  public func withBuffer<Result: ~Copyable>(_ body: (borrowing Buffer) -> Result) -> Result {
    unsafe Buffer.lending(raw.pointee.buffer) { body($0) }
  }

  /// Pushes this buffer in place of the input. To be set before `ParseStep.frame` is returned, or in `prePushFrame`.
  public func setOutput(_ buffer: consuming Buffer) {
    if let old = unsafe raw.pointee.out_buffer { unsafe unref(old) }
    unsafe raw.pointee.out_buffer = unsafe buffer.take()
  }

  /// Whether `setOutput` was called.
  public var hasOutput: Bool { unsafe raw.pointee.out_buffer != nil }

  /// Calls a function with the buffer to push: the buffer of `setOutput`, or else the input's. For `prePushFrame`.
  public func withOutput<Result: ~Copyable>(_ body: (borrowing Buffer) -> Result) -> Result {
    unsafe Buffer.lending(raw.pointee.out_buffer ?? raw.pointee.buffer) { body($0) }
  }

  /// Changes the buffer to push: the buffer of `setOutput`, or else the input's. For `prePushFrame`.
  public func modifyOutput<Failure: Error>(_ body: (inout Buffer) throws(Failure) -> Void) throws(Failure) {
    let isReplaced = unsafe raw.pointee.out_buffer != nil
    guard let owned = unsafe isReplaced ? raw.pointee.out_buffer : raw.pointee.buffer else { return }
    var output = unsafe Buffer(owning: owned)
    func putBack(_ output: consuming Buffer) {
      if isReplaced {
        unsafe raw.pointee.out_buffer = output.take()
      } else {
        unsafe raw.pointee.buffer = output.take()
      }
    }
    do throws(Failure) {
      try body(&output)
      putBack(output)
    } catch {
      putBack(output)
      throw error
    }
  }
}
