// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// A video encoder (`GstVideoEncoder`): the base class handles segments, timestamps, keyframe requests and negotiation.
///
/// Every method chains to the base class by default. Methods are called with the stream lock held.
open class VideoEncoder: Element {
  private var encoder: UnsafeMutablePointer<GstVideoEncoder> {
    unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstVideoEncoder.self)
  }

  // MARK: To override

  /// NULL → READY: look for the codec here.
  open func open() throws(ElementError) {}
  /// READY → NULL.
  open func close() {}
  /// Data flow is about to begin.
  open func start() throws(ElementError) {}
  /// Data flow has ended.
  open func stop() {}
  /// Sets the input's format: call `setOutputState` here. Returns whether the format is supported.
  open func setFormat(_ state: borrowing VideoCodecState) -> Bool { true }
  /// Encodes a frame. Call `finish` or `drop` for each, now or later, in decoding order.
  open func handleFrame(_ frame: consuming VideoCodecFrame) throws(FlowError) {}
  /// Outputs all frames left, at the end of the stream or a change of format.
  open func finish() throws(FlowError) {}
  /// Discards all frames, for a seek. Returns whether it succeeded.
  open func flush() -> Bool { true }
  /// Negotiates the output format with downstream. Chains to the base class by default.
  open func negotiate() -> Bool { unsafe Self.parent.pointee.negotiate(encoder) != 0 }
  /// Downstream's answer to the allocation query: choose the pool. Chains to the base class by default.
  open func decideAllocation(_ query: borrowing Query) -> Bool {
    unsafe Self.parent.pointee.decide_allocation(encoder, query.raw) != 0
  }
  /// Answers upstream's allocation query. Chains to the base class by default.
  open func proposeAllocation(_ query: borrowing Query) -> Bool {
    unsafe Self.parent.pointee.propose_allocation(encoder, query.raw) != 0
  }
  /// The caps that the sink pad supports.
  open func sinkCaps(filter: borrowing Caps?) -> Caps {
    return unsafe Caps(owning: gst_video_encoder_proxy_getcaps(encoder, nil, Caps.raw(filter)))
  }
  /// An event from upstream. Chains to the base class by default.
  open func sinkEvent(_ event: consuming Event) -> Bool {
    unsafe Self.parent.pointee.sink_event(encoder, event.take()) != 0
  }
  /// An event from downstream. Chains to the base class by default.
  open func sourceEvent(_ event: consuming Event) -> Bool {
    unsafe Self.parent.pointee.src_event(encoder, event.take()) != 0
  }
  /// A query from upstream, on any thread. Chains to the base class by default.
  open func sinkQuery(_ query: borrowing Query) -> Bool {
    unsafe Self.parent.pointee.sink_query(encoder, query.raw) != 0
  }
  /// A query from downstream, on any thread. Chains to the base class by default.
  open func sourceQuery(_ query: borrowing Query) -> Bool {
    unsafe Self.parent.pointee.src_query(encoder, query.raw) != 0
  }

  // MARK: Services of the base class

  /// The sink pad.
  public var sinkPad: Pad { unsafe Pad(lent: encoder.pointee.sinkpad) }
  /// The source pad.
  public var sourcePad: Pad { unsafe Pad(lent: encoder.pointee.srcpad) }

  /// Sets the output's caps, to which size and frame rate are added from the input's format.
  public func setOutputState(caps: consuming Caps, reference: borrowing VideoCodecState) -> VideoCodecState? {
    guard let state = unsafe gst_video_encoder_set_output_state(encoder, caps.take(), reference.raw) else { return nil }
    return unsafe VideoCodecState(owning: state)
  }

  /// The segment of the input.
  public var inputSegment: Segment { unsafe Segment(encoder.pointee.input_segment) }
  /// The segment of the output.
  public var outputSegment: Segment { unsafe Segment(encoder.pointee.output_segment) }

  /// The output format that was set last; `nil` before.
  public final var outputState: VideoCodecState? {
    guard let state = unsafe gst_video_encoder_get_output_state(encoder) else { return nil }
    return unsafe VideoCodecState(owning: state)
  }

  /// Negotiates the output format that was set. Returns whether downstream accepted it.
  public func negotiateOutput() -> Bool { unsafe gst_video_encoder_negotiate(encoder) != 0 }

  /// Allocates an output buffer of this many bytes from the negotiated allocator; `nil` when that fails.
  public func allocateOutputBuffer(size: Int) -> Buffer? {
    guard let buffer = unsafe gst_video_encoder_allocate_output_buffer(encoder, gsize(max(size, 0))) else { return nil }
    return unsafe Buffer(owning: buffer)
  }

  /// Sets the latency of the encoder.
  public func setLatency(minimum: ClockTime, maximum: ClockTime) {
    unsafe gst_video_encoder_set_latency(encoder, GstClockTime(minimum.nanoseconds), GstClockTime(maximum.nanoseconds))
  }

  /// The pending frame of this number; `nil` when there is none.
  public func frame(number: UInt32) -> VideoCodecFrame? {
    guard let frame = unsafe gst_video_encoder_get_frame(encoder, gint(truncatingIfNeeded: number)) else { return nil }
    return unsafe VideoCodecFrame(owning: frame)
  }

  /// Pushes the frame's output buffer downstream, after `setOutput`. Throws what downstream returns.
  public func finish(_ frame: consuming VideoCodecFrame) throws(FlowError) {
    try unsafe FlowError.check(gst_video_encoder_finish_frame(encoder, frame.take()))
  }

  /// Drops the frame: finishes it without output.
  public func drop(_ frame: consuming VideoCodecFrame) throws(FlowError) {
    frame.clearOutput()
    try unsafe FlowError.check(gst_video_encoder_finish_frame(encoder, frame.take()))
  }

  /// Sets the headers that a decoder needs before the first frame, such as parameter sets, in one buffer. The base
  /// class sends it first, and again before a keyframe whose request includes headers.
  public func setHeaders(_ headers: consuming Buffer) {
    unsafe gst_video_encoder_set_headers(encoder, g_list_append(nil, headers.take()))
  }

  /// Sets the least PTS of the output. The base class moves all timestamps later by as much, so no DTS is below zero
  /// if the encoder reorders pictures.
  public func setMinimumPTS(_ time: ClockTime) {
    unsafe gst_video_encoder_set_min_pts(encoder, GstClockTime(time.nanoseconds))
  }

  /// Merges tags into the stream's tags.
  public func mergeTags(_ tags: borrowing TagList) {
    unsafe gst_video_encoder_merge_tags(encoder, tags.raw, GST_TAG_MERGE_REPLACE)
  }

  // MARK: Trampolines

  override open class var requiredTemplates: [String] { ["sink", "src"] }
  /// `GstVideoEncoder`.
  override open class var parentType: (type: GType, instanceSize: Int) {
    unsafe (gst_video_encoder_get_type(), MemoryLayout<GstVideoEncoder>.stride)
  }

  nonisolated(unsafe) private static let parent = unsafe VirtualMethod.parentClass(
    gst_video_encoder_get_type(), as: GstVideoEncoderClass.self)

  /// Installs the methods above.
  @unsafe override open class func installVirtualMethods(in classStructure: UnsafeMutableRawPointer) {
    let methods = unsafe classStructure.assumingMemoryBound(to: GstVideoEncoderClass.self)
    _ = unsafe parent
    unsafe methods.pointee.open = { unsafe VirtualMethod.attempt($0, VideoEncoder.open) }
    unsafe methods.pointee.close = { unsafe VirtualMethod.perform($0, VideoEncoder.close) }
    unsafe methods.pointee.start = { unsafe VirtualMethod.attempt($0, VideoEncoder.start) }
    unsafe methods.pointee.stop = { unsafe VirtualMethod.perform($0, VideoEncoder.stop) }
    unsafe methods.pointee.set_format = { unsafe VirtualMethod.borrow($0, $1, VideoEncoder.setFormat) }
    unsafe methods.pointee.handle_frame = { unsafe VirtualMethod.flow($0, consuming: $1, VideoEncoder.handleFrame) }
    unsafe methods.pointee.finish = { unsafe VirtualMethod.flow($0, VideoEncoder.finish) }
    unsafe methods.pointee.flush = { unsafe VirtualMethod.answer($0, VideoEncoder.flush) }
    unsafe methods.pointee.negotiate = { unsafe VirtualMethod.answer($0, VideoEncoder.negotiate) }
    unsafe methods.pointee.decide_allocation = { unsafe VirtualMethod.borrow($0, $1, VideoEncoder.decideAllocation) }
    unsafe methods.pointee.propose_allocation = { unsafe VirtualMethod.borrow($0, $1, VideoEncoder.proposeAllocation) }
    unsafe methods.pointee.getcaps = { unsafe VirtualMethod.caps($0, filter: $1, VideoEncoder.sinkCaps) }
    unsafe methods.pointee.sink_event = { unsafe VirtualMethod.consume($0, $1, VideoEncoder.sinkEvent) }
    unsafe methods.pointee.src_event = { unsafe VirtualMethod.consume($0, $1, VideoEncoder.sourceEvent) }
    unsafe methods.pointee.sink_query = { unsafe VirtualMethod.borrow($0, $1, VideoEncoder.sinkQuery) }
    unsafe methods.pointee.src_query = { unsafe VirtualMethod.borrow($0, $1, VideoEncoder.sourceQuery) }
  }
}
