// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// Functions in front of a pad's own, as GstValidate's monitors put them there.
public enum WrappedPads {
  private static let chain = unsafe g_quark_from_static_string("wrapped-chain")
  private static let event = unsafe g_quark_from_static_string("wrapped-event")
  private static let query = unsafe g_quark_from_static_string("wrapped-query")

  /// Wraps chain, event and query function of all pads that an element has.
  @unsafe public static func wrap(padsOf element: UnsafeMutablePointer<GstElement>) {
    for name in ["sink", "src"] {
      guard let pad = unsafe gst_element_get_static_pad(element, name) else { continue }
      unsafe wrap(pad)
      unsafe gst_object_unref(pad)
    }
  }

  /// Wraps the functions of a pad. Their user data is lost.
  @unsafe public static func wrap(_ pad: UnsafeMutablePointer<GstPad>) {
    if let function = unsafe pad.pointee.chainfunc {
      unsafe keep(unsafeBitCast(function, to: UnsafeMutableRawPointer.self), as: chain, of: pad)
      unsafe gst_pad_set_chain_function_full(
        pad,
        { pad, parent, buffer in
          guard let pad = unsafe pad, let kept = unsafe WrappedPads.kept(WrappedPads.chain, of: pad) else {
            return GST_FLOW_ERROR
          }
          let function = unsafe unsafeBitCast(
            kept,
            to: (@convention(c) (
              UnsafeMutablePointer<GstPad>?, UnsafeMutablePointer<GstObject>?, UnsafeMutablePointer<GstBuffer>?
            ) -> GstFlowReturn).self)
          return unsafe function(pad, parent, buffer)
        }, nil, nil)
    }
    if let function = unsafe pad.pointee.eventfunc {
      unsafe keep(unsafeBitCast(function, to: UnsafeMutableRawPointer.self), as: event, of: pad)
      unsafe gst_pad_set_event_function_full(
        pad,
        { pad, parent, event in
          guard let pad = unsafe pad, let kept = unsafe WrappedPads.kept(WrappedPads.event, of: pad) else { return 0 }
          let function = unsafe unsafeBitCast(
            kept,
            to: (@convention(c) (
              UnsafeMutablePointer<GstPad>?, UnsafeMutablePointer<GstObject>?, UnsafeMutablePointer<GstEvent>?
            ) -> gboolean).self)
          return unsafe function(pad, parent, event)
        }, nil, nil)
    }
    if let function = unsafe pad.pointee.queryfunc {
      unsafe keep(unsafeBitCast(function, to: UnsafeMutableRawPointer.self), as: query, of: pad)
      unsafe gst_pad_set_query_function_full(
        pad,
        { pad, parent, query in
          guard let pad = unsafe pad, let kept = unsafe WrappedPads.kept(WrappedPads.query, of: pad) else { return 0 }
          let function = unsafe unsafeBitCast(
            kept,
            to: (@convention(c) (
              UnsafeMutablePointer<GstPad>?, UnsafeMutablePointer<GstObject>?, UnsafeMutablePointer<GstQuery>?
            ) -> gboolean).self)
          return unsafe function(pad, parent, query)
        }, nil, nil)
    }
  }

  @unsafe private static func keep(
    _ function: UnsafeMutableRawPointer, as quark: GQuark, of pad: UnsafeMutablePointer<GstPad>
  ) {
    unsafe g_object_set_qdata(UnsafeMutableRawPointer(pad).assumingMemoryBound(to: GObject.self), quark, function)
  }

  @unsafe private static func kept(
    _ quark: GQuark, of pad: UnsafeMutablePointer<GstPad>
  ) -> UnsafeMutableRawPointer? {
    unsafe g_object_get_qdata(UnsafeMutableRawPointer(pad).assumingMemoryBound(to: GObject.self), quark)
  }
}
