// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import Synchronization

/// A probe on a pad: a function that gets the passing data, until the probe is removed.
///
/// It is removed with its last reference, or by ``remove()``. The pad may be gone by then.
public final class PadProbe: Sendable {
  /// The action for data that reaches a probe.
  public enum Verdict: Sendable {
    /// It passes.
    case pass
    /// It is dropped; the pad's element is answered as if it had been taken.
    case drop
  }

  private let pad: ObjectReference
  /// 0 once the probe is removed.
  private let identifier: Mutex<gulong>

  fileprivate init(_ pad: ObjectReference, _ identifier: gulong) {
    self.pad = pad
    self.identifier = Mutex(identifier)
  }

  deinit { remove() }

  /// Removes the probe: its function is not called again. A call in progress on another thread continues. Data that
  /// the probe has kept back flows again.
  public func remove() {
    let known = identifier.withLock { identifier in
      defer { identifier = 0 }
      return identifier
    }
    if known != 0 { unsafe gst_pad_remove_probe(pad.pad, known) }
  }
}

/// The user data of a probe's C function.
private final class ProbeHandler<Body: Sendable>: Sendable {
  let body: Body
  init(_ body: Body) { self.body = body }

  static func of(_ data: UnsafeMutableRawPointer) -> ProbeHandler {
    unsafe Unmanaged<ProbeHandler>.fromOpaque(data).takeUnretainedValue()
  }
}

private typealias BufferBody = @Sendable (inout Buffer) -> PadProbe.Verdict
private typealias EventBody = @Sendable (borrowing Event) -> PadProbe.Verdict
private typealias IdleBody = @Sendable () -> Void

extension PipelinePad {
  /// Calls a function that may change or drop each buffer that passes this pad, on the thread that sends it. Buffers
  /// that are sent in a list come one by one.
  ///
  /// ```swift
  /// let probe = pad.addBufferProbe { buffer in
  ///   buffer.flags.contains(.deltaUnit) ? .drop : .pass
  /// }
  /// ```
  ///
  /// - Parameter body: must not wait for the pipeline, nor hold it.
  /// - Returns: the probe, which lasts as long as it is kept.
  public func addBufferProbe(_ body: @escaping @Sendable (inout Buffer) -> PadProbe.Verdict) -> PadProbe {
    PadProbe(reference, attachBufferProbe(body))
  }

  /// As ``addBufferProbe(_:)``, as long as the pad lives.
  @discardableResult
  func attachBufferProbe(_ body: @escaping @Sendable (inout Buffer) -> PadProbe.Verdict) -> gulong {
    let handler = ProbeHandler<BufferBody>(body)
    let kinds = GST_PAD_PROBE_TYPE_BUFFER.rawValue | GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue
    return unsafe gst_pad_add_probe(
      reference.pad, GstPadProbeType(rawValue: kinds),
      { _, info, data in
        guard let info = unsafe info, let data = unsafe data, let item = unsafe info.pointee.data else {
          return GST_PAD_PROBE_OK
        }
        let body = unsafe ProbeHandler<BufferBody>.of(data).body
        if unsafe info.pointee.type.rawValue & GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue != 0 {
          return unsafe judge(list: item, info, data)
        }
        // The probe owns the reference, so that the buffer may be exchanged.
        var buffer = unsafe Buffer(owning: item.assumingMemoryBound(to: GstBuffer.self))
        let verdict = body(&buffer)
        unsafe info.pointee.data = UnsafeMutableRawPointer(buffer.take())
        return verdict == .pass ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP
      }, Unmanaged.passRetained(handler).toOpaque(), { unsafe release($0) })
  }

