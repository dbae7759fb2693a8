// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// One of an element's pads (`GstPad`).
///
/// A pad that ``Element/pad(_:)``, ``Element/addPad(template:named:_:)`` or `requestPad` returns holds a reference.
/// Another thread may release it at any time, and its pushes then throw ``FlowError/flushing``. The pads of a base
/// class (`sinkPad`, `sourcePad`) hold none and are valid as long as the element lives.
@safe public struct Pad: @unchecked Sendable {
  // Any thread may use a GstPad: it has locks of its own.
  /// The C object.
  @unsafe public let raw: UnsafeMutablePointer<GstPad>
  /// `nil` for a pad that its element keeps: those are used for every buffer, and counting references takes time.
  private let owner: ObjectReference?

  /// A pad that outlives the value, as the caller guarantees.
  @unsafe package init(lent raw: UnsafeMutablePointer<GstPad>) { unsafe (self.raw, owner) = (raw, nil) }

  /// A pad that the value takes over one reference to.
  @unsafe init(owning raw: UnsafeMutablePointer<GstPad>) {
    unsafe (self.raw, owner) = (raw, ObjectReference(owning: raw))
  }

  /// A pad that the value adds a reference to.
  @unsafe public init(retaining raw: UnsafeMutablePointer<GstPad>) {
    unsafe (self.raw, owner) = (raw, ObjectReference(retaining: raw))
  }

  /// The direction of a pad (`GstPadDirection`).
  public enum Direction: Sendable {
    /// Receives data.
    case sink
    /// Sends data.
    case source

    init(_ direction: GstPadDirection) { self = direction == GST_PAD_SINK ? .sink : .source }
    var raw: GstPadDirection { self == .sink ? GST_PAD_SINK : GST_PAD_SRC }
  }

  /// Whether data can flow through it: in PAUSED and PLAYING.
  public var isActive: Bool { unsafe gst_pad_is_active(raw) != 0 }

  /// The caps of the data that flows now, `nil` before the first caps event.
  public var currentCaps: Caps? {
    guard let caps = unsafe gst_pad_get_current_caps(raw) else { return nil }
    return unsafe Caps(owning: caps)
  }

  /// Whether the pad has current caps.
  public var hasCaps: Bool { unsafe gst_pad_has_current_caps(raw) != 0 }

  /// Calls a function once, before the next event of a kind leaves this source pad (flushes excepted), on the thread
  /// that sends it.
  public func before(_ kind: Event.Kind, _ body: @escaping () -> Void) {
    let notification = unsafe Unmanaged.passRetained(Notification(kind, body))
    unsafe gst_pad_add_probe(
      raw, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      { _, info, data in
        guard let data = unsafe data, let event = unsafe gst_pad_probe_info_get_event(info) else {
          return GST_PAD_PROBE_OK
        }
        let notification = unsafe Unmanaged<Notification>.fromOpaque(data).takeUnretainedValue()
        guard unsafe Event.lending(event, { $0.kind == notification.kind }) else { return GST_PAD_PROBE_OK }
        notification.body()
        return GST_PAD_PROBE_REMOVE
      }, notification.toOpaque(),
      { data in if let data = unsafe data { unsafe Unmanaged<Notification>.fromOpaque(data).release() } })
  }

  /// A probe on a pad, which removes it again.
  public struct Probe: Hashable, Sendable {
    fileprivate let id: gulong
  }

  /// Drops every event of a kind (flushes excepted) that is pushed from this source pad, until the probe is removed.
  public func discard(_ kind: Event.Kind) -> Probe {
    let notification = unsafe Unmanaged.passRetained(Notification(kind) {})
    return unsafe Probe(
      id: gst_pad_add_probe(
        raw, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
        { _, info, data in
          guard let data = unsafe data, let event = unsafe gst_pad_probe_info_get_event(info) else {
            return GST_PAD_PROBE_OK
          }
          let kind = unsafe Unmanaged<Notification>.fromOpaque(data).takeUnretainedValue().kind
          return unsafe Event.lending(event, { $0.kind == kind }) ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK
        }, notification.toOpaque(),
        { data in if let data = unsafe data { unsafe Unmanaged<Notification>.fromOpaque(data).release() } }))
  }

  /// Removes a probe from this pad.
  public func remove(_ probe: Probe) { unsafe gst_pad_remove_probe(raw, probe.id) }

  private final class Notification {
    let kind: Event.Kind
    let body: () -> Void
    init(_ kind: Event.Kind, _ body: @escaping () -> Void) { (self.kind, self.body) = (kind, body) }
  }

  /// The caps of the pad's template.
  public var templateCaps: Caps { unsafe Caps(owning: gst_pad_get_pad_template_caps(raw)) }

  /// Answers a caps query of a pad with fixed caps (`gst_pad_use_fixed_caps`) with its current caps. Returns false for
  /// other pads and queries, and before there are caps.
  ///
  /// So does GStreamer, but without a reference to the caps that it filters (1.22, 1.26): when data flow changes them
  /// meanwhile, they are freed while they are read.
  package func answerWithFixedCaps(_ query: borrowing Query) -> Bool {
    guard query.kind == .caps, unsafe raw.pointee.object.flags & GST_PAD_FLAG_FIXED_CAPS.rawValue != 0,
      let caps = currentCaps
    else { return false }
    switch query.capsFilter {
    case .some(let filter): query.setCapsResult(filter.intersection(caps))
    case .none: query.setCapsResult(caps)
    }
    return true
  }

