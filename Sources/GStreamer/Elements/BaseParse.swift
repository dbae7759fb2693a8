// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// What `BaseParse.handleFrame` found in the data it was given.
public enum ParseStep: Sendable {
  /// The frame ends after so many bytes of input: send it.
  case frame(size: Int)
  /// So many bytes belong to no frame: throw them away.
  case skip(Int)
  /// The frame is not complete: come back with more.
  case needsMoreData

  /// Bytes that are done with.
  public var size: Int {
    switch self {
    case .frame(let size), .skip(let size): size
    case .needsMoreData: 0
    }
  }
}

/// Data for `BaseParse.handleFrame` (`GstBaseParseFrame`). Valid during the call.
@safe public struct BaseParseFrame: ~Copyable {
  @unsafe let raw: UnsafeMutablePointer<GstBaseParseFrame>
  @unsafe init(_ raw: UnsafeMutablePointer<GstBaseParseFrame>) { unsafe self.raw = raw }

  /// Bytes at hand.
  public var size: Int { unsafe Int(clamping: gst_buffer_get_size(raw.pointee.buffer)) }

  /// Maps the bytes at hand for reading.
  @_lifetime(borrow self)
  public borrowing func map() throws(FlowError) -> ReadMap {
    let map = try unsafe ReadMap(raw.pointee.buffer)
    return unsafe overrideLifetime(map, borrowing: self)
  }

  /// Whether the base class has seen this data before, because `needsMoreData` was answered.
  public var isNew: Bool { unsafe raw.pointee.flags & GST_BASE_PARSE_FRAME_FLAG_NEW_FRAME.rawValue != 0 }

  /// Position in the input, bytes from its start; `UInt64.max` when unknown.
  public var offset: UInt64 { unsafe UInt64(raw.pointee.offset) }

  /// What goes downstream is not to be counted as stream time (headers).
  public func markAsNoFrame() { unsafe raw.pointee.flags |= GST_BASE_PARSE_FRAME_FLAG_NO_FRAME.rawValue }

  /// Hold the frame back until one that is a frame comes.
  public func markAsQueued() { unsafe raw.pointee.flags |= GST_BASE_PARSE_FRAME_FLAG_QUEUE.rawValue }

  /// The frame counts as consumed, but nothing goes downstream.
  public func markAsDropped() { unsafe raw.pointee.flags |= GST_BASE_PARSE_FRAME_FLAG_DROP.rawValue }

  /// Changes the input buffer's timestamps and flags, which the frame will have.
  public func modifyBuffer(_ body: (inout Buffer) -> Void) {
    var buffer = unsafe Buffer(owning: raw.pointee.buffer)
    body(&buffer)
    unsafe raw.pointee.buffer = buffer.take()
  }

  /// Reads the input buffer.
  public func withBuffer<Result: ~Copyable>(_ body: (borrowing Buffer) -> Result) -> Result {
    unsafe Buffer.lending(raw.pointee.buffer) { body($0) }
  }

  /// Sends this buffer in place of the input. Set before `ParseStep.frame` is answered, or in `prePushFrame`.
  public func setOutput(_ buffer: consuming Buffer) {
    if let old = unsafe raw.pointee.out_buffer { unsafe unref(old) }
    unsafe raw.pointee.out_buffer = unsafe buffer.take()
  }

  /// Whether a buffer was set to be sent in place of the input.
  public var hasOutput: Bool { unsafe raw.pointee.out_buffer != nil }

  /// Reads the buffer that goes downstream: the one set with `setOutput`, or the input's. For `prePushFrame`.
  public func withOutput<Result: ~Copyable>(_ body: (borrowing Buffer) -> Result) -> Result {
    unsafe Buffer.lending(raw.pointee.out_buffer ?? raw.pointee.buffer) { body($0) }
  }

  /// Changes the buffer that goes downstream: the one set with `setOutput`, or the input's. For `prePushFrame`.
  public func modifyOutput<Failure: Error>(_ body: (inout Buffer) throws(Failure) -> Void) throws(Failure) {
    let isReplaced = unsafe raw.pointee.out_buffer != nil
    guard let owned = unsafe isReplaced ? raw.pointee.out_buffer : raw.pointee.buffer else { return }
    var output = unsafe Buffer(owning: owned)
    func putBack(_ output: consuming Buffer) {
      if isReplaced {
        unsafe raw.pointee.out_buffer = output.take()
      } else {
        unsafe raw.pointee.buffer = output.take()
      }
    }
    do throws(Failure) {
      try body(&output)
      putBack(output)
    } catch {
      putBack(output)
      throw error
    }
  }
}

