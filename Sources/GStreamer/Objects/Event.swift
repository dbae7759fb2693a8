// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// A control message that travels along a pipeline beside the data (`GstEvent`).
@safe public struct Event: ~Copyable, @unsafe MiniObject {
  /// The C object.
  @unsafe public private(set) var raw: UnsafeMutablePointer<GstEvent>

  /// Takes over one reference.
  @unsafe public init(owning raw: UnsafeMutablePointer<GstEvent>) { unsafe self.raw = raw }
  deinit { unsafe unref(raw) }

  /// Gives the reference to the caller.
  @unsafe public consuming func take() -> UnsafeMutablePointer<GstEvent> {
    let raw = unsafe raw
    discard self
    return unsafe raw
  }

  /// Another owner of the same event; it is copied when either changes it.
  public borrowing func share() -> Event { unsafe .retaining(raw) }

  /// The type of an event (`GstEventType`), as far as elements here distinguish them.
  public enum Kind: Sendable {
    /// Data in flow is discarded, and pads refuse data until the flush stops.
    case flushStart
    /// Data may flow again, after a new segment.
    case flushStop
    /// A stream begins.
    case streamStart
    /// The format of the buffers to come.
    case caps
    /// The conversion of later buffers' timestamps to running time.
    case segment
    /// The part of the stream that a segment seek asked for is over.
    case segmentDone
    /// The available streams.
    case streamCollection
    /// Downstream wants some of the streams.
    case selectStreams
    /// Tags of the stream.
    case tag
    /// No data follows.
    case endOfStream
    /// There is no data for some time.
    case gap
    /// Downstream wants another part of the stream.
    case seek
    /// Downstream wants to advance by some frames or some time.
    case step
    /// The latency that the pipeline plays with.
    case latency
    /// Downstream requests another negotiation of caps.
    case reconfigure
    /// Downstream is late, or has time to spare.
    case qualityOfService
    /// Key and pointer input of the window that shows the video.
    case navigation
    /// An event private to some elements, sent downstream, such as force-key-unit.
    case customDownstream
    /// An event private to some elements, sent upstream, such as force-key-unit.
    case customUpstream
    /// Anything else.
    case other
  }

  /// The type of the event.
  public var kind: Kind {
    switch unsafe raw.pointee.type {
    case GST_EVENT_FLUSH_START: .flushStart
    case GST_EVENT_FLUSH_STOP: .flushStop
    case GST_EVENT_STREAM_START: .streamStart
    case GST_EVENT_CAPS: .caps
    case GST_EVENT_SEGMENT: .segment
    case GST_EVENT_SEGMENT_DONE: .segmentDone
    case GST_EVENT_STREAM_COLLECTION: .streamCollection
    case GST_EVENT_SELECT_STREAMS: .selectStreams
    case GST_EVENT_TAG: .tag
    case GST_EVENT_EOS: .endOfStream
    case GST_EVENT_GAP: .gap
    case GST_EVENT_SEEK: .seek
    case GST_EVENT_STEP: .step
    case GST_EVENT_LATENCY: .latency
    case GST_EVENT_RECONFIGURE: .reconfigure
    case GST_EVENT_QOS: .qualityOfService
    case GST_EVENT_NAVIGATION: .navigation
    case GST_EVENT_CUSTOM_DOWNSTREAM: .customDownstream
    case GST_EVENT_CUSTOM_UPSTREAM: .customUpstream
    default: .other
    }
  }

  /// Whether the event keeps its order among the buffers.
  public var isSerialized: Bool { unsafe cgst_event_is_serialized(raw) != 0 }

  /// The sequence number that an event shares with its consequences, such as a seek with its flush and segment.
  public var sequenceNumber: UInt32 {
    get { unsafe gst_event_get_seqnum(raw) }
    set {
      unsafe raw = cgst_event_make_writable(raw)
      unsafe gst_event_set_seqnum(raw, newValue)
    }
  }

  /// The caps of a caps event; `nil` for other events.
  public var caps: Caps? {
    guard kind == .caps else { return nil }
    var caps: UnsafeMutablePointer<GstCaps>?
    unsafe gst_event_parse_caps(raw, &caps)
    return unsafe Caps.retaining(optional: caps)
  }

  /// The segment of a segment event; `nil` for other events.
  public var segment: Segment? {
    guard kind == .segment else { return nil }
    var segment: UnsafePointer<GstSegment>?
    unsafe gst_event_parse_segment(raw, &segment)
    return unsafe segment.map { unsafe Segment($0.pointee) }
  }

  /// Calls a function with the event's structure; returns `nil` when it has none.
  public func withStructure<Result>(_ body: (StructureView) -> Result) -> Result? {
    guard let structure = unsafe gst_event_get_structure(raw) else { return nil }
    return unsafe body(StructureView(structure))
  }

  /// A stream-start event: the first of each stream on a source pad.
  /// - Parameter identifier: the stream's id, unique, and the same whenever the stream is played.
  public static func streamStart(_ identifier: String) -> Event {
    _ = isGStreamerReady
    return unsafe Event(owning: gst_event_new_stream_start(identifier))
  }

  /// A segment event.
  public static func segment(_ segment: Segment) -> Event {
    _ = isGStreamerReady
    var copy = unsafe segment.raw
    return unsafe Event(owning: gst_event_new_segment(&copy))
  }

  /// A caps event.
  public static func caps(_ caps: borrowing Caps) -> Event { unsafe Event(owning: gst_event_new_caps(caps.raw)) }

  /// A tag event.
  public static func tags(_ tags: consuming TagList) -> Event { unsafe Event(owning: gst_event_new_tag(tags.take())) }

  /// A gap event: no data for some time, so that downstream does not wait for it.
  public static func gap(at start: ClockTime, duration: ClockTime?) -> Event {
    _ = isGStreamerReady
    return unsafe Event(owning: gst_event_new_gap(GstClockTime(start.nanoseconds), GstClockTime(duration.raw)))
  }

  /// A flush-start event.
  public static func flushStart() -> Event {
    _ = isGStreamerReady
    return unsafe Event(owning: gst_event_new_flush_start())
  }

  /// A flush-stop event.
  /// - Parameter resetsTime: whether running time restarts at 0.
  public static func flushStop(resetsTime: Bool = true) -> Event {
    _ = isGStreamerReady
    return unsafe Event(owning: gst_event_new_flush_stop(resetsTime ? 1 : 0))
  }

  /// An end-of-stream event.
  public static func endOfStream() -> Event {
    _ = isGStreamerReady
    return unsafe Event(owning: gst_event_new_eos())
  }

  /// Requests renegotiation from upstream.
  public static func reconfigure() -> Event {
    _ = isGStreamerReady
    return unsafe Event(owning: gst_event_new_reconfigure())
  }
}

extension Event: @unchecked Sendable {}