  /// Calls a function that may drop each event that passes this pad, on the thread that sends it; flushes come on
  /// any.
  ///
  /// Other elements may rely on events: without its segment or its end, a stream does not flow or does not end.
  /// - Parameters:
  ///   - isDownstream: whether it gets the events that go downstream, or the events that go upstream.
  ///   - body: must not wait for the pipeline, nor hold it.
  /// - Returns: the probe, which lasts as long as it is kept.
  public func addEventProbe(
    isDownstream: Bool = true, _ body: @escaping @Sendable (borrowing Event) -> PadProbe.Verdict
  ) -> PadProbe {
    let handler = ProbeHandler<EventBody>(body)
    let kinds =
      isDownstream
      ? GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM.rawValue | GST_PAD_PROBE_TYPE_EVENT_FLUSH.rawValue
      : GST_PAD_PROBE_TYPE_EVENT_UPSTREAM.rawValue
    let identifier = unsafe gst_pad_add_probe(
      reference.pad, GstPadProbeType(rawValue: kinds),
      { _, info, data in
        guard let info = unsafe info, let data = unsafe data, let event = unsafe gst_pad_probe_info_get_event(info)
        else { return GST_PAD_PROBE_OK }
        let body = unsafe ProbeHandler<EventBody>.of(data).body
        let verdict = unsafe Event.lending(event) { body($0) }
        return verdict == .pass ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP
      }, Unmanaged.passRetained(handler).toOpaque(), { unsafe release($0) })
    return PadProbe(reference, identifier)
  }

  /// Keeps data back at this source pad until the probe is removed, so that the elements behind it can be unlinked
  /// and exchanged while the pipeline plays.
  ///
  /// A pad whose element waits for downstream, as in a paused pipeline, does not become idle before that returns.
  /// - Parameter body: is called once, when nothing passes the pad any more. If nothing does now, it is called
  ///   immediately, on this thread.
  /// - Returns: the probe, which keeps data back as long as it is kept.
  public func addBlockingProbe(_ body: @escaping @Sendable () -> Void) -> PadProbe {
    let isKnown = Locked(false)
    let handler = ProbeHandler<IdleBody> {
      let isFirst = isKnown.withLock { isKnown in
        defer { isKnown = true }
        return !isKnown
      }
      if isFirst { body() }
    }
    // A probe of idle pads alone lets data pass once its function has returned.
    let kinds = GST_PAD_PROBE_TYPE_IDLE.rawValue | GST_PAD_PROBE_TYPE_BLOCK_DOWNSTREAM.rawValue
    let identifier = unsafe gst_pad_add_probe(
      reference.pad, GstPadProbeType(rawValue: kinds),
      { _, _, data in
        if let data = unsafe data { unsafe ProbeHandler<IdleBody>.of(data).body() }
        return GST_PAD_PROBE_OK
      }, Unmanaged.passRetained(handler).toOpaque(), { unsafe release($0) })
    return PadProbe(reference, identifier)
  }
}

/// Has a probe's function judge each buffer of a list; a list of which nothing is left is dropped.
private func judge(
  list: UnsafeMutableRawPointer, _ info: UnsafeMutablePointer<GstPadProbeInfo>, _ data: UnsafeMutableRawPointer
) -> GstPadProbeReturn {
  guard
    let own = unsafe gst_mini_object_make_writable(list.assumingMemoryBound(to: GstMiniObject.self))
  else { return GST_PAD_PROBE_DROP }
  let buffers = OpaquePointer(own)
  unsafe info.pointee.data = UnsafeMutableRawPointer(own)
  unsafe gst_buffer_list_foreach(
    buffers,
    { slot, _, data in
      guard let slot = unsafe slot, let raw = unsafe slot.pointee, let data = unsafe data else { return 1 }
      var buffer = unsafe Buffer(owning: raw)
      if unsafe ProbeHandler<BufferBody>.of(data).body(&buffer) == .pass {
        unsafe slot.pointee = buffer.take()
      } else {
        unsafe slot.pointee = nil
      }
      return 1
    }, data)
  return unsafe gst_buffer_list_length(buffers) == 0 ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK
}

private func release(_ data: UnsafeMutableRawPointer?) {
  if let data = unsafe data { unsafe Unmanaged<AnyObject>.fromOpaque(data).release() }
}
