// SPDX-License-Identifier: MPL-2.0
public import CGStreamer
import CGStreamerAudio
public import GStreamer

/// An audio encoder (`GstAudioEncoder`, gst/audio/gstaudioencoder.h): the base class cuts samples into frames, and
/// handles segments, timestamps and negotiation.
///
/// Every method chains to the base class by default. Methods are called with the stream lock held.
open class AudioEncoder: Element {
  private var encoder: UnsafeMutablePointer<GstAudioEncoder> {
    unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstAudioEncoder.self)
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
  /// Sets the input's format: call ``setOutputCaps(_:)`` and ``setFrameSamples(_:)`` here. Returns whether the format
  /// is supported.
  open func setFormat(_ info: AudioInfo) -> Bool { true }
  /// Encodes samples, as many as ``setFrameSamples(_:)`` allows, or fewer at the end of the stream. Call
  /// ``finish(_:samples:)`` for them, now or later, in order.
  open func handleFrame(_ samples: borrowing Buffer) throws(FlowError) {}
  /// Outputs the rest, at the end of the stream or a change of format.
  open func drain() throws(FlowError) {}
  /// Discards all that is pending, for a seek.
  open func flush() {}
  /// Negotiates the output format with downstream. Chains to the base class by default.
  open func negotiate() -> Bool { unsafe Self.parent.pointee.negotiate(encoder) != 0 }
  /// Downstream's answer to the allocation query. Chains to the base class by default.
  open func decideAllocation(_ query: borrowing Query) -> Bool {
    unsafe Self.parent.pointee.decide_allocation(encoder, query.raw) != 0
  }
  /// Answers upstream's allocation query. Chains to the base class by default.
  open func proposeAllocation(_ query: borrowing Query) -> Bool {
    unsafe Self.parent.pointee.propose_allocation(encoder, query.raw) != 0
  }
  /// The caps that the sink pad supports.
  open func sinkCaps(filter: borrowing Caps?) -> Caps {
    unsafe Caps(owning: gst_audio_encoder_proxy_getcaps(encoder, nil, Caps.raw(filter)))
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
  /// The segment of the input.
  public var inputSegment: Segment { unsafe Segment(encoder.pointee.input_segment) }
  /// The segment of the output.
  public var outputSegment: Segment { unsafe Segment(encoder.pointee.output_segment) }

  /// The input's format; `nil` before the first.
  public final var inputFormat: AudioInfo? {
    guard let info = unsafe gst_audio_encoder_get_audio_info(encoder) else { return nil }
    let format = unsafe AudioInfo(info.pointee)
    return format.sampleRate > 0 ? format : nil
  }

  /// Sets the output's caps, whole: the base class adds nothing. Returns whether they are fixed and could be set.
  @discardableResult
  public func setOutputCaps(_ caps: borrowing Caps) -> Bool {
    guard caps.isFixed else { return false }
    return unsafe gst_audio_encoder_set_output_format(encoder, caps.raw) != 0
  }

  /// Sets how many samples of each channel `handleFrame` is to have; by default as many as a buffer happens to have.
  /// - Parameter range: 0 for no limit. A codec of fixed frames has one number, and gets a frame a call.
  public func setFrameSamples(_ range: ClosedRange<Int>) {
    unsafe gst_audio_encoder_set_frame_samples_min(encoder, gint(clamping: max(range.lowerBound, 0)))
    unsafe gst_audio_encoder_set_frame_samples_max(encoder, gint(clamping: max(range.upperBound, 0)))
    // The base class hands over as many whole frames as it has, however many samples one may have.
    let isFixed = range.lowerBound == range.upperBound && range.lowerBound > 0
    unsafe gst_audio_encoder_set_frame_max(encoder, isFixed ? 1 : 0)
  }

  /// Sets the latency of the encoder.
  public func setLatency(minimum: ClockTime, maximum: ClockTime) {
    unsafe gst_audio_encoder_set_latency(encoder, GstClockTime(minimum.nanoseconds), GstClockTime(maximum.nanoseconds))
  }

  /// Sets what a decoder needs before the first frame, in one buffer, which the base class sends first. It has no time,
  /// and an ``AudioDecoder`` gets it as its first frame.
  public func setHeaders(_ headers: consuming Buffer) {
    unsafe gst_audio_encoder_set_headers(encoder, g_list_append(nil, headers.take()))
  }

  /// Pushes encoded samples downstream; the base class gives them their times. Throws what downstream returns.
  ///
  /// - Parameters:
  ///   - code: the encoded samples.
  ///   - samples: how many of each channel these are, the oldest first; `nil` for all that `handleFrame` had.
  public func finish(_ code: consuming Buffer, samples: Int?) throws(FlowError) {
    guard inputFormat != nil else { throw .notNegotiated }
    try unsafe FlowError.check(
      gst_audio_encoder_finish_frame(encoder, code.take(), samples.map { gint(clamping: max($0, 0)) } ?? -1))
  }

  /// Drops samples of the input without output, the oldest first.
  public func drop(samples: Int) throws(FlowError) {
    guard inputFormat != nil else { throw .notNegotiated }
    try unsafe FlowError.check(gst_audio_encoder_finish_frame(encoder, nil, gint(clamping: max(samples, 0))))
  }

  /// Allocates an output buffer of this many bytes from the negotiated allocator; `nil` when that fails.
  public func allocateOutputBuffer(size: Int) -> Buffer? {
    guard size > 0, let buffer = unsafe gst_audio_encoder_allocate_output_buffer(encoder, gsize(size)) else {
      return nil
    }
    return unsafe Buffer(owning: buffer)
  }

  /// Merges tags into the stream's tags.
  public func mergeTags(_ tags: borrowing TagList) {
    unsafe gst_audio_encoder_merge_tags(encoder, tags.raw, GST_TAG_MERGE_REPLACE)
  }

  // MARK: Trampolines

  override open class var requiredTemplates: [String] { ["sink", "src"] }
  /// `GstAudioEncoder`.
  override open class var parentType: (type: GType, instanceSize: Int) {
    unsafe (gst_audio_encoder_get_type(), MemoryLayout<GstAudioEncoder>.stride)
  }

  nonisolated(unsafe) private static let parent = unsafe VirtualMethod.parentClass(
    gst_audio_encoder_get_type(), as: GstAudioEncoderClass.self)

  /// Installs the methods above.
  @unsafe override open class func installVirtualMethods(in classStructure: UnsafeMutableRawPointer) {
    let methods = unsafe classStructure.assumingMemoryBound(to: GstAudioEncoderClass.self)
    _ = unsafe parent
    unsafe methods.pointee.open = { unsafe VirtualMethod.attempt($0, AudioEncoder.open) }
    unsafe methods.pointee.close = { unsafe VirtualMethod.perform($0, AudioEncoder.close) }
    unsafe methods.pointee.start = { unsafe VirtualMethod.attempt($0, AudioEncoder.start) }
    unsafe methods.pointee.stop = { unsafe VirtualMethod.perform($0, AudioEncoder.stop) }
    unsafe methods.pointee.set_format = { encoder, info in
      guard let element = unsafe swiftObject(encoder, as: AudioEncoder.self), let info = unsafe info else { return 0 }
      return element.setFormat(unsafe AudioInfo(info.pointee)) ? 1 : 0
    }
    unsafe methods.pointee.handle_frame = { encoder, samples in
      // NULL requests the remaining output.
      if unsafe samples == nil { return unsafe VirtualMethod.flow(encoder, AudioEncoder.drain) }
      return unsafe VirtualMethod.flow(encoder, borrowing: samples, AudioEncoder.handleFrame)
    }
    unsafe methods.pointee.flush = { unsafe swiftObject($0, as: AudioEncoder.self)?.flush() }
    unsafe methods.pointee.negotiate = { unsafe VirtualMethod.answer($0, AudioEncoder.negotiate) }
    unsafe methods.pointee.decide_allocation = { unsafe VirtualMethod.borrow($0, $1, AudioEncoder.decideAllocation) }
    unsafe methods.pointee.propose_allocation = { unsafe VirtualMethod.borrow($0, $1, AudioEncoder.proposeAllocation) }
    unsafe methods.pointee.getcaps = { unsafe VirtualMethod.caps($0, filter: $1, AudioEncoder.sinkCaps) }
    unsafe methods.pointee.sink_event = { unsafe VirtualMethod.consume($0, $1, AudioEncoder.sinkEvent) }
    unsafe methods.pointee.src_event = { unsafe VirtualMethod.consume($0, $1, AudioEncoder.sourceEvent) }
    unsafe methods.pointee.sink_query = { unsafe VirtualMethod.borrow($0, $1, AudioEncoder.sinkQuery) }
    unsafe methods.pointee.src_query = { unsafe VirtualMethod.borrow($0, $1, AudioEncoder.sourceQuery) }
  }
}
