// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// Several buffers that are sent together (`GstBufferList`, gst/gstbufferlist.h). Each pad is called once instead of
/// once a buffer, which matters if buffers are small and many, as network packets are.
///
/// A list that has other owners is copied before a change; the buffers in it are shared.
@safe public struct BufferList: ~Copyable {
  /// The C object.
  @unsafe public private(set) var raw: OpaquePointer

  /// Takes over one reference.
  @unsafe public init(owning raw: OpaquePointer) { unsafe self.raw = raw }
  deinit { unsafe gst_mini_object_unref(Self.object(raw)) }

  /// Gives the reference to the caller.
  @unsafe public consuming func take() -> OpaquePointer {
    let raw = unsafe raw
    discard self
    return unsafe raw
  }

  /// An empty list with room for some buffers; more can be added.
  public init(capacity: Int = 8) {
    _ = isGStreamerReady
    unsafe self.init(owning: gst_buffer_list_new_sized(guint(clamping: max(capacity, 1))))
  }

  /// Adds a reference to a C object that someone else owns.
  @unsafe static func retaining(_ raw: OpaquePointer) -> BufferList {
    unsafe gst_mini_object_ref(object(raw))
    return unsafe BufferList(owning: raw)
  }

  /// Lends a list that someone else owns to a function, without adding a reference.
  @unsafe static func lending<Result, Failure: Error>(
    _ raw: OpaquePointer, _ body: (borrowing BufferList) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let list = unsafe BufferList(owning: raw)
    do throws(Failure) {
      let result = try body(list)
      _ = unsafe list.take()
      return result
    } catch {
      _ = unsafe list.take()
      throw error
    }
  }

  @unsafe private static func object(_ raw: OpaquePointer) -> UnsafeMutablePointer<GstMiniObject> {
    unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstMiniObject.self)
  }

  /// Another owner of the same list; it is copied when either changes it.
  public borrowing func share() -> BufferList { unsafe .retaining(raw) }

  /// The number of buffers.
  public var count: Int { unsafe Int(gst_buffer_list_length(raw)) }
  /// Whether there are none.
  public var isEmpty: Bool { count == 0 }
  /// The bytes in all buffers.
  public var size: Int { unsafe Int(clamping: gst_buffer_list_calculate_size(raw)) }
  /// The places of the buffers, for a loop.
  public var indices: Range<Int> { 0..<count }

  /// A buffer, shared: a change copies it. `nil` when the index is out of range.
  public borrowing func buffer(at index: Int) -> Buffer? {
    guard index >= 0, index < count, let buffer = unsafe gst_buffer_list_get(raw, guint(index)) else { return nil }
    return unsafe Buffer.retaining(buffer)
  }

  /// Calls a function with each buffer, in their order, without adding a reference.
  public borrowing func forEachBuffer<Failure: Error>(
    _ body: (borrowing Buffer) throws(Failure) -> Void
  ) throws(Failure) {
    for index in indices {
      guard let buffer = unsafe gst_buffer_list_get(raw, guint(index)) else { return }
      try unsafe Buffer.lending(buffer) { (buffer) throws(Failure) in try body(buffer) }
    }
  }

  /// Adds a buffer behind the others.
  public mutating func append(_ buffer: consuming Buffer) {
    makeWritable()
    unsafe gst_buffer_list_insert(raw, -1, buffer.take())
  }

  /// Puts a changed buffer in the place of each, in their order; `nil` leaves it out.
  ///
  /// Changing a buffer copies it only if it has other owners.
  public mutating func update(_ body: (consuming Buffer) -> Buffer?) {
    makeWritable()
    let list = unsafe raw
    withoutActuallyEscaping(body) { body in
      var update = Update(body: body)
      unsafe withUnsafeMutablePointer(to: &update) { update in
        _ = unsafe gst_buffer_list_foreach(
          list,
          { slot, _, data in
            guard let slot = unsafe slot, let raw = unsafe slot.pointee, let data = unsafe data else { return 1 }
            let update = unsafe data.assumingMemoryBound(to: Update.self)
            // The function owns the reference; the list takes the buffer that is in its place then.
            let changed = unsafe update.pointee.body(Buffer(owning: raw))
            unsafe slot.pointee = nil
            if let changed { unsafe slot.pointee = changed.take() }
            return 1
          }, update)
      }
    }
  }

  private struct Update { let body: (consuming Buffer) -> Buffer? }

  /// Removes some of the buffers; a range that exceeds the list removes none.
  public mutating func remove(_ range: Range<Int>) {
    guard range.lowerBound >= 0, range.upperBound <= count, !range.isEmpty else { return }
    makeWritable()
    unsafe gst_buffer_list_remove(raw, guint(range.lowerBound), guint(range.count))
  }

  private mutating func makeWritable() {
    guard let own = unsafe gst_mini_object_make_writable(Self.object(raw)) else { return }
    unsafe raw = OpaquePointer(UnsafeMutableRawPointer(own))
  }
}

extension BufferList: @unchecked Sendable {}
