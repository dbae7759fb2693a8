// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// A video decoder (`GstVideoDecoder`): the base class handles segments, timestamps, QoS, trick modes and negotiation.
///
/// Every method chains to the base class by default. Methods are called with the stream lock held.
open class VideoDecoder: Element {
  var decoder: UnsafeMutablePointer<GstVideoDecoder> {
    unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstVideoDecoder.self)
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
  /// Sets the input's format. Returns whether it is supported.
  open func setFormat(_ state: borrowing VideoCodecState) -> Bool { true }
  /// Decodes a frame. Call `finish`, `drop` or `release` for each, now or later.
  open func handleFrame(_ frame: consuming VideoCodecFrame) throws(FlowError) {}
  /// Outputs all frames left, at the end of the stream.
  open func finish() throws(FlowError) {}
  /// Outputs all frames left, at the end of a segment or for reverse playback; more may follow.
  open func drain() throws(FlowError) {}
  /// Discards all frames, for a seek. Returns whether it succeeded.
  open func flush() -> Bool { true }
  /// Negotiates the output format with downstream.
  open func negotiate() -> Bool { unsafe Self.parent.pointee.negotiate(decoder) != 0 }
  /// Downstream's answer to the allocation query: choose the pool.
  open func decideAllocation(_ query: borrowing Query) -> Bool {
    unsafe Self.parent.pointee.decide_allocation(decoder, query.raw) != 0
  }
  /// Answers upstream's allocation query.
  open func proposeAllocation(_ query: borrowing Query) -> Bool {
    unsafe Self.parent.pointee.propose_allocation(decoder, query.raw) != 0
  }
  /// The caps that the sink pad supports.
  open func sinkCaps(filter: borrowing Caps?) -> Caps {
    return unsafe Caps(owning: gst_video_decoder_proxy_getcaps(decoder, nil, Caps.raw(filter)))
  }
  /// An event from upstream. Chains to the base class by default.
  open func sinkEvent(_ event: consuming Event) -> Bool {
    unsafe Self.parent.pointee.sink_event(decoder, event.take()) != 0
  }
  /// An event from downstream. Chains to the base class by default.
  open func sourceEvent(_ event: consuming Event) -> Bool {
    unsafe Self.parent.pointee.src_event(decoder, event.take()) != 0
  }
  /// A query from upstream, on any thread. Chains to the base class by default.
  open func sinkQuery(_ query: borrowing Query) -> Bool {
    unsafe Self.parent.pointee.sink_query(decoder, query.raw) != 0
  }
  /// A query from downstream, on any thread. Chains to the base class by default.
  open func sourceQuery(_ query: borrowing Query) -> Bool {
    unsafe Self.parent.pointee.src_query(decoder, query.raw) != 0
  }

  // MARK: Services of the base class

  /// The sink pad.
  public var sinkPad: Pad { unsafe Pad(lent: decoder.pointee.sinkpad) }
  /// The source pad.
  public var sourcePad: Pad { unsafe Pad(lent: decoder.pointee.srcpad) }

  /// The segment of the input.
  public var inputSegment: Segment { unsafe Segment(decoder.pointee.input_segment) }
  /// The segment of the output.
  public var outputSegment: Segment { unsafe Segment(decoder.pointee.output_segment) }

  /// Whether each input buffer has one whole frame, by its caps. Otherwise, the base class would call a method that
  /// finds frames in its bytes, which this class does not have: place a ``BaseParse`` before the decoder.
  public func setPacketized(_ packetized: Bool) { unsafe gst_video_decoder_set_packetized(decoder, packetized ? 1 : 0) }
  /// Whether data is refused before sink caps.
  public func setNeedsFormat(_ needs: Bool) { unsafe gst_video_decoder_set_needs_format(decoder, needs ? 1 : 0) }
  /// Whether accept-caps queries are answered from the pad template alone.
  public func setUsesDefaultPadAcceptCaps(_ uses: Bool) {
    unsafe gst_video_decoder_set_use_default_pad_acceptcaps(decoder, uses ? 1 : 0)
  }

  /// Sets the latency of the decoder.
  public func setLatency(minimum: ClockTime, maximum: ClockTime) {
    unsafe gst_video_decoder_set_latency(decoder, GstClockTime(minimum.nanoseconds), GstClockTime(maximum.nanoseconds))
  }

  /// Sets the output's format and size; the rest, such as the frame rate, is the input's.
  /// - Returns: `nil` when the size is out of range.
  public func setOutputState(
    format: VideoFormat, width: Int, height: Int, reference: borrowing VideoCodecState
  ) -> VideoCodecState? { unsafe setOutputState(format, width, height, reference.raw) }

