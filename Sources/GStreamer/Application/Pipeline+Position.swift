// SPDX-License-Identifier: MPL-2.0
import CGStreamer

extension Pipeline {
  /// The position in stream time; `nil` while it is unknown, as before the first buffer.
  public var position: ClockTime? {
    var position: gint64 = -1
    guard unsafe gst_element_query_position(raw, GST_FORMAT_TIME, &position) != 0, position >= 0 else { return nil }
    return ClockTime(nanoseconds: UInt64(position))
  }

  /// The duration of the stream; `nil` if unknown, as for a live source.
  public var duration: ClockTime? {
    var duration: gint64 = -1
    guard unsafe gst_element_query_duration(raw, GST_FORMAT_TIME, &duration) != 0, duration >= 0 else { return nil }
    return ClockTime(nanoseconds: UInt64(duration))
  }

  /// The latency of the pipeline; `nil` while it is unknown. A `maximum` of `nil` is unlimited.
  public var latency: (minimum: ClockTime, maximum: ClockTime?)? {
    let query = Query.latency()
    guard unsafe gst_element_query(raw, query.raw) != 0, let answer = query.latency else { return nil }
    return (answer.minimum, answer.maximum)
  }

  /// The range of stream time that can be sought; `nil` when the stream is not seekable.
  public var seekableRange: Range<ClockTime>? {
    guard let query = unsafe gst_query_new_seeking(GST_FORMAT_TIME) else { return nil }
    let owner = unsafe Query(owning: query)
    guard unsafe gst_element_query(raw, owner.raw) != 0 else { return nil }
    var isSeekable: gboolean = 0
    var (start, end): (gint64, gint64) = (0, 0)
    unsafe gst_query_parse_seeking(owner.raw, nil, &isSeekable, &start, &end)
    guard isSeekable != 0, start >= 0 else { return nil }
    let first = ClockTime(nanoseconds: UInt64(start))
    return first..<max(first, ClockTime(nanoseconds: end < 0 ? .max : UInt64(end)))
  }

  /// Options of a seek (`GstSeekFlags`).
  public struct SeekOptions: OptionSet, Sendable {
    /// `GstSeekFlags`.
    public let rawValue: UInt32
    /// Options of these `GstSeekFlags`.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    init(_ flags: GstSeekFlags) { rawValue = flags.rawValue }

    /// Discard data in flow, so that the seek is quick. Without this, it is played first.
    public static var flush: Self { Self(GST_SEEK_FLAG_FLUSH) }
    /// Seek to exactly this time, decoding from the random access point before.
    public static var accurate: Self { Self(GST_SEEK_FLAG_ACCURATE) }
    /// Seek to a random access point: the previous one, unless `after` or `nearest` is set.
    public static var keyUnit: Self { Self(GST_SEEK_FLAG_KEY_UNIT) }
    /// Seek to the random access point after.
    public static var after: Self { Self(GST_SEEK_FLAG_SNAP_AFTER) }
    /// Seek to the nearest random access point.
    public static var nearest: Self { Self(GST_SEEK_FLAG_SNAP_NEAREST) }
    /// Post `segmentDone` at the end instead of ending the stream.
    public static var segment: Self { Self(GST_SEEK_FLAG_SEGMENT) }
    /// Decode only keyframes.
    public static var keyUnitsOnly: Self { Self(GST_SEEK_FLAG_TRICKMODE_KEY_UNITS) }
  }

  /// Seeks to a position, and sets the playback rate.
  ///
  /// With `flush`, returns when the sinks have prerolled there. The pipeline must be prerolled or playing.
  /// - Parameters:
  ///   - time: the position in stream time.
  ///   - end: the end of playback; `nil` for the end of the stream.
  ///   - rate: the playback speed, not 0; below 0, playback is backwards from `end` to `time`.
  ///   - options: the accuracy, and what happens to data in flow.
  /// - Throws: `notSeekable`, `element`, `stopped` or `cancelled`.
  public func seek(
    to time: ClockTime, until end: ClockTime? = nil, rate: Double = 1, _ options: SeekOptions = [.flush, .accurate]
  ) async throws(PipelineError) {
    guard rate != 0, rate.isFinite else { throw .notSeekable }
    let start = gint64(clamping: time.nanoseconds)
    let stop = end.map { gint64(clamping: $0.nanoseconds) }
    let number = gst_util_seqnum_next()
    let isFlushing = options.contains(.flush)
    // In this order: an end of stream between the two predates the seek.
    if isFlushing { hub.beginSeek(number) }
    let hadEnded = hub.resume()
    let worked = await onOtherThread { [reference] in
      let event = unsafe gst_event_new_seek(
        rate, GST_FORMAT_TIME, GstSeekFlags(rawValue: options.rawValue), GST_SEEK_TYPE_SET, start,
        stop == nil ? (rate > 0 ? GST_SEEK_TYPE_NONE : GST_SEEK_TYPE_SET) : GST_SEEK_TYPE_SET, stop ?? -1)
      unsafe gst_event_set_seqnum(event, number)
      return unsafe gst_element_send_event(reference.element, event) != 0
    }
    if isFlushing { hub.endSeek(number) }
    guard worked else {
      if hadEnded { hub.post(Message(source: "", isFromPipeline: true, content: .endOfStream)) }
      throw .notSeekable
    }
    if options.contains(.flush) { try await settle() }
  }

  /// Shows the next picture of a paused pipeline.
  ///
  /// Returns when the sinks have it. A sink whose stream has ended keeps its last picture.
  /// - Throws: `endOfStream` when there is none, `notSeekable` when no sink supports stepping, `element`, `stopped` or
  ///   `cancelled`.
  public func step() async throws(PipelineError) {
    // A sink that steps waits for its next buffer, and of an ended stream none comes.
    let sinks = reference.sinksInBin
    let waiting = sinks.filter { !$0.hasEnded }
    if waiting.isEmpty, !sinks.isEmpty { throw .endOfStream }
    // By the pipeline if it may: some bins choose the sinks that step.
    let targets = waiting.count < sinks.count ? waiting : [reference]
    let worked = await onOtherThread {
      targets.reduce(false) { worked, target in
        unsafe gst_element_send_event(target.element, gst_event_new_step(GST_FORMAT_BUFFERS, 1, 1, 1, 0)) != 0 || worked
      }
    }
    guard worked else { throw .notSeekable }
    try await settle()
    if waiting.allSatisfy(\.hasEnded), !sinks.isEmpty { throw .endOfStream }
  }
}

extension ObjectReference {
  /// The sinks in a bin and the bins in it.
  fileprivate var sinksInBin: [ObjectReference] {
    elementsInBin.filter { element in
      let flags = unsafe element.raw.assumingMemoryBound(to: GstObject.self).pointee.flags
      return unsafe flags & GST_ELEMENT_FLAG_SINK.rawValue != 0 && cgst_is_bin(element.raw) == 0
    }
  }

  /// Whether the end of the stream was sent to all pads of a sink, which has then received all buffers.
  fileprivate var hasEnded: Bool {
    let pads = sinkPads
    // The pad that sends has the event as soon as it is sent; a paused sink does not return from taking it.
    return !pads.isEmpty
      && pads.allSatisfy { pad in
        guard let peer = unsafe gst_pad_get_peer(pad.pad) else { return false }
        return PipelinePad(unsafe ObjectReference(owning: peer)).hasEnded
      }
  }
}
