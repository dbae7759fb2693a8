// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// A pad of an element in a pipeline.
public struct PipelinePad: Sendable {
  let reference: ObjectReference
  init(_ reference: ObjectReference) { self.reference = reference }

  /// Its name, such as `src_0`.
  public var name: String { reference.name }

  /// Whether it is a source pad.
  public var isSource: Bool { unsafe gst_pad_get_direction(reference.pad) == GST_PAD_SRC }

  /// The state of a pad's streaming thread (`GstTask`); sink pads in pull mode and source pads of sources have one.
  public enum Thread: Sendable {
    /// The pad has no thread.
    case none
    /// The thread runs.
    case running
    /// The thread is paused: for good after the end of the stream or an error.
    case paused
  }

  /// The state of the pad's streaming thread.
  public var thread: Thread {
    switch unsafe gst_pad_get_task_state(reference.pad) {
    case GST_TASK_STARTED: .running
    case GST_TASK_PAUSED: .paused
    default: .none
    }
  }

  /// The current caps, `nil` before the first.
  public var currentCaps: Caps? {
    guard let caps = unsafe gst_pad_get_current_caps(reference.pad) else { return nil }
    return unsafe Caps(owning: caps)
  }

  /// The current caps, or else all that are possible.
  public var caps: Caps { unsafe currentCaps ?? Caps(owning: gst_pad_query_caps(reference.pad, nil)) }

  /// The tags of the stream that flows here: the container's, and the stream's own, in separate lists.
  public var tags: [Tags] {
    var all: [Tags] = []
    while let event = unsafe gst_pad_get_sticky_event(reference.pad, GST_EVENT_TAG, guint(all.count)) {
      var tags: UnsafeMutablePointer<GstTagList>?
      unsafe gst_event_parse_tag(event, &tags)
      let copy = unsafe tags.flatMap { unsafe gst_tag_list_copy($0) }
      unsafe unref(event)
      all.append(unsafe Tags(copy.map { unsafe TagList(owning: $0) } ?? TagList()))
    }
    return all
  }

  /// Whether the end of the stream was sent from this source pad or has reached this sink pad.
  package var hasEnded: Bool {
    guard let event = unsafe gst_pad_get_sticky_event(reference.pad, GST_EVENT_EOS, 0) else { return false }
    unsafe unref(event)
    return true
  }

  /// The element that the pad is of; `nil` once it is gone.
  public var element: PipelineElement? {
    guard let element = unsafe gst_pad_get_parent_element(reference.pad) else { return nil }
    return PipelineElement(unsafe ObjectReference(owning: element))
  }

  /// The pad that this one is linked to.
  public var peer: PipelinePad? {
    guard let peer = unsafe gst_pad_get_peer(reference.pad) else { return nil }
    return PipelinePad(unsafe ObjectReference(owning: peer))
  }

  /// Links this source pad to a sink pad of an element in the same bin.
  /// - Throws: `PipelineError.notLinkable` when one of them is linked, their directions or caps do not fit, or they are
  ///   not in the same bin.
  public func link(to sink: PipelinePad) throws(PipelineError) {
    guard unsafe gst_pad_link(reference.pad, sink.reference.pad) == GST_PAD_LINK_OK else {
      throw .notLinkable(from: place, to: sink.place)
    }
  }

  /// Unlinks the pad from its peer, if it has one.
  ///
  /// An element that sends through an unlinked pad fails, unless it has others, as a `tee` may: see
  /// ``addBlockingProbe(_:)``.
  public func unlink() {
    guard let peer else { return }
    let (source, sink) = isSource ? (self, peer) : (peer, self)
    unsafe gst_pad_unlink(source.reference.pad, sink.reference.pad)
  }

  /// Element and pad, for messages.
  private var place: String { "\(element?.name ?? "")\(element == nil ? "" : ".")\(name)" }