  /// Sets the output's format and size, with nothing from the input.
  /// - Returns: `nil` when the size is out of range.
  public func setOutputState(format: VideoFormat, width: Int, height: Int) -> VideoCodecState? {
    unsafe setOutputState(format, width, height, nil)
  }

  private func setOutputState(
    _ format: VideoFormat, _ width: Int, _ height: Int, _ reference: UnsafeMutablePointer<GstVideoCodecState>?
  ) -> VideoCodecState? {
    guard let width = guint(exactly: width), let height = guint(exactly: height),
      let state = unsafe gst_video_decoder_set_output_state(decoder, format.raw, width, height, reference)
    else { return nil }
    return unsafe VideoCodecState(owning: state)
  }

  /// The output format that was set last; `nil` before.
  public final var outputState: VideoCodecState? {
    guard let state = unsafe gst_video_decoder_get_output_state(decoder) else { return nil }
    return unsafe VideoCodecState(owning: state)
  }

  /// Negotiates the output format that was set. Returns whether downstream accepted it.
  public func negotiateOutput() -> Bool { unsafe gst_video_decoder_negotiate(decoder) != 0 }

  /// Allocates an output buffer from the negotiated pool; `nil` when that fails.
  public func allocateOutputBuffer() -> Buffer? {
    guard let buffer = unsafe gst_video_decoder_allocate_output_buffer(decoder) else { return nil }
    return unsafe Buffer(owning: buffer)
  }

  /// The negotiated pool; `nil` before negotiation.
  public final var bufferPool: BufferPool? {
    guard let pool = unsafe gst_video_decoder_get_buffer_pool(decoder) else { return nil }
    return unsafe BufferPool(owning: pool)
  }

  /// The pending frame of this number; `nil` when there is none.
  public func frame(number: UInt32) -> VideoCodecFrame? {
    guard let frame = unsafe gst_video_decoder_get_frame(decoder, gint(truncatingIfNeeded: number)) else { return nil }
    return unsafe VideoCodecFrame(owning: frame)
  }

  /// Pushes the frame's output buffer downstream. Throws what downstream returns.
  public func finish(_ frame: consuming VideoCodecFrame) throws(FlowError) {
    try unsafe FlowError.check(gst_video_decoder_finish_frame(decoder, frame.take()))
  }

  /// Drops the frame and posts a QoS message. Later frames must be shown after it: see ``dropAhead(_:)``.
  public func drop(_ frame: consuming VideoCodecFrame) throws(FlowError) {
    try unsafe FlowError.check(gst_video_decoder_drop_frame(decoder, frame.take()))
  }

  /// Drops the frame before others that are shown earlier, and posts a QoS message.
  ///
  /// The base class takes a dropped frame for the last output frame and gives later frames no earlier time. Therefore
  /// this drop is hidden from it.
  public func dropAhead(_ frame: consuming VideoCodecFrame) {
    let segment = outputSegment.isTime ? outputSegment : inputSegment
    let time = frame.pts
    let unknown = guint64.max
    let object = unsafe UnsafeMutableRawPointer(decoder).assumingMemoryBound(to: GstObject.self)
    let message = unsafe gst_message_new_qos(
      object, 0, segment.runningTime(of: time).map { guint64($0.nanoseconds) } ?? unknown,
      segment.streamTime(of: time).map { guint64($0.nanoseconds) } ?? unknown,
      time.map { guint64($0.nanoseconds) } ?? unknown, unknown)
    let slack = maximumDecodeTime(of: frame)
    unsafe gst_message_set_qos_values(
      message, slack == .max ? 0 : gint64(0 &- slack), gst_video_decoder_get_qos_proportion(decoder), 1_000_000)
    _ = unsafe gst_element_post_message(raw, message)
    release(frame)
  }

  /// Releases the frame without output or message.
  public func release(_ frame: consuming VideoCodecFrame) {
    unsafe gst_video_decoder_release_frame(decoder, frame.take())
  }

  /// Whether late frames may be dropped: the base class's property `qos`, for which it has no function.
  package var allowsLateDrops: Bool {
    var value = GValue()
    unsafe g_value_init(&value, cgst_type_of_kind(CGST_KIND_BOOLEAN))
    defer { unsafe g_value_unset(&value) }
    unsafe g_object_get_property(UnsafeMutableRawPointer(decoder).assumingMemoryBound(to: GObject.self), "qos", &value)
    return unsafe g_value_get_boolean(&value) != 0
  }