/// Cuts a byte stream into frames (`GstBaseParse`): the base class does scheduling, seeking, timestamps and queries.
///
/// Every method chains to the base class by default.
open class BaseParse: Element {
  private var parse: UnsafeMutablePointer<GstBaseParse> {
    unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstBaseParse.self)
  }

  /// An error was posted behind which there is nothing more to tell.
  private let isEndTold = Locked(false)

  // MARK: To override

  /// Data flow is about to begin. Must not touch the state of the stream: the base class calls this when the sink pad
  /// has begun to take data, which upstream may be pushing already. That is for `prepareToStream`.
  open func start() throws(ElementError) {}
  /// Data flow has ended.
  open func stop() {}
  /// Upstream's caps. Answers whether they can be handled.
  open func setSinkCaps(_ caps: borrowing Caps) -> Bool { true }
  /// Looks for one frame at the start of the data.
  open func handleFrame(_ frame: borrowing BaseParseFrame) throws(FlowError) -> ParseStep { .frame(size: frame.size) }
  /// A finished frame is about to be pushed.
  /// - Throws: `BaseParse.dropFrame` to leave the frame out, which is a success for upstream.
  open func prePushFrame(_ frame: borrowing BaseParseFrame) throws(FlowError) {}
  /// The caps that can be handled on the sink pad: the template's by default.
  open func sinkCaps(filter: borrowing Caps?) -> Caps {
    switch filter {
    case .some(let filter): filter.intersection(sinkPad.templateCaps)
    case .none: sinkPad.templateCaps
    }
  }
  /// An event from upstream. Chains to the base class by default.
  open func sinkEvent(_ event: consuming Event) -> Bool {
    unsafe Self.parent.pointee.sink_event(parse, event.take()) != 0
  }
  /// An event from downstream. Chains to the base class by default.
  open func sourceEvent(_ event: consuming Event) -> Bool {
    unsafe Self.parent.pointee.src_event(parse, event.take()) != 0
  }
  /// A query from upstream, on any thread. Chains to the base class by default.
  open func sinkQuery(_ query: borrowing Query) -> Bool { unsafe Self.parent.pointee.sink_query(parse, query.raw) != 0 }
  /// A query from downstream, on any thread. Chains to the base class by default.
  open func sourceQuery(_ query: borrowing Query) -> Bool {
    unsafe Self.parent.pointee.src_query(parse, query.raw) != 0
  }

  // MARK: Services of the base class

  /// Where the stream comes in.
  public var sinkPad: Pad { unsafe Pad(parse.pointee.sinkpad) }
  /// Where frames leave.
  public var sourcePad: Pad { unsafe Pad(parse.pointee.srcpad) }

  /// The segment of the data in hand.
  public var segment: Segment { unsafe Segment(parse.pointee.segment) }

  /// Moves the position in the segment on, where `prePushFrame` puts a later timestamp on a frame than the base class
  /// knows of. Has no effect backwards.
  public func advancePosition(to time: ClockTime) {
    let position = unsafe parse.pointee.segment.position
    guard position == .max || position < GstClockTime(time.nanoseconds) else { return }
    unsafe parse.pointee.segment.position = GstClockTime(time.nanoseconds)
  }

  /// Whether the input has ended or is cut off, so that what is there is all that comes.
  public var isDraining: Bool { unsafe cgst_base_parse_is_draining(parse) != 0 }
  /// Whether the data at hand does not follow on what came before.
  public var hasLostSync: Bool { unsafe cgst_base_parse_lost_sync(parse) != 0 }

  /// Bytes wanted in one piece before `handleFrame` is called.
  public func setMinimumFrameSize(_ bytes: Int) {
    unsafe gst_base_parse_set_min_frame_size(parse, guint(clamping: max(bytes, 1)))
  }

  /// Frames a second, so that the base class can make up timestamps and convert between units; 0/1 is unknown.
  ///
  /// - Parameters leadIn: frames before a seek position that are needed for decoding.
  public func setFrameRate(_ rate: Fraction, leadIn: UInt32 = 0, leadOut: UInt32 = 0) {
    unsafe gst_base_parse_set_frame_rate(
      parse, guint(max(rate.numerator, 0)), guint(max(rate.denominator, 0)), leadIn, leadOut)
  }

  /// Frames carry timestamps of their own, so the base class leaves seeking to them.
  public func setHasTimingInformation(_ has: Bool) { unsafe gst_base_parse_set_has_timing_info(parse, has ? 1 : 0) }
  /// Whether the base class makes up PTS from the frame before and its duration.
  public func setInterpolatesPTS(_ interpolates: Bool) {
    unsafe gst_base_parse_set_pts_interpolation(parse, interpolates ? 1 : 0)
  }
  /// Whether the base class derives missing timestamps from others.
  public func setInfersTimestamps(_ infers: Bool) { unsafe gst_base_parse_set_infer_ts(parse, infers ? 1 : 0) }
  /// Whether a frame can be found from anywhere in the stream.
  public func setSyncable(_ syncable: Bool) { unsafe gst_base_parse_set_syncable(parse, syncable ? 1 : 0) }
  /// Hands data on unseen.
  public func setPassthrough(_ passthrough: Bool) { unsafe gst_base_parse_set_passthrough(parse, passthrough ? 1 : 0) }

  /// The frame in hand begins so many bytes into its data: take the timestamp of the input buffer that lies there.
  public func setTimestampOffset(_ bytes: Int) { unsafe gst_base_parse_set_ts_at_offset(parse, gsize(max(bytes, 0))) }

  /// How long data is held back between sink and source pad.
  public func setLatency(minimum: ClockTime, maximum: ClockTime) {
    unsafe gst_base_parse_set_latency(parse, GstClockTime(minimum.nanoseconds), GstClockTime(maximum.nanoseconds))
  }

  /// Adds tags about the stream.
  public func mergeTags(_ tags: consuming TagList) {
    unsafe gst_base_parse_merge_tags(parse, tags.raw, GST_TAG_MERGE_REPLACE)
  }

  /// Posts the error that ends the stream. What the base class has to say of the same end is not posted any more, until
  /// data flow begins anew or ``acceptErrors()`` is called.
  public func postLast(_ error: ElementError) {
    post(error)
    isEndTold.withLock { $0 = true }
  }

  /// Errors of the base class are posted again, as behind a flush.
  public func acceptErrors() { isEndTold.withLock { $0 = false } }

  /// Sends out everything that is held back.
  public func drain() { unsafe gst_base_parse_drain(parse) }

  /// Throw this out of `prePushFrame` to leave a frame out (`GST_BASE_PARSE_FLOW_DROPPED`).
  public static var dropFrame: FlowError { FlowError(rawValue: cgst_base_parse_flow_dropped().rawValue) }

  // MARK: Trampolines

  override open class var parentType: (type: GType, instanceSize: Int) {
    unsafe (gst_base_parse_get_type(), MemoryLayout<GstBaseParse>.stride)
  }

  nonisolated(unsafe) fileprivate static let parent = unsafe VirtualMethod.parentClass(
    gst_base_parse_get_type(), as: GstBaseParseClass.self)

  @unsafe override open class func installVirtualMethods(in classStructure: UnsafeMutableRawPointer) {
    let methods = unsafe classStructure.assumingMemoryBound(to: GstBaseParseClass.self)
    _ = unsafe parent
    unsafe methods.pointee.parent_class.post_message = { element, message in
      guard let element = unsafe element, let message = unsafe message else { return 0 }
      let parse = unsafe swiftObject(
        UnsafeMutableRawPointer(element), behind: MemoryLayout<GstBaseParse>.stride, as: BaseParse.self)
      if unsafe message.pointee.type == GST_MESSAGE_ERROR, parse.isEndTold.snapshot {
        unsafe gst_message_unref(message)
        return 1
      }
      return unsafe BaseParse.parent.pointee.parent_class.post_message(element, message)
    }
    unsafe methods.pointee.start = { unsafe VirtualMethod.attempt($0, BaseParse.start) }
    unsafe methods.pointee.stop = { unsafe VirtualMethod.perform($0, BaseParse.stop) }
    unsafe methods.pointee.set_sink_caps = { unsafe VirtualMethod.borrow($0, $1, BaseParse.setSinkCaps) }
    unsafe methods.pointee.get_sink_caps = { unsafe VirtualMethod.caps($0, filter: $1, BaseParse.sinkCaps) }
    unsafe methods.pointee.handle_frame = { parse, frame, skip in
      guard let element = unsafe swiftObject(parse, as: BaseParse.self), let frame = unsafe frame else {
        return GST_FLOW_ERROR
      }
      do throws(FlowError) {
        switch try unsafe element.handleFrame(BaseParseFrame(frame)) {
        case .frame(let size):
          return unsafe gst_base_parse_finish_frame(parse, frame, gint(clamping: max(size, 0)))
        case .skip(let size): unsafe skip?.pointee = gint(clamping: max(size, 0))
        case .needsMoreData: break
        }
        return GST_FLOW_OK
      } catch {
        return GstFlowReturn(rawValue: error.rawValue)
      }
    }
    unsafe methods.pointee.pre_push_frame = { parse, frame in
      guard let element = unsafe swiftObject(parse, as: BaseParse.self), let frame = unsafe frame else {
        return GST_FLOW_ERROR
      }
      return FlowError.code { () throws(FlowError) in try unsafe element.prePushFrame(BaseParseFrame(frame)) }
    }
    unsafe methods.pointee.sink_event = { unsafe VirtualMethod.consume($0, $1, BaseParse.sinkEvent) }
    unsafe methods.pointee.src_event = { unsafe VirtualMethod.consume($0, $1, BaseParse.sourceEvent) }
    unsafe methods.pointee.sink_query = { unsafe VirtualMethod.borrow($0, $1, BaseParse.sinkQuery) }
    unsafe methods.pointee.src_query = { unsafe VirtualMethod.borrow($0, $1, BaseParse.sourceQuery) }
  }
}
