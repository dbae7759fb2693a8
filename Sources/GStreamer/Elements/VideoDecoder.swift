// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// Decodes compressed pictures (`GstVideoDecoder`): the base class does segments, timestamps, QoS, trick modes and
/// negotiation.
///
/// Every method chains to the base class by default. Methods are called with the stream lock held.
open class VideoDecoder: Element {
  var decoder: UnsafeMutablePointer<GstVideoDecoder> {
    unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstVideoDecoder.self)
  }

  // MARK: To override

  /// READY is about to be entered: look for the codec here.
  open func open() throws(ElementError) {}
  /// NULL is about to be entered.
  open func close() {}
  /// Data flow is about to begin.
  open func start() throws(ElementError) {}
  /// Data flow has ended.
  open func stop() {}
  /// The format of what comes next. Answers whether it can be decoded.
  open func setFormat(_ state: borrowing VideoCodecState) -> Bool { true }
  /// A picture to decode. End each with `finish`, `drop` or `release`, now or later.
  open func handleFrame(_ frame: consuming VideoCodecFrame) throws(FlowError) {}
  /// The stream has ended: put out everything that is left.
  open func finish() throws(FlowError) {}
  /// The segment has ended, or reverse playback needs its pictures: put out everything, more may come.
  open func drain() throws(FlowError) {}
  /// A seek: forget everything.
  open func flush() -> Bool { true }
  /// Settle the output format with downstream.
  open func negotiate() -> Bool { unsafe Self.parent.pointee.negotiate(decoder) != 0 }
  /// Downstream's answer to the allocation query: choose the pool.
  open func decideAllocation(_ query: borrowing Query) -> Bool {
    unsafe Self.parent.pointee.decide_allocation(decoder, query.raw) != 0
  }
  /// Answer upstream's allocation query.
  open func proposeAllocation(_ query: borrowing Query) -> Bool {
    unsafe Self.parent.pointee.propose_allocation(decoder, query.raw) != 0
  }
  /// The caps that can be decoded.
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

  /// Where compressed pictures come in.
  public var sinkPad: Pad { unsafe Pad(decoder.pointee.sinkpad) }
  /// Where decoded pictures leave.
  public var sourcePad: Pad { unsafe Pad(decoder.pointee.srcpad) }

  /// The segment of the pictures that go in.
  public var inputSegment: Segment { unsafe Segment(decoder.pointee.input_segment) }
  /// The segment of the pictures that come out.
  public var outputSegment: Segment { unsafe Segment(decoder.pointee.output_segment) }

  /// Each input buffer is one whole picture with caps that say so.
  public func setPacketized(_ packetized: Bool) { unsafe gst_video_decoder_set_packetized(decoder, packetized ? 1 : 0) }
  /// Input buffers may be parts of a picture; see `gst_video_decoder_set_subframe_mode`.
  public func setSubframeMode(_ subframes: Bool) {
    unsafe gst_video_decoder_set_subframe_mode(decoder, subframes ? 1 : 0)
  }
  /// Sink caps must have been accepted before data comes.
  public func setNeedsFormat(_ needs: Bool) { unsafe gst_video_decoder_set_needs_format(decoder, needs ? 1 : 0) }
  /// Accept-caps queries are answered from the pad template alone.
  public func setUsesDefaultPadAcceptCaps(_ uses: Bool) {
    unsafe gst_video_decoder_set_use_default_pad_acceptcaps(decoder, uses ? 1 : 0)
  }

  /// How long pictures are held back.
  public func setLatency(minimum: ClockTime, maximum: ClockTime) {
    unsafe gst_video_decoder_set_latency(decoder, GstClockTime(minimum.nanoseconds), GstClockTime(maximum.nanoseconds))
  }

  /// The output's format and size; everything else comes from the input's format.
  public func setOutputState(
    format: VideoFormat, width: UInt32, height: UInt32, reference: borrowing VideoCodecState?
  ) -> VideoCodecState? {
    let referenceState: UnsafeMutablePointer<GstVideoCodecState>?
    switch reference {
    case .some(let state): unsafe referenceState = state.raw
    case .none: unsafe referenceState = nil
    }
    guard
      let state = unsafe gst_video_decoder_set_output_state(decoder, format.raw, width, height, referenceState)
    else { return nil }
    return unsafe VideoCodecState(owning: state)
  }

  /// The output format that was set last.
  public final var outputState: VideoCodecState? {
    guard let state = unsafe gst_video_decoder_get_output_state(decoder) else { return nil }
    return unsafe VideoCodecState(owning: state)
  }

  /// Agrees with downstream on the output format that was set.
  public func negotiateOutput() -> Bool { unsafe gst_video_decoder_negotiate(decoder) != 0 }

  /// A buffer for a decoded picture from the negotiated pool.
  public func allocateOutputBuffer() -> Buffer? {
    guard let buffer = unsafe gst_video_decoder_allocate_output_buffer(decoder) else { return nil }
    return unsafe Buffer(owning: buffer)
  }

  /// The pool that negotiation chose.
  public final var bufferPool: BufferPool? {
    guard let pool = unsafe gst_video_decoder_get_buffer_pool(decoder) else { return nil }
    return unsafe BufferPool(owning: pool)
  }

  /// A picture that is on its way, by its number.
  public func frame(number: UInt32) -> VideoCodecFrame? {
    guard let frame = unsafe gst_video_decoder_get_frame(decoder, gint(truncatingIfNeeded: number)) else { return nil }
    return unsafe VideoCodecFrame(owning: frame)
  }

  /// Pushes the picture's output downstream.
  public func finish(_ frame: consuming VideoCodecFrame) throws(FlowError) {
    try unsafe FlowError.check(gst_video_decoder_finish_frame(decoder, frame.take()))
  }

  /// Leaves the picture out and tells QoS so. Those still to come are shown later: see ``dropAhead(_:)``.
  public func drop(_ frame: consuming VideoCodecFrame) throws(FlowError) {
    try unsafe FlowError.check(gst_video_decoder_drop_frame(decoder, frame.take()))
  }

  /// Leaves the picture out, though some that are shown before it are still to come, and tells QoS so.
  ///
  /// The base class takes one that is dropped for the last one out, and gives those behind it no earlier time than it
  /// has: it must not know of this one.
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

  /// Forgets the picture without telling anyone.
  public func release(_ frame: consuming VideoCodecFrame) {
    unsafe gst_video_decoder_release_frame(decoder, frame.take())
  }

  /// How late the picture is, in nanoseconds; below 0 it is too late to be seen.
  public func maximumDecodeTime(of frame: borrowing VideoCodecFrame) -> Int64 {
    unsafe Int64(gst_video_decoder_get_max_decode_time(decoder, frame.raw))
  }

  /// Asks upstream for a random access point.
  public func requestSyncPoint(at frame: borrowing VideoCodecFrame, discardInput: Bool, corruptOutput: Bool) {
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

  /// Counts a picture that could not be decoded: a warning in the log until there are too many in a row, then an
  /// error on the bus (`GST_VIDEO_DECODER_ERROR`).
  /// - Throws: `FlowError.error` when that is one too many.
  public func countError(
    _ error: ElementError, weight: Int32 = 1, file: StaticString = #fileID, function: StaticString = #function,
    line: Int32 = #line
  ) throws(FlowError) {
    let (domain, code) = error.domainAndCode
    try unsafe FlowError.check(
      _gst_video_decoder_error(
        decoder, weight, domain, code, g_strdup(error.message), g_strdup(error.debug), file.cString,
        function.cString, line))
  }

  /// Adds tags about the stream.
  public func mergeTags(_ tags: borrowing TagList) {
    unsafe gst_video_decoder_merge_tags(decoder, tags.raw, GST_TAG_MERGE_REPLACE)
  }

  /// Does something without the stream lock, such as waiting for a thread that may want it.
  public func withoutStreamLock<Result>(_ body: () -> Result) -> Result {
    unsafe cgst_video_decoder_unlock(decoder)
    defer { unsafe cgst_video_decoder_lock(decoder) }
    return body()
  }

  /// Does something with the stream lock.
  public func withStreamLock<Result>(_ body: () -> Result) -> Result {
    unsafe cgst_video_decoder_lock(decoder)
    defer { unsafe cgst_video_decoder_unlock(decoder) }
    return body()
  }

  // MARK: Trampolines

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
