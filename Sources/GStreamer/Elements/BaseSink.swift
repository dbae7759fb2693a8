// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// Takes buffers at the end of a pipeline (`GstBaseSink`): the base class does preroll, waiting for the clock, quality
/// of service and the segment.
open class BaseSink: Element {
  private var sink: UnsafeMutablePointer<GstBaseSink> {
    unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstBaseSink.self)
  }

  // MARK: To override

  /// Data flow is about to begin: open the device. The stream's state is made in `prepareToStream`.
  open func start() throws(ElementError) {}
  /// Data flow has ended.
  open func stop() {}
  /// Upstream's caps. Answers whether they can be taken.
  open func setCaps(_ caps: borrowing Caps) -> Bool { true }
  /// A buffer whose time has come.
  open func render(_ buffer: borrowing Buffer) throws(FlowError) {}
  /// The first buffer while paused; it comes to `render` when the pipeline plays.
  open func preroll(_ buffer: borrowing Buffer) throws(FlowError) {}
  /// Another thread wants `render` to return soon: end its wait.
  open func unlock() {}
  /// `render` may wait again.
  open func unlockStop() {}
  /// An event from upstream. Chains to the base class by default.
  open func event(_ event: consuming Event) -> Bool { unsafe Self.parent.pointee.event(sink, event.take()) != 0 }
  /// A query from upstream. Chains to the base class by default.
  open func query(_ query: borrowing Query) -> Bool { unsafe Self.parent.pointee.query(sink, query.raw) != 0 }
  /// Answers upstream's allocation query: say here what metas the sink understands.
  open func proposeAllocation(_ query: borrowing Query) -> Bool { true }

  // MARK: Services of the base class

  /// Where the buffers come in.
  public var sinkPad: Pad { unsafe Pad(sink.pointee.sinkpad) }
  /// The segment of the data in hand.
  public var segment: Segment { unsafe Segment(sink.pointee.segment) }

  /// Whether buffers wait for their time (the `sync` property).
  public func setSync(_ sync: Bool) { unsafe gst_base_sink_set_sync(sink, sync ? 1 : 0) }
  /// Whether a state change to PAUSED waits for the first buffer (the `async` property).
  public func setWaitsForPreroll(_ waits: Bool) { unsafe gst_base_sink_set_async_enabled(sink, waits ? 1 : 0) }

  // MARK: Trampolines

  /// `GstBaseSink`.
  override open class var parentType: (type: GType, instanceSize: Int) {
    unsafe (gst_base_sink_get_type(), MemoryLayout<GstBaseSink>.stride)
  }

  nonisolated(unsafe) private static let parent: UnsafePointer<GstBaseSinkClass> =
    unsafe UnsafePointer(
      UnsafeMutableRawPointer(g_type_class_ref(gst_base_sink_get_type()))
        .assumingMemoryBound(to: GstBaseSinkClass.self))

  /// Installs the methods above.
  @unsafe override open class func installVirtualMethods(in classStructure: UnsafeMutableRawPointer) {
    let methods = unsafe classStructure.assumingMemoryBound(to: GstBaseSinkClass.self)
    _ = unsafe parent
    unsafe methods.pointee.start = { sink in
      unsafe attempt(sink, BaseSink.self) { element throws(ElementError) in try element.start() }
    }
    unsafe methods.pointee.stop = { sink in
      unsafe swiftObject(sink, as: BaseSink.self)?.stop()
      return 1
    }
    unsafe methods.pointee.set_caps = { sink, caps in
      unsafe borrow(sink, BaseSink.self, caps) { (element, caps: borrowing Caps) in element.setCaps(caps) }
    }
    unsafe methods.pointee.render = { sink, buffer in
      guard let buffer = unsafe buffer else { return GST_FLOW_ERROR }
      return unsafe flow(sink, BaseSink.self) { element throws(FlowError) in
        try unsafe Buffer.lending(buffer) { (buffer) throws(FlowError) in try element.render(buffer) }
      }
    }
    unsafe methods.pointee.preroll = { sink, buffer in
      guard let buffer = unsafe buffer else { return GST_FLOW_ERROR }
      return unsafe flow(sink, BaseSink.self) { element throws(FlowError) in
        try unsafe Buffer.lending(buffer) { (buffer) throws(FlowError) in try element.preroll(buffer) }
      }
    }
    unsafe methods.pointee.unlock = { sink in
      unsafe swiftObject(sink, as: BaseSink.self)?.unlock()
      return 1
    }
    unsafe methods.pointee.unlock_stop = { sink in
      unsafe swiftObject(sink, as: BaseSink.self)?.unlockStop()
      return 1
    }
    unsafe methods.pointee.event = { sink, event in
      unsafe consume(sink, BaseSink.self, event) { (element, event: consuming Event) in element.event(event) }
    }
    unsafe methods.pointee.query = { sink, query in
      unsafe borrow(sink, BaseSink.self, query) { (element, query: borrowing Query) in element.query(query) }
    }
    unsafe methods.pointee.propose_allocation = { sink, query in
      unsafe borrow(sink, BaseSink.self, query) { (element, query: borrowing Query) in
        element.proposeAllocation(query)
      }
    }
  }
}