  /// Links this source pad to an unlinked sink pad of an element that accepts its caps.
  ///
  /// To be called from a `pad-added` handler, before data flows.
  /// - Throws: `PipelineError.notLinkable` when there is no such pad.
  public func link(to element: PipelineElement) throws(PipelineError) {
    let target = unsafe gst_element_get_compatible_pad(element.reference.element, reference.pad, nil)
    defer { if let target = unsafe target { unsafe gst_object_unref(target) } }
    guard let target = unsafe target, unsafe gst_pad_link(reference.pad, target) == GST_PAD_LINK_OK else {
      throw .notLinkable(from: name, to: element.name)
    }
  }

  /// Answers allocation queries in place of this sink pad's element: pictures may come with padding between their rows,
  /// described by `GstVideoMeta`. Without that a decoder copies every picture. To be called before the pad is linked.
  package func acceptVideoMeta() {
    unsafe gst_pad_add_probe(
      reference.pad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM,
      { _, info, _ in
        guard let info = unsafe info, let query = unsafe gst_pad_probe_info_get_query(info),
          unsafe query.pointee.type == GST_QUERY_ALLOCATION
        else { return GST_PAD_PROBE_OK }
        unsafe gst_query_add_allocation_meta(query, gst_video_meta_api_get_type(), nil)
        return GST_PAD_PROBE_HANDLED
      }, nil, nil)
  }

  /// Replaces every segment that is sent from this source pad, on the thread that sends it.
  package func replaceSegments(_ replacement: @escaping @Sendable (Segment) -> Segment) {
    let replacing = unsafe Unmanaged.passRetained(Replacing(replacement))
    unsafe gst_pad_add_probe(
      reference.pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      { _, info, data in
        guard let info = unsafe info, let data = unsafe data, let event = unsafe gst_pad_probe_info_get_event(info),
          let segment = unsafe Event.lending(event, { $0.segment }), segment.isTime
        else { return GST_PAD_PROBE_OK }
        let replacing = unsafe Unmanaged<Replacing>.fromOpaque(data).takeUnretainedValue()
        let other = unsafe Event.segment(replacing.replacement(segment)).take()
        unsafe gst_event_set_seqnum(other, gst_event_get_seqnum(event))
        unsafe gst_event_unref(event)
        unsafe info.pointee.data = UnsafeMutableRawPointer(other)
        return GST_PAD_PROBE_OK
      }, replacing.toOpaque(),
      { data in if let data = unsafe data { unsafe Unmanaged<Replacing>.fromOpaque(data).release() } })
  }

  /// As ``addBufferProbe(_:)``, as long as the pad lives.
  package func changeBuffers(_ body: @escaping @Sendable (inout Buffer) -> PadProbe.Verdict) { attachBufferProbe(body) }

  /// The action for a buffer at a pad.
  package enum Passage: Sendable {
    /// It passes as it is.
    case pass
    /// It is dropped.
    case drop
    /// It passes with this PTS, and without a DTS.
    case retime(ClockTime)
  }

  /// Decides about each buffer that is sent through this pad, on the thread that sends it.
  ///
  /// - Parameter decision: is given the buffer's PTS and bytes; none where they cannot be mapped.
  package func decideBuffers(
    _ decision: @escaping @Sendable (_ pts: ClockTime?, _ bytes: Span<UInt8>) -> Passage
  ) {
    attachBufferProbe { buffer in
      let passage: Passage
      do throws(FlowError) {
        let map = try buffer.map()
        passage = decision(buffer.pts, map.bytes)
      } catch { return .pass }
      switch passage {
      case .pass: return .pass
      case .drop: return .drop
      case .retime(let time):
        buffer.pts = time
        buffer.dts = nil
        return .pass
      }
    }
  }

  private final class Replacing: Sendable {
    let replacement: @Sendable (Segment) -> Segment
    init(_ replacement: @escaping @Sendable (Segment) -> Segment) { self.replacement = replacement }
  }
}