  /// The time left for decoding, in nanoseconds, by QoS. Below 0, the frame is late; `Int64.max` if unknown.
  public func maximumDecodeTime(of frame: borrowing VideoCodecFrame) -> Int64 {
    unsafe Int64(gst_video_decoder_get_max_decode_time(decoder, frame.raw))
  }

  /// Requests a random access point from upstream.
  public func requestSyncPoint(
    at frame: borrowing VideoCodecFrame, discardInput: Bool = false, corruptOutput: Bool = false
  ) {
    var flags: UInt32 = 0
    if discardInput { flags |= GST_VIDEO_DECODER_REQUEST_SYNC_POINT_DISCARD_INPUT.rawValue }
    if corruptOutput { flags |= GST_VIDEO_DECODER_REQUEST_SYNC_POINT_CORRUPT_OUTPUT.rawValue }
    unsafe gst_video_decoder_request_sync_point(
      decoder, frame.raw, GstVideoDecoderRequestSyncPointFlags(rawValue: flags))
  }

  /// Consecutive errors that are allowed (the `max-errors` property); −1 is without limit.
  public var maximumErrors: Int32 {
    get { unsafe gst_video_decoder_get_max_errors(decoder) }
    set { unsafe gst_video_decoder_set_max_errors(decoder, newValue) }
  }

  /// Merges tags into the stream's tags.
  public func mergeTags(_ tags: borrowing TagList) {
    unsafe gst_video_decoder_merge_tags(decoder, tags.raw, GST_TAG_MERGE_REPLACE)
  }

  // MARK: Trampolines

  override open class var requiredTemplates: [String] { ["sink", "src"] }
  override open class var parentType: (type: GType, instanceSize: Int) {
    unsafe (gst_video_decoder_get_type(), MemoryLayout<GstVideoDecoder>.stride)
  }

  nonisolated(unsafe) private static let parent = unsafe VirtualMethod.parentClass(
    gst_video_decoder_get_type(), as: GstVideoDecoderClass.self)

  @unsafe override open class func installVirtualMethods(in classStructure: UnsafeMutableRawPointer) {
    let methods = unsafe classStructure.assumingMemoryBound(to: GstVideoDecoderClass.self)
    _ = unsafe parent
    unsafe methods.pointee.open = { unsafe VirtualMethod.attempt($0, VideoDecoder.open) }
    unsafe methods.pointee.close = { unsafe VirtualMethod.perform($0, VideoDecoder.close) }
    unsafe methods.pointee.start = { unsafe VirtualMethod.attempt($0, VideoDecoder.start) }
    unsafe methods.pointee.stop = { unsafe VirtualMethod.perform($0, VideoDecoder.stop) }
    unsafe methods.pointee.set_format = { unsafe VirtualMethod.borrow($0, $1, VideoDecoder.setFormat) }
    unsafe methods.pointee.handle_frame = { unsafe VirtualMethod.flow($0, consuming: $1, VideoDecoder.handleFrame) }
    unsafe methods.pointee.finish = { unsafe VirtualMethod.flow($0, VideoDecoder.finish) }
    unsafe methods.pointee.drain = { unsafe VirtualMethod.flow($0, VideoDecoder.drain) }
    unsafe methods.pointee.flush = { unsafe VirtualMethod.answer($0, VideoDecoder.flush) }
    unsafe methods.pointee.negotiate = { unsafe VirtualMethod.answer($0, VideoDecoder.negotiate) }
    unsafe methods.pointee.decide_allocation = { unsafe VirtualMethod.borrow($0, $1, VideoDecoder.decideAllocation) }
    unsafe methods.pointee.propose_allocation = { unsafe VirtualMethod.borrow($0, $1, VideoDecoder.proposeAllocation) }
    unsafe methods.pointee.getcaps = { unsafe VirtualMethod.caps($0, filter: $1, VideoDecoder.sinkCaps) }
    unsafe methods.pointee.sink_event = { unsafe VirtualMethod.consume($0, $1, VideoDecoder.sinkEvent) }
    unsafe methods.pointee.src_event = { unsafe VirtualMethod.consume($0, $1, VideoDecoder.sourceEvent) }
    unsafe methods.pointee.sink_query = { unsafe VirtualMethod.borrow($0, $1, VideoDecoder.sinkQuery) }
    unsafe methods.pointee.src_query = { unsafe VirtualMethod.borrow($0, $1, VideoDecoder.sourceQuery) }
  }
}