  /// The caps that the peer can handle now, in the order of the filter if any; `nil` when the pad is not linked.
  public func peerCaps(filter: borrowing Caps?) -> Caps? {
    guard unsafe gst_pad_is_linked(raw) != 0 else { return nil }
    let caps =
      switch filter {
      case .some(let filter): unsafe gst_pad_peer_query_caps(raw, filter.raw)
      case .none: unsafe gst_pad_peer_query_caps(raw, nil)
      }
    guard let caps = unsafe caps else { return nil }
    return unsafe Caps(owning: caps)
  }

  /// The caps that the peer can handle now; `nil` when the pad is not linked.
  public func peerCaps() -> Caps? { peerCaps(filter: nil) }

  /// The caps that both this pad and its peer can handle; `nil` when the pad is not linked.
  public var allowedCaps: Caps? {
    guard let caps = unsafe gst_pad_get_allowed_caps(raw) else { return nil }
    return unsafe Caps(owning: caps)
  }

  /// Sends a caps event downstream from a source pad; returns whether downstream accepted it.
  @discardableResult
  public func setCaps(_ caps: borrowing Caps) -> Bool {
    unsafe gst_pad_push_event(raw, gst_event_new_caps(caps.raw)) != 0
  }

  /// Sends an event to the peer; returns whether it was handled.
  @discardableResult
  public func push(_ event: consuming Event) -> Bool { unsafe gst_pad_push_event(raw, event.take()) != 0 }

  /// Sends a buffer downstream from a source pad. Throws what downstream returns.
  public func push(_ buffer: consuming Buffer) throws(FlowError) {
    try unsafe FlowError.check(gst_pad_push(raw, buffer.take()))
  }

  /// Sends a query to the peer; returns whether it was answered.
  public func queryPeer(_ query: borrowing Query) -> Bool { unsafe gst_pad_peer_query(raw, query.raw) != 0 }

  /// Whether downstream has asked for renegotiation since the last call.
  public func checkReconfigure() -> Bool { unsafe gst_pad_check_reconfigure(raw) != 0 }
  /// Whether downstream has asked for renegotiation; leaves the request in place.
  public var needsReconfigure: Bool { unsafe cgst_pad_needs_reconfigure(raw) != 0 }
  /// Accepts caps that only intersect with the pad's, and compares them with the template's alone. This is for
  /// elements that add missing fields themselves, such as parsers.
  public func setAcceptsIntersection() { unsafe cgst_pad_set_accepts_intersection(raw) }
  /// Buffers without bytes are dropped, in front of an adapter that would give their times to the bytes after them.
  package func skipEmptyBuffers() { unsafe cgst_pad_skip_empty_buffers(raw) }
  /// Compares caps with the template's alone, not with the answer to a caps query. This is for decoders, whose answer
  /// includes restrictions of downstream, such as a frame rate, that encoded caps may lack.
  public func setAcceptsTemplate() { unsafe cgst_pad_set_accepts_template(raw) }
  /// Whether the pad is in pull mode (random access) rather than push mode.
  public var isPulling: Bool { unsafe cgst_pad_is_pulling(raw) != 0 }
  /// Whether the pad is flushing.
  public var isFlushing: Bool { unsafe cgst_pad_is_flushing(raw) != 0 }

  /// The length of the stream in bytes, if upstream reports it.
  package var peerDurationInBytes: UInt64? {
    var duration: gint64 = 0
    guard unsafe gst_pad_peer_query_duration(raw, GST_FORMAT_BYTES, &duration) != 0, duration >= 0 else { return nil }
    return UInt64(duration)
  }

  /// Whether upstream can be read at any place at no great cost: false if that means a download.
  package var peerHasRandomAccess: Bool {
    let query = unsafe Query(owning: gst_query_new_scheduling())
    guard queryPeer(query) else { return false }
    var flags = GstSchedulingFlags(rawValue: 0)
    unsafe gst_query_parse_scheduling(query.raw, &flags, nil, nil, nil)
    let costly = GST_SCHEDULING_FLAG_SEQUENTIAL.rawValue | GST_SCHEDULING_FLAG_BANDWIDTH_LIMITED.rawValue
    return unsafe gst_query_has_scheduling_mode(query.raw, GST_PAD_MODE_PULL) != 0
      && flags.rawValue & (GST_SCHEDULING_FLAG_SEEKABLE.rawValue | costly) == GST_SCHEDULING_FLAG_SEEKABLE.rawValue
  }

  /// Pulls bytes from upstream through a sink pad in pull mode: fewer than `count` at the end of the stream, where
  /// ``FlowError/endOfStream`` is thrown when there are none.
  public func pull(_ count: Int, at offset: UInt64) throws(FlowError) -> Buffer {
    var buffer: UnsafeMutablePointer<GstBuffer>?
    try unsafe FlowError.check(gst_pad_pull_range(raw, guint64(offset), guint(clamping: max(count, 0)), &buffer))
    guard let buffer = unsafe buffer else { throw .error }
    return unsafe Buffer(owning: buffer)
  }
}
