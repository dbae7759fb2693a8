// SPDX-License-Identifier: MPL-2.0
public import CGStreamer
import CGStreamerAudio
public import GStreamer

/// An audio decoder (`GstAudioDecoder`, gst/audio/gstaudiodecoder.h): the base class handles segments, timestamps,
/// reverse playback, gaps and negotiation.
///
/// Every method chains to the base class by default. Methods are called with the stream lock held.
open class AudioDecoder: Element {
  private var decoder: UnsafeMutablePointer<GstAudioDecoder> {
    unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstAudioDecoder.self)
  }

  // MARK: To override

  /// Whether the input is a stream of bytes in which ``parse(_:isContinuous:isAtEnd:)`` finds the frames, for a decoder
  /// that has no parser in front of it. By default each buffer of the input is a frame, and `parse` is never called.
  open class var parsesInput: Bool { false }

  /// NULL → READY: look for the codec here.
  open func open() throws(ElementError) {}
  /// READY → NULL.
  open func close() {}
  /// Data flow is about to begin.
  open func start() throws(ElementError) {}
  /// Data flow has ended.
  open func stop() {}
  /// Sets the input's format: ``setOutputFormat(_:)`` may be called here. Returns whether it is supported.
  open func setFormat(_ caps: borrowing Caps) -> Bool { true }
  /// Looks for one frame at the start of the bytes that have come and belong to no frame yet, where ``parsesInput`` is
  /// true. Each frame that it finds is then a buffer of ``handleFrame(_:)``, with the time of the input buffer in which
  /// it begins, if it is the first there.
  ///
  /// After `skip` it is called again with the bytes behind; more than 160 KiB skipped in a row are an
  /// error of the stream. Bytes left at the end of the stream are discarded.
  /// - Parameters:
  ///   - bytes: all of them; more than the frame has, as a rule.
  ///   - isContinuous: whether upstream marked no gap since the last output. Otherwise what looks like a frame may be
  ///     the middle of another, and a careful decoder checks that a second one follows.
  ///   - isAtEnd: whether no more bytes come, because the stream ends or has a gap.
  open func parse(_ bytes: Span<UInt8>, isContinuous: Bool, isAtEnd: Bool) throws(FlowError) -> ParseStep {
    .frame(size: bytes.count)
  }
  /// Decodes a frame. For each, call ``finish(_:frames:)`` or ``drop(frames:)``, now or later, in order; before the
  /// first, ``setOutputFormat(_:)``.
  open func handleFrame(_ frame: borrowing Buffer) throws(FlowError) {}
  /// Outputs the rest, at the end of the stream or a gap of it; more may follow.
  open func drain() throws(FlowError) {}
  /// Discards all that is pending.
  /// - Parameter isHard: whether the stream continues elsewhere, as after a seek, and nothing may be kept. Otherwise,
  ///   there is a gap, and a decoder may keep data that is not of the past.
  open func flush(isHard: Bool) {}
  /// Negotiates the output format with downstream. Chains to the base class by default.
  open func negotiate() -> Bool { unsafe Self.parent.pointee.negotiate(decoder) != 0 }
  /// Downstream's answer to the allocation query. Chains to the base class by default.
  open func decideAllocation(_ query: borrowing Query) -> Bool {
    unsafe Self.parent.pointee.decide_allocation(decoder, query.raw) != 0
  }
  /// Answers upstream's allocation query. Chains to the base class by default.
  open func proposeAllocation(_ query: borrowing Query) -> Bool {
    unsafe Self.parent.pointee.propose_allocation(decoder, query.raw) != 0
  }
  /// The caps that the sink pad supports.
  open func sinkCaps(filter: borrowing Caps?) -> Caps {
    unsafe Caps(owning: gst_audio_decoder_proxy_getcaps(decoder, nil, Caps.raw(filter)))
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

  /// The output's format that was set last; `nil` before.
  public final var outputFormat: AudioInfo? {
    guard let info = unsafe gst_audio_decoder_get_audio_info(decoder) else { return nil }
    let format = unsafe AudioInfo(info.pointee)
    return format.sampleRate > 0 ? format : nil
  }

  /// Sets the output's format, before the first output and whenever it changes. Returns whether the caps match the
  /// source pad's template.
  @discardableResult
  public func setOutputFormat(_ info: AudioInfo) -> Bool {
    guard !info.caps().isEmpty else { return false }
    var copy = unsafe info.raw
    return unsafe gst_audio_decoder_set_output_format(decoder, &copy) != 0
  }

  /// Whether data is refused before sink caps.
  public func setNeedsFormat(_ needs: Bool) { unsafe gst_audio_decoder_set_needs_format(decoder, needs ? 1 : 0) }
  /// Whether accept-caps queries are answered from the pad template alone.
  public func setUsesDefaultPadAcceptCaps(_ uses: Bool) {
    unsafe gst_audio_decoder_set_use_default_pad_acceptcaps(decoder, uses ? 1 : 0)
  }
  /// Sets the latency of the decoder.
  public func setLatency(minimum: ClockTime, maximum: ClockTime) {
    unsafe gst_audio_decoder_set_latency(decoder, GstClockTime(minimum.nanoseconds), GstClockTime(maximum.nanoseconds))
  }

  /// Pushes decoded samples downstream; the base class gives them their times. Throws what downstream returns.
  ///
  /// - Parameters:
  ///   - samples: whole frames of ``outputFormat``, the samples of all channels.
  ///   - frames: how many frames of the input these are of, the oldest first: 1, unless the decoder puts several
  ///     together or pads them out.
  /// - Throws: `notNegotiated` before ``setOutputFormat(_:)``, and for samples that are no whole number of frames.
  public func finish(_ samples: consuming Buffer, frames: Int = 1) throws(FlowError) {
    // The base class would end the process's trust in it: it logs a critical warning.
    guard let format = outputFormat, samples.size % format.frameSize == 0, samples.size > 0 else {
      throw .notNegotiated
    }
    try unsafe FlowError.check(gst_audio_decoder_finish_frame(decoder, samples.take(), gint(clamping: max(frames, 0))))
  }

  /// Drops frames of the input without output, the oldest first.
  public func drop(frames: Int = 1) throws(FlowError) {
    try unsafe FlowError.check(gst_audio_decoder_finish_frame(decoder, nil, gint(clamping: max(frames, 0))))
  }

  /// Allocates an output buffer of this many bytes from the negotiated allocator; `nil` when that fails.
  public func allocateOutputBuffer(size: Int) -> Buffer? {
    guard size > 0, let buffer = unsafe gst_audio_decoder_allocate_output_buffer(decoder, gsize(size)) else {
      return nil
    }
    return unsafe Buffer(owning: buffer)
  }

  /// Consecutive errors that are allowed (the `max-errors` property); −1 is without limit.
  public var maximumErrors: Int32 {
    get { unsafe gst_audio_decoder_get_max_errors(decoder) }
    set { unsafe gst_audio_decoder_set_max_errors(decoder, newValue) }
  }

  /// Merges tags into the stream's tags.
  public func mergeTags(_ tags: borrowing TagList) {
    unsafe gst_audio_decoder_merge_tags(decoder, tags.raw, GST_TAG_MERGE_REPLACE)
  }

  /// Sets offset and length to the next frame's in the adapter, as the base class's `parse` does.
  private func findFrame(
    in adapter: OpaquePointer, _ offset: UnsafeMutablePointer<gint>?,
    _ length: UnsafeMutablePointer<gint>?
  ) throws(FlowError) {
    var (isContinuous, isAtEnd): (gboolean, gboolean) = (0, 0)
    unsafe gst_audio_decoder_get_parse_state(decoder, &isContinuous, &isAtEnd)
    let frame = try unsafe frame(in: adapter, isContinuous: isContinuous != 0, isAtEnd: isAtEnd != 0)
    unsafe offset?.pointee = gint(clamping: frame.lowerBound)
    unsafe length?.pointee = gint(clamping: frame.count)
    if !frame.isEmpty { return }
    // The base class drains the decoder only if no bytes are left over.
    if isAtEnd != 0 { try drain() }
    throw .endOfStream
  }

  /// The place of the next frame in the adapter; without a frame, an empty range behind the skipped bytes.
  private func frame(
    in adapter: OpaquePointer, isContinuous: Bool, isAtEnd: Bool
  ) throws(FlowError) -> Range<Int> {
    let size = unsafe Int(clamping: gst_adapter_available(adapter))
    guard let start = unsafe gst_adapter_map(adapter, gsize(size)) else { throw .error }
    defer { unsafe gst_adapter_unmap(adapter) }
    let bytes = unsafe Span(_unsafeStart: start.assumingMemoryBound(to: UInt8.self), count: size)
    var skipped = 0
    while skipped < size {
      let step = try parse(
        bytes.extracting(droppingFirst: skipped), isContinuous: isContinuous, isAtEnd: isAtEnd)
      let end = skipped + min(max(step.size, 0), size - skipped)
      // A step of no bytes would be repeated for ever.
      guard end > skipped else { break }
      if case .frame = step { return skipped..<end }
      skipped = end
    }
    return skipped..<skipped
  }

  // MARK: Trampolines

  override open class var requiredTemplates: [String] { ["sink", "src"] }
  /// `GstAudioDecoder`.
  override open class var parentType: (type: GType, instanceSize: Int) {
    unsafe (gst_audio_decoder_get_type(), MemoryLayout<GstAudioDecoder>.stride)
  }

  nonisolated(unsafe) private static let parent = unsafe VirtualMethod.parentClass(
    gst_audio_decoder_get_type(), as: GstAudioDecoderClass.self)

  /// Installs the methods above.
  @unsafe override open class func installVirtualMethods(in classStructure: UnsafeMutableRawPointer) {
    let methods = unsafe classStructure.assumingMemoryBound(to: GstAudioDecoderClass.self)
    _ = unsafe parent
    unsafe methods.pointee.open = { unsafe VirtualMethod.attempt($0, AudioDecoder.open) }
    unsafe methods.pointee.close = { unsafe VirtualMethod.perform($0, AudioDecoder.close) }
    unsafe methods.pointee.start = { unsafe VirtualMethod.attempt($0, AudioDecoder.start) }
    unsafe methods.pointee.stop = { unsafe VirtualMethod.perform($0, AudioDecoder.stop) }
    unsafe methods.pointee.set_format = { unsafe VirtualMethod.borrow($0, $1, AudioDecoder.setFormat) }
    if parsesInput {
      unsafe methods.pointee.parse = { decoder, adapter, offset, length in
        guard let adapter = unsafe adapter else { return GST_FLOW_ERROR }
        return unsafe VirtualMethod.flow(decoder) { (element: AudioDecoder) in
          { () throws(FlowError) in try unsafe element.findFrame(in: adapter, offset, length) }
        }
      }
    }
    unsafe methods.pointee.handle_frame = { decoder, frame in
      // NULL requests the remaining output.
      if unsafe frame == nil { return unsafe VirtualMethod.flow(decoder, AudioDecoder.drain) }
      return unsafe VirtualMethod.flow(decoder, borrowing: frame, AudioDecoder.handleFrame)
    }
    unsafe methods.pointee.flush = { decoder, isHard in
      unsafe swiftObject(decoder, as: AudioDecoder.self)?.flush(isHard: isHard != 0)
    }
    unsafe methods.pointee.negotiate = { unsafe VirtualMethod.answer($0, AudioDecoder.negotiate) }
    unsafe methods.pointee.decide_allocation = { unsafe VirtualMethod.borrow($0, $1, AudioDecoder.decideAllocation) }
    unsafe methods.pointee.propose_allocation = { unsafe VirtualMethod.borrow($0, $1, AudioDecoder.proposeAllocation) }
    unsafe methods.pointee.getcaps = { unsafe VirtualMethod.caps($0, filter: $1, AudioDecoder.sinkCaps) }
    unsafe methods.pointee.sink_event = { unsafe VirtualMethod.consume($0, $1, AudioDecoder.sinkEvent) }
    unsafe methods.pointee.src_event = { unsafe VirtualMethod.consume($0, $1, AudioDecoder.sourceEvent) }
    unsafe methods.pointee.sink_query = { unsafe VirtualMethod.borrow($0, $1, AudioDecoder.sinkQuery) }
    unsafe methods.pointee.src_query = { unsafe VirtualMethod.borrow($0, $1, AudioDecoder.sourceQuery) }
  }
}
