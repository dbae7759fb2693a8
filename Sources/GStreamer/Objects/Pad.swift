// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// One of an element's pads, for as long as the element lives.
@safe public struct Pad {
  @unsafe let raw: UnsafeMutablePointer<GstPad>
  @unsafe init(_ raw: UnsafeMutablePointer<GstPad>) { unsafe self.raw = raw }

  /// Whether data can flow through it: from READY → PAUSED on.
  public var isActive: Bool { unsafe gst_pad_is_active(raw) != 0 }

  /// The caps that flow now.
  public var currentCaps: Caps? {
    guard let caps = unsafe gst_pad_get_current_caps(raw) else { return nil }
    return unsafe Caps(owning: caps)
  }

  /// Whether caps flow now.
  public var hasCaps: Bool { unsafe gst_pad_has_current_caps(raw) != 0 }

  /// Calls a function once, on the thread that sends it, before the next event of a kind leaves this pad.
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

  /// A probe that was put on a pad, to remove it again.
  public struct Probe: Hashable, Sendable {
    fileprivate let id: gulong
  }

  /// Lets no event of a kind leave this pad until the probe is removed, nor keeps it: who sends another in its place
  /// removes the probe first.
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

  /// The caps of its template.
  public var templateCaps: Caps { unsafe Caps(owning: gst_pad_get_pad_template_caps(raw)) }

  /// What the other side accepts at the moment, `nil` when nothing is linked.
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

  /// What the other side accepts out of everything, `nil` when nothing is linked.
  public func peerCaps() -> Caps? { peerCaps(filter: nil) }

  /// What the other side would allow between this pad's template and itself.
  public var allowedCaps: Caps? {
    guard let caps = unsafe gst_pad_get_allowed_caps(raw) else { return nil }
    return unsafe Caps(owning: caps)
  }

  /// Whether the other side accepts just these caps.
  public func peerAccepts(_ caps: borrowing Caps) -> Bool { unsafe gst_pad_peer_query_accept_caps(raw, caps.raw) != 0 }

  /// Sends caps downstream from a source pad.
  @discardableResult
  public func setCaps(_ caps: borrowing Caps) -> Bool {
    unsafe gst_pad_push_event(raw, gst_event_new_caps(caps.raw)) != 0
  }

  /// Sends an event to the other side.
  @discardableResult
  public func push(_ event: consuming Event) -> Bool { unsafe gst_pad_push_event(raw, event.take()) != 0 }

  /// Sends a buffer downstream from a source pad.
  public func push(_ buffer: consuming Buffer) throws(FlowError) {
    try unsafe FlowError.check(gst_pad_push(raw, buffer.take()))
  }

  /// Asks the other side; answers whether it answered.
  public func queryPeer(_ query: borrowing Query) -> Bool { unsafe gst_pad_peer_query(raw, query.raw) != 0 }

  /// Whether a request to negotiate anew waits; asking clears it.
  public func checkReconfigure() -> Bool { unsafe gst_pad_check_reconfigure(raw) != 0 }
  /// Whether a request to negotiate anew waits.
  public var needsReconfigure: Bool { unsafe cgst_pad_needs_reconfigure(raw) != 0 }
  /// Puts a request to negotiate anew back.
  public func markReconfigure() { unsafe gst_pad_mark_reconfigure(raw) }
  /// Caps need only intersect with what the pad takes, not be a subset of it, and are checked against the template
  /// alone: for elements that fill in missing fields themselves, such as parsers.
  public func setAcceptsIntersection() { unsafe cgst_pad_set_accepts_intersection(raw) }
  /// Caps are checked against the template alone, not against what a caps query answers: for decoders, whose answer has
  /// what downstream asks of raw video, such as a frame rate that compressed caps may leave out.
  public func setAcceptsTemplate() { unsafe cgst_pad_set_accepts_template(raw) }
  /// Whether the element pulls its data (random access) rather than being pushed to.
  public var isPulling: Bool { unsafe cgst_pad_is_pulling(raw) != 0 }
  /// Whether the pad is flushing.
  public var isFlushing: Bool { unsafe cgst_pad_is_flushing(raw) != 0 }

  /// Length of the stream in bytes as upstream knows it.
  package var peerDurationInBytes: UInt64? {
    var duration: gint64 = 0
    guard unsafe gst_pad_peer_query_duration(raw, GST_FORMAT_BYTES, &duration) != 0, duration >= 0 else { return nil }
    return UInt64(duration)
  }
}
