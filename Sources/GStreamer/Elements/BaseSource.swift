// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// Makes a stream (`GstBaseSrc`): the base class does the thread, negotiation, states, seeks, the segment and, for live
/// sources, waiting for the clock.
///
/// What can be read from anywhere answers `size` and `isSeekable`; a source of buffers one after the other is easier as
/// a ``PushSource``.
open class BaseSource: Element {
  var source: UnsafeMutablePointer<GstBaseSrc> {
    unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstBaseSrc.self)
  }

  // MARK: To override

  /// Data flow is about to begin: open the device. The stream's state is made in `prepareToStream`.
  open func start() throws(ElementError) {}
  /// Data flow has ended.
  open func stop() {}
  /// The caps that can be made: the template's by default, or those that were agreed on.
  open func sourceCaps(filter: borrowing Caps?) -> Caps {
    guard let caps = unsafe Self.parent.pointee.get_caps(source, Caps.raw(filter)) else { return .empty() }
    return unsafe Caps(owning: caps)
  }
  /// Chooses one of the possible caps. The first value of each field by default.
  open func fixateCaps(_ caps: consuming Caps) -> Caps {
    guard let fixed = unsafe Self.parent.pointee.fixate(source, caps.take()) else { return .empty() }
    return unsafe Caps(owning: fixed)
  }
  /// Settles the caps with downstream. Chains to the base class by default.
  open func negotiate() -> Bool { unsafe Self.parent.pointee.negotiate(source) != 0 }
  /// The caps that were agreed on. Answers whether they can be made.
  open func setCaps(_ caps: borrowing Caps) -> Bool { true }
  /// Downstream's answer to the allocation query: choose the pool. Chains to the base class by default.
  open func decideAllocation(_ query: borrowing Query) -> Bool {
    unsafe Self.parent.pointee.decide_allocation(source, query.raw) != 0
  }
  /// Bytes in the stream, where positions are bytes; `nil` when that is not known.
  open func size() -> UInt64? { nil }
  /// Whether `seek` can go anywhere, and, where positions are bytes, `buffer` can read from anywhere.
  open func isSeekable() -> Bool { false }
  /// Goes to where a segment begins (`Segment.position`). Not called while `buffer` runs.
  /// - Returns: whether the next buffer is of that position. By default, for bytes and for the beginning.
  open func seek(to segment: Segment) -> Bool {
    var raw = unsafe segment.raw
    return unsafe Self.parent.pointee.do_seek(source, &raw) != 0
  }
  /// A buffer of the stream, with its timestamps; may wait.
  ///
  /// - Parameters:
  ///   - offset: where it begins in bytes; `nil` where positions are times: the next.
  ///   - length: as many bytes as are wanted (`blockSize`, unless downstream asks for others). Fewer may come.
  /// - Throws: `.endOfStream` behind the last; `.flushing` when `unlock` ended the wait.
  open func buffer(at offset: UInt64?, length: Int) throws(FlowError) -> Buffer { throw .endOfStream }
  /// Another thread wants `buffer` to return soon: end its wait.
  open func unlock() {}
  /// `buffer` may wait again.
  open func unlockStop() {}
  /// A query from downstream or the application, on any thread. Chains to the base class by default.
  open func query(_ query: borrowing Query) -> Bool { unsafe Self.parent.pointee.query(source, query.raw) != 0 }
  /// An event from downstream or the application. Chains to the base class by default.
  open func event(_ event: borrowing Event) -> Bool { unsafe Self.parent.pointee.event(source, event.raw) != 0 }

  // MARK: Services of the base class

  /// Where the buffers leave.
  public var sourcePad: Pad { unsafe Pad(source.pointee.srcpad) }
  /// The segment of the data in hand.
  public var segment: Segment { unsafe Segment(source.pointee.segment) }
  /// Bytes that `buffer` is asked for (the `blocksize` property).
  public var blockSize: Int {
    get { unsafe Int(gst_base_src_get_blocksize(source)) }
    set { unsafe gst_base_src_set_blocksize(source, guint(clamping: newValue)) }
  }

  /// Buffers are made in real time: none while paused.
  public func setLive(_ isLive: Bool) { unsafe gst_base_src_set_live(source, isLive ? 1 : 0) }
  /// Positions are times rather than bytes.
  public func setTimeFormat() { unsafe gst_base_src_set_format(source, GST_FORMAT_TIME) }
  /// Buffers without timestamps get the running time at which they were made.
  public func setStampsBuffers(_ stamps: Bool) { unsafe gst_base_src_set_do_timestamp(source, stamps ? 1 : 0) }
  /// Whether the stream ends when `size` was reached, rather than when `buffer` says so.
  public func setEndsAtSize(_ ends: Bool) { unsafe gst_base_src_set_automatic_eos(source, ends ? 1 : 0) }
  /// Changes the caps in mid-stream, before the buffer that needs them.
  /// - Throws: `.notNegotiated` when downstream refuses.
  public func changeCaps(to caps: borrowing Caps) throws(FlowError) {
    guard unsafe gst_base_src_set_caps(source, caps.raw) != 0 else { throw .notNegotiated }
  }

  // MARK: Trampolines

  /// `GstBaseSrc`.
  override open class var parentType: (type: GType, instanceSize: Int) {
    unsafe (gst_base_src_get_type(), MemoryLayout<GstBaseSrc>.stride)
  }

  nonisolated(unsafe) private static let parent = unsafe VirtualMethod.parentClass(
    gst_base_src_get_type(), as: GstBaseSrcClass.self)

  /// Installs the methods above.
  @unsafe override open class func installVirtualMethods(in classStructure: UnsafeMutableRawPointer) {
    let methods = unsafe classStructure.assumingMemoryBound(to: GstBaseSrcClass.self)
    _ = unsafe parent
    unsafe methods.pointee.start = { unsafe VirtualMethod.attempt($0, BaseSource.start) }
    unsafe methods.pointee.stop = { unsafe VirtualMethod.perform($0, BaseSource.stop) }
    unsafe methods.pointee.get_caps = { unsafe VirtualMethod.caps($0, filter: $1, BaseSource.sourceCaps) }
    unsafe methods.pointee.fixate = { source, caps in
      guard let element = unsafe swiftObject(source, as: BaseSource.self), let caps = unsafe caps else {
        return unsafe caps
      }
      return unsafe element.fixateCaps(Caps(owning: caps)).take()
    }
    unsafe methods.pointee.negotiate = { unsafe VirtualMethod.answer($0, BaseSource.negotiate) }
    unsafe methods.pointee.set_caps = { unsafe VirtualMethod.borrow($0, $1, BaseSource.setCaps) }
    unsafe methods.pointee.decide_allocation = { unsafe VirtualMethod.borrow($0, $1, BaseSource.decideAllocation) }
    unsafe methods.pointee.get_size = { source, size in
      guard let known = unsafe swiftObject(source, as: BaseSource.self)?.size() else { return 0 }
      unsafe size?.pointee = guint64(known)
      return 1
    }
    unsafe methods.pointee.is_seekable = { unsafe VirtualMethod.answer($0, BaseSource.isSeekable) }
    unsafe methods.pointee.do_seek = { source, segment in
      guard let element = unsafe swiftObject(source, as: BaseSource.self), let segment = unsafe segment,
        unsafe element.seek(to: Segment(segment.pointee))
      else { return 0 }
      unsafe segment.pointee.time = unsafe segment.pointee.start
      return 1
    }
    unsafe methods.pointee.create = { source, offset, length, output in
      guard let element = unsafe swiftObject(source, as: BaseSource.self) else { return GST_FLOW_ERROR }
      return FlowError.code { () throws(FlowError) in
        let buffer = try element.buffer(at: offset == .max ? nil : UInt64(offset), length: Int(length))
        unsafe output?.pointee = buffer.take()
      }
    }
    unsafe methods.pointee.unlock = { unsafe VirtualMethod.perform($0, BaseSource.unlock) }
    unsafe methods.pointee.unlock_stop = { unsafe VirtualMethod.perform($0, BaseSource.unlockStop) }
    unsafe methods.pointee.query = { unsafe VirtualMethod.borrow($0, $1, BaseSource.query) }
    // The base class keeps the event.
    unsafe methods.pointee.event = { unsafe VirtualMethod.borrow($0, $1, BaseSource.event) }
  }
}
