// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// A source (`GstBaseSrc`): the base class handles its thread, negotiation, states, seeks, the segment and, for live
/// sources, the clock.
///
/// A source with random access overrides `size` and `isSeekable`; one that only makes buffers in order is simpler as a
/// ``PushSource``.
open class BaseSource: Element {
  var source: UnsafeMutablePointer<GstBaseSrc> {
    unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstBaseSrc.self)
  }

  // MARK: To override

  /// Data flow is about to begin: open the device. The stream's state is made in `prepareToStream`.
  open func start() throws(ElementError) {}
  /// Data flow has ended.
  open func stop() {}
  /// The caps that the source can produce: by default the template's, or those that were negotiated.
  open func sourceCaps(filter: borrowing Caps?) -> Caps {
    guard let caps = unsafe Self.parent.pointee.get_caps(source, Caps.raw(filter)) else { return .empty() }
    return unsafe Caps(owning: caps)
  }
  /// Fixates the caps: by default to the first value of each field.
  open func fixateCaps(_ caps: consuming Caps) -> Caps {
    guard let fixed = unsafe Self.parent.pointee.fixate(source, caps.take()) else { return .empty() }
    return unsafe Caps(owning: fixed)
  }
  /// Negotiates the caps with downstream. Chains to the base class by default.
  open func negotiate() -> Bool { unsafe Self.parent.pointee.negotiate(source) != 0 }
  /// Sets the negotiated caps. Returns whether the source can produce them.
  open func setCaps(_ caps: borrowing Caps) -> Bool { true }
  /// Downstream's answer to the allocation query: choose the pool. Chains to the base class by default.
  open func decideAllocation(_ query: borrowing Query) -> Bool {
    unsafe Self.parent.pointee.decide_allocation(source, query.raw) != 0
  }
  /// The size of a stream in bytes format; `nil` if unknown. Called on any thread.
  open func size() -> UInt64? { nil }
  /// The duration of a stream in time format; `nil` if unknown. Called on any thread.
  open func duration() -> ClockTime? { nil }
  /// Whether `seek` can reach any position, and, in bytes format, `buffer` any offset. Called on any thread.
  open func isSeekable() -> Bool { false }
  /// Moves to the start of a segment (`Segment.position`). Not called while `buffer` runs.
  /// - Returns: whether the next buffer has that position. The default supports bytes format and the start of the
  ///   stream.
  open func seek(to segment: Segment) -> Bool {
    var raw = unsafe segment.raw
    return unsafe Self.parent.pointee.do_seek(source, &raw) != 0
  }
  /// Makes a buffer with its timestamps; may wait.
  ///
  /// - Parameters:
  ///   - offset: its position in bytes; `nil` in time format, for the next buffer.
  ///   - length: the bytes wanted (`blockSize`, unless downstream pulls others). Fewer may be returned.
  /// - Throws: `.endOfStream` after the last buffer; `.flushing` when `unlock` ended the wait.
  open func buffer(at offset: UInt64?, length: Int) throws(FlowError) -> Buffer { throw .endOfStream }
  /// The data that the source's thread pushes next.
  enum Made: ~Copyable {
    case buffer(Buffer)
    case list(BufferList)
  }
  func made(at offset: UInt64?, length: Int) throws(FlowError) -> Made {
    .buffer(try buffer(at: offset, length: length))
  }
  /// When a buffer of this source is sent, as running time: the base class waits until `start`. `nil` sends it
  /// immediately.
  ///
  /// By default, a live source's buffers are sent at their PTS, as if made in real time, others immediately. The base
  /// class then moves all timestamps by the distance between the first and the running time at which it comes. A
  /// device that delivers in real time and timestamps its data by the capture returns `nil`.
  open func times(of buffer: borrowing Buffer) -> (start: ClockTime, end: ClockTime?)? {
    guard unsafe gst_base_src_is_live(source) != 0, let start = buffer.pts else { return nil }
    return (start, buffer.duration.map { start + $0 })
  }
  /// Makes `buffer`, which may wait on another thread, return soon.
  open func unlock() {}
  /// `buffer` may wait again.
  open func unlockStop() {}
  /// A query from downstream or the application, on any thread. Chains to the base class by default.
  open func query(_ query: borrowing Query) -> Bool {
    if let duration = duration(), query.setDuration(duration) { return true }
    return unsafe Self.parent.pointee.query(source, query.raw) != 0
  }
  /// An event from downstream or the application, on any thread. Chains to the base class by default.
  open func event(_ event: borrowing Event) -> Bool { unsafe Self.parent.pointee.event(source, event.raw) != 0 }

  // MARK: Services of the base class

  /// The source pad.
  public var sourcePad: Pad { unsafe Pad(lent: source.pointee.srcpad) }
  /// The current segment.
  public var segment: Segment { unsafe Segment(source.pointee.segment) }
  /// The length that `buffer` is called with (the `blocksize` property).
  public var blockSize: Int {
    get { unsafe Int(gst_base_src_get_blocksize(source)) }
    set { unsafe gst_base_src_set_blocksize(source, guint(clamping: newValue)) }
  }

  /// Whether the source is live: it produces in real time, and nothing while paused. See ``times(of:)``.
  public func setLive(_ isLive: Bool) { unsafe gst_base_src_set_live(source, isLive ? 1 : 0) }
  /// Makes time the format of the stream, rather than bytes.
  public func setTimeFormat() { unsafe gst_base_src_set_format(source, GST_FORMAT_TIME) }

  // MARK: Trampolines

  override open class var requiredTemplates: [String] { ["src"] }
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
      let flow = FlowError.code { () throws(FlowError) in
        switch try element.made(at: offset == .max ? nil : UInt64(offset), length: Int(length)) {
        case .buffer(let buffer): unsafe output?.pointee = buffer.take()
        case .list(let list): unsafe gst_base_src_submit_buffer_list(source, list.take())
        }
      }
      // Success without a buffer, which `dropped` is, is nothing that a source can return: its thread would end in
      // silence.
      return flow.rawValue > 0 ? GST_FLOW_ERROR : flow
    }
    unsafe methods.pointee.get_times = { source, buffer, start, end in
      guard let element = unsafe swiftObject(source, as: BaseSource.self), let buffer = unsafe buffer else { return }
      let times = unsafe Buffer.lending(buffer) { element.times(of: $0) }
      unsafe start?.pointee = GstClockTime(times.map(\.start).raw)
      unsafe end?.pointee = GstClockTime(times.flatMap(\.end).raw)
    }
    unsafe methods.pointee.unlock = { unsafe VirtualMethod.perform($0, BaseSource.unlock) }
    unsafe methods.pointee.unlock_stop = { unsafe VirtualMethod.perform($0, BaseSource.unlockStop) }
    unsafe methods.pointee.query = { unsafe VirtualMethod.borrow($0, $1, BaseSource.query) }
    // The base class keeps the event.
    unsafe methods.pointee.event = { unsafe VirtualMethod.borrow($0, $1, BaseSource.event) }
  }
}
