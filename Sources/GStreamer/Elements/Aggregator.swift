// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// An element that makes one stream of several (`GstAggregator`, gst/base/gstaggregator.h): a mixer, a muxer. The
/// base class queues its input, waits until every input has something, and sends the events of the output.
///
/// The pad templates are a source pad `src` and request pads such as `sink_%u`. Every method chains to the base class
/// by default.
open class Aggregator: Element {
  private var aggregator: UnsafeMutablePointer<GstAggregator> {
    unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstAggregator.self)
  }

  /// A sink pad of an aggregator, with the buffers that wait there (`GstAggregatorPad`).
  @safe public struct Input: Sendable, Identifiable {
    /// The pad.
    public let pad: Pad

    private var raw: UnsafeMutablePointer<GstAggregatorPad> {
      unsafe UnsafeMutableRawPointer(pad.raw).assumingMemoryBound(to: GstAggregatorPad.self)
    }

    /// The pad's name, which is unique in the element.
    public var id: String { pad.name }
    /// Whether a buffer waits.
    public var hasBuffer: Bool { unsafe gst_aggregator_pad_has_buffer(raw) != 0 }
    /// Whether its stream has ended, and no buffer waits.
    public var hasEnded: Bool { unsafe gst_aggregator_pad_is_eos(raw) != 0 }
    /// The segment of the buffer that waits, for its running time.
    public var segment: Segment { unsafe Segment(raw.pointee.segment) }

    /// The next buffer, shared, which stays; `nil` when none waits.
    public func peek() -> Buffer? {
      guard let buffer = unsafe gst_aggregator_pad_peek_buffer(raw) else { return nil }
      return unsafe Buffer(owning: buffer)
    }
    /// Takes the next buffer; `nil` when none waits.
    public func pop() -> Buffer? {
      guard let buffer = unsafe gst_aggregator_pad_pop_buffer(raw) else { return nil }
      return unsafe Buffer(owning: buffer)
    }
    /// Drops the next buffer. Returns whether there was one.
    @discardableResult
    public func drop() -> Bool { unsafe gst_aggregator_pad_drop_buffer(raw) != 0 }
  }

  /// The choice of an override of ``updateSourceCaps(_:)``.
  public enum CapsChoice: ~Copyable {
    /// These, of which ``fixateSourceCaps(_:)`` makes one format.
    case caps(Caps)
    /// It cannot be known yet, for instance because an input has no caps.
    case needsMoreData
    /// None is possible.
    case none
  }

  // MARK: To override

  /// Data flow is about to begin. The stream's state is made in `prepareToStream`.
  open func start() throws(ElementError) {}
  /// Data flow has ended.
  open func stop() {}
  /// Makes output of what waits at the ``inputs``: takes buffers and calls ``finish(_:)-(Buffer)``, on the streaming
  /// thread of the source pad. It is called again while every input has a buffer or has ended.
  ///
  /// An input has none where ``clip(_:at:)`` dropped what came: ``needsMoreData`` waits for the next then.
  /// - Parameter isLate: whether an input may have none because it took too long, which only happens with live sources.
  /// - Throws: `.endOfStream` when the output is complete; ``needsMoreData`` to be called when more has come.
  open func aggregate(isLate: Bool) throws(FlowError) {}
  /// Changes a buffer that has arrived, before ``aggregate(isLate:)`` gets it: cuts it to the segment, for instance.
  /// `nil` drops it.
  open func clip(_ buffer: consuming Buffer, at input: Input) -> Buffer? { .some(buffer) }
  /// Discards all that is pending, after a flush of all inputs.
  open func flush() throws(FlowError) {}
  /// Chooses the caps of the output, given what downstream takes: by default all of that.
  open func updateSourceCaps(_ caps: borrowing Caps) -> CapsChoice { .caps(caps.share()) }
  /// Makes one format of the caps of the output: by default the first value of each field.
  open func fixateSourceCaps(_ caps: consuming Caps) -> Caps {
    guard let fixed = unsafe Self.parent.pointee.fixate_src_caps(aggregator, caps.take()) else { return .empty() }
    return unsafe Caps(owning: fixed)
  }
  /// Learns the negotiated caps of the output. Returns whether they are supported.
  open func setSourceCaps(_ caps: borrowing Caps) -> Bool { true }
  /// The running time at which output is due even if an input has nothing, with live sources. `nil`, the default,
  /// waits for all inputs. ``simpleNextTime`` continues from the output's position.
  open func nextTime() -> ClockTime? { nil }
  /// Downstream's answer to the allocation query: choose the pool. Chains to the base class by default.
  open func decideAllocation(_ query: borrowing Query) -> Bool {
    guard let decide = unsafe Self.parent.pointee.decide_allocation else { return true }
    return unsafe decide(aggregator, query.raw) != 0
  }
  /// Answers the allocation query of an input's upstream: offer a pool, and declare the metas that the element reads.
  /// The base class calls this once the input has a format; by default there is no answer, and upstream allocates by
  /// itself. `decided` is downstream's answer, of which a pool can be offered on; `nil` while the output has no caps.
  open func proposeAllocation(decided: borrowing Query?, _ query: borrowing Query, at input: Input) -> Bool { false }
  /// An event from upstream at an input; a serialized one in its order among the buffers. Chains to the base class by
  /// default, and an override must.
  open func sinkEvent(_ event: consuming Event, at input: Input) -> Bool {
    unsafe Self.parent.pointee.sink_event(aggregator, input.aggregatorPad, event.take()) != 0
  }
  /// A query from upstream at an input. Chains to the base class by default, and an override must.
  open func sinkQuery(_ query: borrowing Query, at input: Input) -> Bool {
    unsafe Self.parent.pointee.sink_query(aggregator, input.aggregatorPad, query.raw) != 0
  }
  /// An event from downstream, on any thread. Chains to the base class by default, and an override must.
  open func sourceEvent(_ event: consuming Event) -> Bool {
    unsafe Self.parent.pointee.src_event(aggregator, event.take()) != 0
  }
  /// A query from downstream, on any thread. Chains to the base class by default, and an override must.
  open func sourceQuery(_ query: borrowing Query) -> Bool {
    unsafe Self.parent.pointee.src_query(aggregator, query.raw) != 0
  }

  // MARK: Services of the base class

  /// The error that ``aggregate(isLate:)`` throws to be called again when more data has come
  /// (`GST_AGGREGATOR_FLOW_NEED_DATA`).
  public static var needsMoreData: FlowError { FlowError(rawValue: GST_FLOW_CUSTOM_ERROR.rawValue) }

  /// The source pad.
  public var sourcePad: Pad { unsafe Pad(lent: aggregator.pointee.srcpad) }

  /// The sink pads there are now, in the order in which they were requested.
  ///
  /// Each is kept as long as the value: another thread may release a pad at any time.
  public var inputs: [Input] {
    var inputs: [Input] = []
    let object = unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstObject.self)
    unsafe cgst_object_lock(object)
    defer { unsafe cgst_object_unlock(object) }
    var next = unsafe raw.pointee.sinkpads
    while let node = unsafe next {
      unsafe next = node.pointee.next
      guard let pad = unsafe node.pointee.data else { continue }
      inputs.append(Input(pad: unsafe Pad(retaining: pad.assumingMemoryBound(to: GstPad.self))))
    }
    return inputs
  }

  /// Pushes a buffer downstream, with its times in the output's segment, whose position becomes the buffer's end.
  /// Throws what downstream returns.
  public func finish(_ buffer: consuming Buffer) throws(FlowError) {
    let (start, duration) = (buffer.pts, buffer.duration)
    let flow = unsafe gst_aggregator_finish_buffer(aggregator, buffer.take())
    moveOutput(start, duration)
    try FlowError.check(flow)
  }

  /// Pushes several buffers downstream, as ``finish(_:)-(Buffer)`` does one.
  public func finish(_ list: consuming BufferList) throws(FlowError) {
    if list.isEmpty { return }
    var (start, duration): (ClockTime?, ClockTime?)
    list.forEachBuffer { (start, duration) = ($0.pts, $0.duration) }
    let flow = unsafe gst_aggregator_finish_buffer_list(aggregator, list.take())
    moveOutput(start, duration)
    try FlowError.check(flow)
  }

  /// Moves the output's position behind a buffer, or in front of it if playback is backwards. The base class leaves
  /// that to the element, and would take the same time for the next buffer.
  private func moveOutput(_ start: ClockTime?, _ duration: ClockTime?) {
    guard let start else { return }
    let end = start + (duration ?? .zero)
    let object = unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstObject.self)
    unsafe cgst_object_lock(object)
    defer { unsafe cgst_object_unlock(object) }
    let pad = unsafe UnsafeMutableRawPointer(aggregator.pointee.srcpad).assumingMemoryBound(to: GstAggregatorPad.self)
    unsafe pad.pointee.segment.position = guint64((pad.pointee.segment.rate < 0 ? start : end).nanoseconds)
  }

  /// Sets the output's caps, for an element that does not negotiate them by ``updateSourceCaps(_:)``.
  public func setOutputCaps(_ caps: borrowing Caps) { unsafe gst_aggregator_set_src_caps(aggregator, caps.raw) }
  /// Negotiates the output's caps. Returns whether downstream takes them.
  public func negotiateOutput() -> Bool { unsafe gst_aggregator_negotiate(aggregator) != 0 }
  /// Sets the output's segment, which is sent before the next buffer.
  public func updateSegment(_ segment: Segment) {
    var copy = unsafe segment.raw
    unsafe gst_aggregator_update_segment(aggregator, &copy)
  }
  /// Sets the latency that the element adds.
  public func setLatency(minimum: ClockTime, maximum: ClockTime) {
    unsafe gst_aggregator_set_latency(
      aggregator, GstClockTime(minimum.nanoseconds), GstClockTime(max(minimum, maximum).nanoseconds))
  }
  /// The running time of the output's position, which is the end of the last buffer. ``nextTime()`` returns it if
  /// each buffer follows the one before.
  public var simpleNextTime: ClockTime? {
    unsafe ClockTime(raw: UInt64(gst_aggregator_simple_get_next_time(aggregator)))
  }

  // MARK: Trampolines

  override open class var requiredTemplates: [String] { ["src"] }
  /// `GstAggregator`.
  override open class var parentType: (type: GType, instanceSize: Int) {
    unsafe (gst_aggregator_get_type(), MemoryLayout<GstAggregator>.stride)
  }

  nonisolated(unsafe) private static let parent = unsafe VirtualMethod.parentClass(
    gst_aggregator_get_type(), as: GstAggregatorClass.self)

  /// Installs the methods above.
  @unsafe override open class func installVirtualMethods(in classStructure: UnsafeMutableRawPointer) {
    let methods = unsafe classStructure.assumingMemoryBound(to: GstAggregatorClass.self)
    _ = unsafe parent
    unsafe methods.pointee.start = { unsafe VirtualMethod.attempt($0, Aggregator.start) }
    unsafe methods.pointee.stop = { unsafe VirtualMethod.perform($0, Aggregator.stop) }
    unsafe methods.pointee.aggregate = { aggregator, isLate in
      unsafe VirtualMethod.flow(aggregator) { (element: Aggregator) in
        { () throws(FlowError) in try element.aggregate(isLate: isLate != 0) }
      }
    }
    unsafe methods.pointee.flush = { unsafe VirtualMethod.flow($0, Aggregator.flush) }
    unsafe methods.pointee.clip = { aggregator, pad, buffer in
      guard let element = unsafe swiftObject(aggregator, as: Aggregator.self), let pad = unsafe pad,
        let buffer = unsafe buffer
      else { return unsafe buffer }
      guard let clipped = unsafe element.clip(Buffer(owning: buffer), at: Input(pad)) else { return nil }
      return unsafe clipped.take()
    }
    unsafe installNegotiation(methods)
    unsafe methods.pointee.get_next_time = { aggregator in
      GstClockTime(unsafe swiftObject(aggregator, as: Aggregator.self)?.nextTime().raw ?? .max)
    }
    unsafe methods.pointee.sink_event = { aggregator, pad, event in
      guard let pad = unsafe pad else { return 0 }
      return unsafe VirtualMethod.consume(aggregator, event) { (element: Aggregator) in
        { (event: consuming Event) in element.sinkEvent(event, at: unsafe Input(pad)) }
      }
    }
    unsafe methods.pointee.sink_query = { aggregator, pad, query in
      guard let pad = unsafe pad else { return 0 }
      return unsafe VirtualMethod.borrow(aggregator, query) { (element: Aggregator) in
        { (query: borrowing Query) in element.sinkQuery(query, at: unsafe Input(pad)) }
      }
    }
    unsafe methods.pointee.src_event = { unsafe VirtualMethod.consume($0, $1, Aggregator.sourceEvent) }
    unsafe methods.pointee.src_query = { unsafe VirtualMethod.borrow($0, $1, Aggregator.sourceQuery) }
  }

  private class func installNegotiation(_ methods: UnsafeMutablePointer<GstAggregatorClass>) {
    unsafe methods.pointee.update_src_caps = { aggregator, caps, result in
      guard let element = unsafe swiftObject(aggregator, as: Aggregator.self), let caps = unsafe caps,
        let result = unsafe result
      else { return GST_FLOW_ERROR }
      switch unsafe Caps.lending(caps, { element.updateSourceCaps($0) }) {
      case .caps(let chosen):
        unsafe result.pointee = chosen.take()
        return GST_FLOW_OK
      case .needsMoreData: return GST_FLOW_CUSTOM_ERROR
      case .none: return GST_FLOW_NOT_NEGOTIATED
      }
    }
    unsafe methods.pointee.fixate_src_caps = { aggregator, caps in
      guard let element = unsafe swiftObject(aggregator, as: Aggregator.self), let caps = unsafe caps else {
        return unsafe caps
      }
      return unsafe element.fixateSourceCaps(Caps(owning: caps)).take()
    }
    unsafe methods.pointee.negotiated_src_caps = { unsafe VirtualMethod.borrow($0, $1, Aggregator.setSourceCaps) }
    unsafe methods.pointee.decide_allocation = { unsafe VirtualMethod.borrow($0, $1, Aggregator.decideAllocation) }
    unsafe methods.pointee.propose_allocation = { aggregator, pad, decided, query in
      guard let pad = unsafe pad else { return 0 }
      return unsafe VirtualMethod.borrow(aggregator, query) { (element: Aggregator) in
        { (query: borrowing Query) in
          let decided = unsafe Query.retaining(optional: decided)
          return element.proposeAllocation(decided: decided, query, at: unsafe Input(pad))
        }
      }
    }
  }
}

extension Aggregator.Input {
  @unsafe fileprivate init(_ raw: UnsafeMutablePointer<GstAggregatorPad>) {
    pad = unsafe Pad(lent: UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstPad.self))
  }

  fileprivate var aggregatorPad: UnsafeMutablePointer<GstAggregatorPad> {
    unsafe UnsafeMutableRawPointer(pad.raw).assumingMemoryBound(to: GstAggregatorPad.self)
  }
}
