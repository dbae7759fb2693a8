// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// A sink (`GstBaseSink`): the base class handles preroll, the clock, quality of service and the segment.
open class BaseSink: Element {
  private var sink: UnsafeMutablePointer<GstBaseSink> {
    unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstBaseSink.self)
  }

  // MARK: To override

  /// Data flow is about to begin: open the device. The stream's state is made in `prepareToStream`.
  open func start() throws(ElementError) {}
  /// Data flow has ended.
  open func stop() {}
  /// The caps that the sink supports now: by default the template's. Called on any thread.
  open func sinkCaps(filter: borrowing Caps?) -> Caps {
    guard let caps = unsafe Self.parent.pointee.get_caps(sink, Caps.raw(filter)) else {
      return sinkPad.templateCaps
    }
    return unsafe Caps(owning: caps)
  }
  /// Sets upstream's caps. Returns whether they are supported.
  open func setCaps(_ caps: borrowing Caps) -> Bool { true }
  /// Renders a buffer, at its time.
  open func render(_ buffer: borrowing Buffer) throws(FlowError) {}
  /// Whether ``render(_:)-(BufferList)`` takes lists of buffers. By default their buffers are rendered one by one,
  /// each at its time.
  open class var rendersLists: Bool { false }
  /// Renders the buffers of a list together, at the time of the first, if ``rendersLists`` is true: by default with
  /// ``render(_:)-(Buffer)``.
  open func render(_ list: borrowing BufferList) throws(FlowError) {
    try list.forEachBuffer { (buffer) throws(FlowError) in try render(buffer) }
  }
  /// Shows the first buffer while paused; `render` gets it too when the pipeline plays.
  open func preroll(_ buffer: borrowing Buffer) throws(FlowError) {}
  /// Makes `render`, which may wait on another thread, return soon.
  open func unlock() {}
  /// `render` may wait again.
  open func unlockStop() {}
  /// An event from upstream. Chains to the base class by default.
  open func event(_ event: consuming Event) -> Bool { unsafe Self.parent.pointee.event(sink, event.take()) != 0 }
  /// A query from upstream, on any thread. Chains to the base class by default.
  open func query(_ query: borrowing Query) -> Bool { unsafe Self.parent.pointee.query(sink, query.raw) != 0 }
  /// Answers upstream's allocation query: declare the metas that the sink supports.
  open func proposeAllocation(_ query: borrowing Query) -> Bool { true }

  // MARK: Services of the base class

  /// The sink pad.
  public var sinkPad: Pad { unsafe Pad(lent: sink.pointee.sinkpad) }
  /// The current segment.
  public var segment: Segment { unsafe Segment(sink.pointee.segment) }

  // MARK: Trampolines

  override open class var requiredTemplates: [String] { ["sink"] }
  /// `GstBaseSink`.
  override open class var parentType: (type: GType, instanceSize: Int) {
    unsafe (gst_base_sink_get_type(), MemoryLayout<GstBaseSink>.stride)
  }

  nonisolated(unsafe) private static let parent = unsafe VirtualMethod.parentClass(
    gst_base_sink_get_type(), as: GstBaseSinkClass.self)

  /// Installs the methods above.
  @unsafe override open class func installVirtualMethods(in classStructure: UnsafeMutableRawPointer) {
    let methods = unsafe classStructure.assumingMemoryBound(to: GstBaseSinkClass.self)
    _ = unsafe parent
    unsafe methods.pointee.start = { unsafe VirtualMethod.attempt($0, BaseSink.start) }
    unsafe methods.pointee.stop = { unsafe VirtualMethod.perform($0, BaseSink.stop) }
    unsafe methods.pointee.get_caps = { unsafe VirtualMethod.caps($0, filter: $1, BaseSink.sinkCaps) }
    unsafe methods.pointee.set_caps = { unsafe VirtualMethod.borrow($0, $1, BaseSink.setCaps) }
    unsafe methods.pointee.render = { unsafe VirtualMethod.flow($0, borrowing: $1, BaseSink.render) }
    if rendersLists {
      unsafe methods.pointee.render_list = { sink, list in
        guard let list = unsafe list else { return GST_FLOW_ERROR }
        return unsafe VirtualMethod.flow(sink) { (element: BaseSink) in
          { () throws(FlowError) in
            try unsafe BufferList.lending(list) { (list) throws(FlowError) in try element.render(list) }
          }
        }
      }
    }
    unsafe methods.pointee.preroll = { unsafe VirtualMethod.flow($0, borrowing: $1, BaseSink.preroll) }
    unsafe methods.pointee.unlock = { unsafe VirtualMethod.perform($0, BaseSink.unlock) }
    unsafe methods.pointee.unlock_stop = { unsafe VirtualMethod.perform($0, BaseSink.unlockStop) }
    unsafe methods.pointee.event = { unsafe VirtualMethod.consume($0, $1, BaseSink.event) }
    unsafe methods.pointee.query = { unsafe VirtualMethod.borrow($0, $1, BaseSink.query) }
    unsafe methods.pointee.propose_allocation = { unsafe VirtualMethod.borrow($0, $1, BaseSink.proposeAllocation) }
  }
}
