// SPDX-License-Identifier: MPL-2.0
import CGStreamer

extension PipelinePad {
  /// Sets a property, such as a muxer's `trak-timescale`.
  /// - Throws: `noSuchProperty` or `invalidValue`.
  package func set(_ property: String, _ value: FieldValue) throws(PipelineError) { try reference.set(property, value) }

  /// Sends an event to this sink pad, as its peer would.
  package func send(_ event: consuming Event) { unsafe gst_pad_send_event(reference.pad, event.take()) }

  /// Keeps back events that are sent through this pad downstream, on the thread that sends them.
  package func dropEvents(where isDropped: @escaping @Sendable (borrowing Event) -> Bool) {
    let dropping = unsafe Unmanaged.passRetained(EventDropping(isDropped))
    unsafe gst_pad_add_probe(
      reference.pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      { _, info, data in
        guard let info = unsafe info, let data = unsafe data, let event = unsafe gst_pad_probe_info_get_event(info)
        else { return GST_PAD_PROBE_OK }
        let dropping = unsafe Unmanaged<EventDropping>.fromOpaque(data).takeUnretainedValue()
        let isDropped = unsafe Event.lending(event) { dropping.isDropped($0) }
        return isDropped ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK
      }, dropping.toOpaque(),
      { data in if let data = unsafe data { unsafe Unmanaged<EventDropping>.fromOpaque(data).release() } })
  }

  /// Blocks this source pad at its next buffer; events before it pass.
  ///
  /// - Parameter whenBlocked: called on the thread that sends the buffer. It may remove the block.
  package func blockBuffers(_ whenBlocked: @escaping @Sendable () -> Void) -> Block {
    let blocking = unsafe Unmanaged.passRetained(Blocking(whenBlocked))
    let types = GST_PAD_PROBE_TYPE_BLOCK.rawValue | GST_PAD_PROBE_TYPE_BUFFER.rawValue
    let identifier = unsafe gst_pad_add_probe(
      reference.pad, GstPadProbeType(types | GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue),
      { _, _, data in
        if let data = unsafe data {
          unsafe Unmanaged<Blocking>.fromOpaque(data).takeUnretainedValue().whenBlocked()
        }
        return GST_PAD_PROBE_OK
      }, blocking.toOpaque(),
      { data in if let data = unsafe data { unsafe Unmanaged<Blocking>.fromOpaque(data).release() } })
    return Block(pad: reference, identifier: identifier)
  }

  /// Replaces a range of the file by zeros, in buffers that are pulled through this pad.
  package func zeroPulled(_ range: Range<UInt64>) {
    let zeroing = unsafe Unmanaged.passRetained(Zeroing(range))
    let types = GST_PAD_PROBE_TYPE_PULL.rawValue | GST_PAD_PROBE_TYPE_BUFFER.rawValue
    unsafe gst_pad_add_probe(
      reference.pad, GstPadProbeType(types),
      { _, info, data in
        guard let info = unsafe info, let data = unsafe data, let buffer = unsafe gst_pad_probe_info_get_buffer(info)
        else { return GST_PAD_PROBE_OK }
        let range = unsafe Unmanaged<Zeroing>.fromOpaque(data).takeUnretainedValue().range
        let start = unsafe UInt64(info.pointee.offset)
        let (end, isPastEnd) = unsafe start.addingReportingOverflow(UInt64(gst_buffer_get_size(buffer)))
        guard !isPastEnd else { return GST_PAD_PROBE_OK }
        let part = range.clamped(to: start..<end)
        guard !part.isEmpty else { return GST_PAD_PROBE_OK }
        guard let writable = unsafe cgst_buffer_make_writable(buffer) else { return GST_PAD_PROBE_OK }
        unsafe info.pointee.data = UnsafeMutableRawPointer(writable)
        unsafe gst_buffer_memset(writable, gsize(part.lowerBound - start), 0, gsize(part.count))
        return GST_PAD_PROBE_OK
      }, zeroing.toOpaque(),
      { data in if let data = unsafe data { unsafe Unmanaged<Zeroing>.fromOpaque(data).release() } })
  }

  /// A block of a source pad.
  package struct Block: Sendable {
    fileprivate let pad: ObjectReference
    fileprivate let identifier: gulong

    /// Lets the pad send again. To be called once.
    package func remove() { unsafe gst_pad_remove_probe(pad.pad, identifier) }
  }

  private final class EventDropping: Sendable {
    let isDropped: @Sendable (borrowing Event) -> Bool
    init(_ isDropped: @escaping @Sendable (borrowing Event) -> Bool) { self.isDropped = isDropped }
  }

  private final class Zeroing: Sendable {
    let range: Range<UInt64>
    init(_ range: Range<UInt64>) { self.range = range }
  }

  private final class Blocking: Sendable {
    let whenBlocked: @Sendable () -> Void
    init(_ whenBlocked: @escaping @Sendable () -> Void) { self.whenBlocked = whenBlocked }
  }
}
