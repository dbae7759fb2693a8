// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// A pipeline with a probe at the sink pad of its element `sink`. It is stopped when it is released.
@safe final class ProbedPipeline {
  @unsafe let raw: UnsafeMutablePointer<GstElement>

  /// - Parameters:
  ///   - description: as on a gst-launch-1.0 line, with an element `sink`.
  ///   - kinds: what the probe is called for.
  ///   - watch: its user data, which the pad keeps.
  /// - Throws: `noSuchElement`.
  @unsafe init(
    _ description: String, _ kinds: GstPadProbeType..., watch: AnyObject, probe: GstPadProbeCallback
  ) throws(Harness.Failure) {
    Harness.initialise()
    guard let raw = unsafe gst_parse_launch(DecoderIsolation.described(description), nil) else { throw .noSuchElement }
    unsafe self.raw = raw
    guard let sink = unsafe element("sink") else { throw .noSuchElement }
    defer { unsafe gst_object_unref(sink) }
    guard let pad = unsafe gst_element_get_static_pad(sink, "sink") else { throw .noSuchElement }
    defer { unsafe gst_object_unref(pad) }
    unsafe gst_pad_add_probe(
      pad, GstPadProbeType(rawValue: kinds.reduce(0) { $0 | $1.rawValue }), probe,
      Unmanaged.passRetained(watch).toOpaque(),
      { data in if let data = unsafe data { unsafe Unmanaged<AnyObject>.fromOpaque(data).release() } })
  }

  deinit {
    unsafe gst_element_set_state(raw, GST_STATE_NULL)
    unsafe gst_object_unref(raw)
  }

  /// The element of this name, with a reference that the caller releases; `nil` without one.
  @unsafe func element(_ name: String) -> UnsafeMutablePointer<GstElement>? {
    unsafe gst_bin_get_by_name(UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstBin.self), name)
  }
}
