// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// Makes buffers one after the other (`GstPushSrc`): the base class does the thread, negotiation, states, the segment
/// and, for live sources, waiting for the clock.
open class PushSource: Element {
  private var source: UnsafeMutablePointer<GstBaseSrc> {
    unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstBaseSrc.self)
  }

  // MARK: To override

  /// Data flow is about to begin: open the device. The stream's state is made in `prepareToStream`.
  open func start() throws(ElementError) {}
  /// Data flow has ended.
  open func stop() {}
  /// The caps that were agreed on. Answers whether they can be made.
  open func setCaps(_ caps: borrowing Caps) -> Bool { true }
  /// Chooses one of the possible caps. The first value of each field by default.
  open func fixateCaps(_ caps: consuming Caps) -> Caps {
    guard let fixed = unsafe Self.parent.pointee.fixate(source, caps.take()) else { return .empty() }
    return unsafe Caps(owning: fixed)
  }
  /// The next buffer, with its timestamps; may wait.
  /// - Throws: `.endOfStream` behind the last; `.flushing` when `unlock` ended the wait.
  open func nextBuffer() throws(FlowError) -> Buffer { throw .endOfStream }
  /// Another thread wants `nextBuffer` to return soon: end its wait.
  open func unlock() {}
  /// `nextBuffer` may wait again.
  open func unlockStop() {}
  /// A query from downstream or the application. Chains to the base class by default.
  open func query(_ query: borrowing Query) -> Bool { unsafe Self.parent.pointee.query(source, query.raw) != 0 }
  /// An event from downstream or the application. Chains to the base class by default.
  open func event(_ event: consuming Event) -> Bool {
    // The base class does not take it over.
    unsafe Self.parent.pointee.event(source, event.raw) != 0
  }

  // MARK: Services of the base class

  /// Where the buffers leave.
  public var sourcePad: Pad { unsafe Pad(source.pointee.srcpad) }
  /// The segment of the data in hand.
  public var segment: Segment { unsafe Segment(source.pointee.segment) }

  /// Buffers are made in real time: none while paused.
  public func setLive(_ isLive: Bool) { unsafe gst_base_src_set_live(source, isLive ? 1 : 0) }
  /// Positions are times rather than bytes.
  public func setTimeFormat() { unsafe gst_base_src_set_format(source, GST_FORMAT_TIME) }
  /// Buffers without timestamps get the running time at which they were made.
  public func setStampsBuffers(_ stamps: Bool) { unsafe gst_base_src_set_do_timestamp(source, stamps ? 1 : 0) }

  // MARK: Trampolines

  /// `GstPushSrc`.
  override open class var parentType: (type: GType, instanceSize: Int) {
    unsafe (gst_push_src_get_type(), MemoryLayout<GstPushSrc>.stride)
  }

  nonisolated(unsafe) private static let parent: UnsafePointer<GstBaseSrcClass> =
    unsafe UnsafePointer(
      UnsafeMutableRawPointer(g_type_class_ref(gst_push_src_get_type()))
        .assumingMemoryBound(to: GstBaseSrcClass.self))

  /// `GstBaseSrc` is the first part of a `GstPushSrc`.
  private static func object(_ source: UnsafeMutablePointer<GstBaseSrc>?) -> UnsafeMutablePointer<GstPushSrc>? {
    unsafe source.map { unsafe UnsafeMutableRawPointer($0).assumingMemoryBound(to: GstPushSrc.self) }
  }

  /// Installs the methods above.
  @unsafe override open class func installVirtualMethods(in classStructure: UnsafeMutableRawPointer) {
    let methods = unsafe classStructure.assumingMemoryBound(to: GstBaseSrcClass.self)
    _ = unsafe parent
    unsafe methods.pointee.start = { source in
      unsafe attempt(PushSource.object(source), PushSource.self) { element throws(ElementError) in try element.start() }
    }
    unsafe methods.pointee.stop = { source in
      unsafe swiftObject(PushSource.object(source), as: PushSource.self)?.stop()
      return 1
    }
    unsafe methods.pointee.set_caps = { source, caps in
      unsafe borrow(PushSource.object(source), PushSource.self, caps) { (element, caps: borrowing Caps) in
        element.setCaps(caps)
      }
    }
    unsafe methods.pointee.fixate = { source, caps in
      guard let element = unsafe swiftObject(PushSource.object(source), as: PushSource.self), let caps = unsafe caps
      else { return unsafe caps }
      return unsafe element.fixateCaps(Caps(owning: caps)).take()
    }
    unsafe methods.pointee.unlock = { source in
      unsafe swiftObject(PushSource.object(source), as: PushSource.self)?.unlock()
      return 1
    }
    unsafe methods.pointee.unlock_stop = { source in
      unsafe swiftObject(PushSource.object(source), as: PushSource.self)?.unlockStop()
      return 1
    }
    unsafe methods.pointee.query = { source, query in
      unsafe borrow(PushSource.object(source), PushSource.self, query) { (element, query: borrowing Query) in
        element.query(query)
      }
    }
    unsafe methods.pointee.event = { source, event in
      guard let element = unsafe swiftObject(PushSource.object(source), as: PushSource.self),
        let event = unsafe event
      else { return 0 }
      return unsafe element.event(Event.retaining(event)) ? 1 : 0
    }
    let pushMethods = unsafe classStructure.assumingMemoryBound(to: GstPushSrcClass.self)
    unsafe pushMethods.pointee.create = { source, output in
      unsafe flow(source, PushSource.self) { element throws(FlowError) in
        unsafe output?.pointee = try element.nextBuffer().take()
      }
    }
  }
}
