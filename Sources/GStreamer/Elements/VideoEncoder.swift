// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// Encodes raw pictures (`GstVideoEncoder`): the base class does segments, timestamps, keyframe requests and
/// negotiation.
///
/// Methods are called with the stream lock held.
open class VideoEncoder: Element {
  private var encoder: UnsafeMutablePointer<GstVideoEncoder> {
    unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstVideoEncoder.self)
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
  /// The format of the pictures that come next: say here what the output is (`setOutputState`). Answers whether it can
  /// be encoded.
  open func setFormat(_ state: borrowing VideoCodecState) -> Bool { true }
  /// A picture to encode. End each with `finish` or `drop`, now or later, in decoding order.
  open func handleFrame(_ frame: consuming VideoCodecFrame) throws(FlowError) {}
  /// The stream has ended, or its format changes: put out everything that is left.
  open func finish() throws(FlowError) {}
  /// A seek: forget everything.
  open func flush() -> Bool { true }
  /// The caps that can be encoded.
  open func sinkCaps(filter: borrowing Caps?) -> Caps {
    let filterCaps: UnsafeMutablePointer<GstCaps>?
    switch filter {
    case .some(let caps): unsafe filterCaps = caps.raw
    case .none: unsafe filterCaps = nil
    }
    return unsafe Caps(owning: gst_video_encoder_proxy_getcaps(encoder, nil, filterCaps))
  }
  /// An event from upstream. Chains to the base class by default.
  open func sinkEvent(_ event: consuming Event) -> Bool {
    unsafe Self.parent.pointee.sink_event(encoder, event.take()) != 0
  }
  /// An event from downstream. Chains to the base class by default.
  open func sourceEvent(_ event: consuming Event) -> Bool {
    unsafe Self.parent.pointee.src_event(encoder, event.take()) != 0
  }

  // MARK: Services of the base class

  /// Where raw pictures come in.
  public var sinkPad: Pad { unsafe Pad(encoder.pointee.sinkpad) }
  /// Where compressed pictures leave.
  public var sourcePad: Pad { unsafe Pad(encoder.pointee.srcpad) }

  /// The caps of the output; size and frame rate are filled in from the input's format.
  public func setOutputState(caps: consuming Caps, reference: borrowing VideoCodecState) -> VideoCodecState? {
    guard let state = unsafe gst_video_encoder_set_output_state(encoder, caps.take(), reference.raw) else { return nil }
    return unsafe VideoCodecState(owning: state)
  }

  /// How long pictures are held back.
  public func setLatency(minimum: ClockTime, maximum: ClockTime) {
    unsafe gst_video_encoder_set_latency(encoder, GstClockTime(minimum.nanoseconds), GstClockTime(maximum.nanoseconds))
  }

  /// A picture that is on its way, by its number.
  public func frame(number: UInt32) -> VideoCodecFrame? {
    guard let frame = unsafe gst_video_encoder_get_frame(encoder, gint(truncatingIfNeeded: number)) else { return nil }
    return unsafe VideoCodecFrame(owning: frame)
  }

  /// Pushes the compressed picture downstream: its `setOutput` was called.
  public func finish(_ frame: consuming VideoCodecFrame) throws(FlowError) {
    try unsafe FlowError.check(gst_video_encoder_finish_frame(encoder, frame.take()))
  }

  /// Leaves the picture out.
  public func drop(_ frame: consuming VideoCodecFrame) throws(FlowError) {
    frame.clearOutput()
    try unsafe FlowError.check(gst_video_encoder_finish_frame(encoder, frame.take()))
  }

  /// Adds tags about the stream.
  public func mergeTags(_ tags: borrowing TagList) {
    unsafe gst_video_encoder_merge_tags(encoder, tags.raw, GST_TAG_MERGE_REPLACE)
  }

  // MARK: Trampolines

  /// `GstVideoEncoder`.
  override open class var parentType: (type: GType, instanceSize: Int) {
    unsafe (gst_video_encoder_get_type(), MemoryLayout<GstVideoEncoder>.stride)
  }

  nonisolated(unsafe) private static let parent: UnsafePointer<GstVideoEncoderClass> =
    unsafe UnsafePointer(
      UnsafeMutableRawPointer(g_type_class_ref(gst_video_encoder_get_type()))
        .assumingMemoryBound(to: GstVideoEncoderClass.self))

  /// Installs the methods above.
  @unsafe override open class func installVirtualMethods(in classStructure: UnsafeMutableRawPointer) {
    let methods = unsafe classStructure.assumingMemoryBound(to: GstVideoEncoderClass.self)
    _ = unsafe parent
    unsafe methods.pointee.open = { encoder in
      unsafe attempt(encoder, VideoEncoder.self) { element throws(ElementError) in try element.open() }
    }
    unsafe methods.pointee.close = { encoder in
      unsafe swiftObject(encoder, as: VideoEncoder.self)?.close()
      return 1
    }
    unsafe methods.pointee.start = { encoder in
      unsafe attempt(encoder, VideoEncoder.self) { element throws(ElementError) in try element.start() }
    }
    unsafe methods.pointee.stop = { encoder in
      unsafe swiftObject(encoder, as: VideoEncoder.self)?.stop()
      return 1
    }
    unsafe methods.pointee.set_format = { encoder, state in
      unsafe answer(encoder, VideoEncoder.self) { element in
        guard let state = unsafe state else { return false }
        return unsafe element.setFormat(VideoCodecState(owning: gst_video_codec_state_ref(state)))
      }
    }
    unsafe methods.pointee.handle_frame = { encoder, frame in
      unsafe flow(encoder, VideoEncoder.self) { element throws(FlowError) in
        guard let frame = unsafe frame else { throw .error }
        try unsafe element.handleFrame(VideoCodecFrame(owning: frame))
      }
    }
    unsafe methods.pointee.finish = { encoder in
      unsafe flow(encoder, VideoEncoder.self) { element throws(FlowError) in try element.finish() }
    }
    unsafe methods.pointee.flush = { encoder in unsafe answer(encoder, VideoEncoder.self) { $0.flush() } }
    unsafe methods.pointee.getcaps = { encoder, filter in
      unsafe answerCaps(encoder, VideoEncoder.self, filter) { $0.sinkCaps(filter: $1) }
    }
    unsafe methods.pointee.sink_event = { encoder, event in
      unsafe consume(encoder, VideoEncoder.self, event) { (element, event: consuming Event) in
        element.sinkEvent(event)
      }
    }
    unsafe methods.pointee.src_event = { encoder, event in
      unsafe consume(encoder, VideoEncoder.self, event) { (element, event: consuming Event) in
        element.sourceEvent(event)
      }
    }
  }
}
