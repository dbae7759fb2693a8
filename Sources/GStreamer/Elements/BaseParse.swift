// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// Splits a stream into frames (`GstBaseParse`): the base class handles scheduling, seeking, timestamps and queries.
///
/// Every method chains to the base class by default.
open class BaseParse: Element {
  private var parse: UnsafeMutablePointer<GstBaseParse> {
    unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstBaseParse.self)
  }

  /// Whether an error was posted that makes the base class's redundant.
  private let isEndTold = Locked(false)

  // MARK: To override

  /// Data flow is about to begin. Must not change the state of the stream, which `prepareToStream` does: the base class
  /// calls this when the sink pad is active already, and upstream may be pushing.
  open func start() throws(ElementError) {}
  /// Data flow has ended.
  open func stop() {}
  /// Sets upstream's caps. Returns whether they are supported.
  open func setSinkCaps(_ caps: borrowing Caps) -> Bool { true }
  /// Looks for one frame at the start of the data.
  open func handleFrame(_ frame: borrowing BaseParseFrame) throws(FlowError) -> ParseStep { .frame(size: frame.size) }
  /// A finished frame is about to be pushed.
  /// - Throws: `FlowError.dropped` to leave the frame out; for upstream, that is a success.
  open func prePushFrame(_ frame: borrowing BaseParseFrame) throws(FlowError) {}
  /// The caps that the sink pad supports: by default the template's.
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
    unsafe sourcePad.answerWithFixedCaps(query) || Self.parent.pointee.src_query(parse, query.raw) != 0
  }

  /// Converts between bytes and time, on any thread; `nil` when that cannot be done. By default from the bytes and
  /// durations of the frames that were pushed. The base class estimates the duration of the stream and positions of
  /// seeks with it.
  open func convert(_ value: Int64, from source: Query.Format, to target: Query.Format) -> Int64? {
    var result: gint64 = -1
    let isKnown = unsafe Self.parent.pointee.convert(parse, source.raw, gint64(value), target.raw, &result)
    return isKnown != 0 ? Int64(result) : nil
  }

  // MARK: Services of the base class

  /// The sink pad.
  public var sinkPad: Pad { unsafe Pad(lent: parse.pointee.sinkpad) }
  /// The source pad.
  public var sourcePad: Pad { unsafe Pad(lent: parse.pointee.srcpad) }

  /// The current segment.
  public var segment: Segment { unsafe Segment(parse.pointee.segment) }

  /// Adds a keyframe to the index for seeks. The base class adds the keyframes that it pushes. This method is for
  /// keyframes found otherwise, in order and each after the last one in the index.
  public func addToIndex(_ time: ClockTime, at offset: UInt64) {
    unsafe gst_base_parse_add_index_entry(parse, guint64(offset), GstClockTime(time.nanoseconds), 1, 0)
  }

  /// Advances the segment's position, when `prePushFrame` gives a frame a later timestamp than the base class has
  /// computed. Never moves it back.
  public func advancePosition(to time: ClockTime) {
    let position = unsafe parse.pointee.segment.position
    guard position == .max || position < GstClockTime(time.nanoseconds) else { return }
    unsafe parse.pointee.segment.position = GstClockTime(time.nanoseconds)
  }

  /// Whether the input has ended or is interrupted, so that no more data follows.
  public var isDraining: Bool { unsafe cgst_base_parse_is_draining(parse) != 0 }

  /// The least number of bytes for a call of `handleFrame`.
  public func setMinimumFrameSize(_ bytes: Int) {
    unsafe gst_base_parse_set_min_frame_size(parse, guint(clamping: max(bytes, 1)))
  }

  /// Sets the frame rate, from which the base class makes up timestamps and converts formats; 0/1 is unknown.
  ///
  /// - Parameters:
  ///   - rate: in frames a second.
  ///   - leadIn: frames before a seek position that decoding needs.
  ///   - leadOut: frames after a segment's end that decoding needs.
  public func setFrameRate(_ rate: Fraction, leadIn: UInt32 = 0, leadOut: UInt32 = 0) {
    unsafe gst_base_parse_set_frame_rate(
      parse, guint(max(rate.numerator, 0)), guint(max(rate.denominator, 0)), leadIn, leadOut)
  }

  /// Whether the base class interpolates PTS, which is wrong for streams with reordering.
  public func setInterpolatesPTS(_ interpolates: Bool) {
    unsafe gst_base_parse_set_pts_interpolation(parse, interpolates ? 1 : 0)
  }
  /// Whether the base class infers missing PTS from DTS and the reverse.
  public func setInfersTimestamps(_ infers: Bool) { unsafe gst_base_parse_set_infer_ts(parse, infers ? 1 : 0) }
  /// Whether to push buffers unchanged, without a call of `handleFrame`.
  public func setPassthrough(_ passthrough: Bool) { unsafe gst_base_parse_set_passthrough(parse, passthrough ? 1 : 0) }

  /// Sets after how many frames the base class estimates the duration again, unless upstream reports it; 50 at first.
  public func setDurationInterval(_ frames: Int) {
    unsafe gst_base_parse_set_duration(parse, GST_FORMAT_TIME, -1, gint(clamping: max(frames, 1)))
  }

  /// Sets the latency from sink to source pad.
  public func setLatency(minimum: ClockTime, maximum: ClockTime) {
    unsafe gst_base_parse_set_latency(parse, GstClockTime(minimum.nanoseconds), GstClockTime(maximum.nanoseconds))
  }

  /// Merges tags into the stream's tags.
  public func mergeTags(_ tags: consuming TagList) {
    unsafe gst_base_parse_merge_tags(parse, tags.raw, GST_TAG_MERGE_REPLACE)
  }

  /// Posts the error that ends the stream, and drops errors that the base class posts for the same reason, until data
  /// flow restarts or ``acceptErrors()`` is called.
  public func postLast(_ error: ElementError) {
    post(error)
    isEndTold.withLock { $0 = true }
  }

  /// Posts errors of the base class again, as after a flush.
  public func acceptErrors() { isEndTold.withLock { $0 = false } }

  /// Parses and pushes all data that the base class holds.
  public func drain() { unsafe gst_base_parse_drain(parse) }

  // MARK: Trampolines

  override open class var requiredTemplates: [String] { ["sink", "src"] }
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
          // The base class would log a critical warning, and end in an internal error.
          let available = unsafe Int(clamping: gst_buffer_get_size(frame.pointee.buffer))
          let isPushed = unsafe size > 0 || size == 0 && frame.pointee.out_buffer != nil
          guard isPushed, size <= available else {
            element.post(
              ElementError(
                .library(.failed), "The parser found a frame of \(size) bytes in \(available).",
                debug: "ParseStep.frame"))
            return GST_FLOW_ERROR
          }
          return unsafe gst_base_parse_finish_frame(parse, frame, gint(size))
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
    unsafe methods.pointee.convert = { parse, source, value, target, result in
      guard let element = unsafe swiftObject(parse, as: BaseParse.self), let result = unsafe result else { return 0 }
      let (from, to) = (Query.Format(source), Query.Format(target))
      guard from != .other, to != .other else {
        return unsafe BaseParse.parent.pointee.convert(parse, source, value, target, result)
      }
      guard let converted = element.convert(Int64(value), from: from, to: to) else { return 0 }
      unsafe result.pointee = gint64(converted)
      return 1
    }
    unsafe methods.pointee.sink_event = { unsafe VirtualMethod.consume($0, $1, BaseParse.sinkEvent) }
    unsafe methods.pointee.src_event = { unsafe VirtualMethod.consume($0, $1, BaseParse.sourceEvent) }
    unsafe methods.pointee.sink_query = { unsafe VirtualMethod.borrow($0, $1, BaseParse.sinkQuery) }
    unsafe methods.pointee.src_query = { unsafe VirtualMethod.borrow($0, $1, BaseParse.sourceQuery) }
  }
}

/// The finding of `BaseParse.handleFrame` in the data.
public enum ParseStep: Sendable {
  /// A frame of this many bytes: push it.
  case frame(size: Int)
  /// This many bytes belong to no frame: skip them.
  case skip(Int)
  /// The frame is not complete: call again with more data.
  case needsMoreData

  /// The bytes consumed.
  public var size: Int {
    switch self {
    case .frame(let size), .skip(let size): size
    case .needsMoreData: 0
    }
  }
}
