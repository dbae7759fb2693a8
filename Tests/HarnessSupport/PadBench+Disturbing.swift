// SPDX-License-Identifier: MPL-2.0
private import CGStreamer

extension PadBench {
  /// Pushes into the source pad events that downstream may send at any time and from any thread.
  public func sendUpstreamEvents() {
    let none = GstClockTime.max
    unsafe gst_pad_push_event(sink, gst_video_event_new_upstream_force_key_unit(none, 1, 1))
    unsafe gst_pad_push_event(sink, gst_video_event_new_upstream_force_key_unit(0, 0, 2))
    unsafe gst_pad_push_event(sink, gst_event_new_reconfigure())
    unsafe gst_pad_push_event(sink, gst_event_new_latency(0))
    // Buffers are early: nothing may be dropped.
    unsafe gst_pad_push_event(sink, gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1, 0, 0))
    unsafe gst_pad_push_event(sink, gst_event_new_navigation(gst_structure_new_empty("bench")))
  }

  /// Sends seeks, which upstream refuses.
  public func sendSeeks() {
    for flags in [GST_SEEK_FLAG_FLUSH, GST_SEEK_FLAG_NONE, GST_SEEK_FLAG_KEY_UNIT] {
      unsafe gst_pad_push_event(
        sink, gst_event_new_seek(1, GST_FORMAT_TIME, flags, GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_NONE, -1))
    }
  }

  /// Sends queries to the source pad that downstream may send at any time and from any thread.
  public func queryFromDownstream() {
    unsafe ask(sink, "video/x-h264, stream-format=byte-stream, alignment=au, parsed=true")
    unsafe ask(sink, "video/x-raw, format=I420, width=320, height=180, framerate=25/1")
    let queries = unsafe [
      gst_query_new_latency(), gst_query_new_seeking(GST_FORMAT_TIME), gst_query_new_formats(),
      gst_query_new_segment(GST_FORMAT_TIME), gst_query_new_scheduling(),
    ]
    for index in unsafe queries.indices {
      unsafe gst_pad_peer_query(sink, queries[index])
      unsafe gst_query_unref(queries[index])
    }
  }

  /// Queries position, duration and conversions. GstVideoDecoder logs a critical warning before it has a segment.
  public func askForPosition() {
    var number: gint64 = 0
    for format in [GST_FORMAT_TIME, GST_FORMAT_BYTES, GST_FORMAT_DEFAULT] {
      unsafe gst_pad_peer_query_position(sink, format, &number)
      unsafe gst_pad_peer_query_duration(sink, format, &number)
      unsafe gst_pad_peer_query_convert(sink, GST_FORMAT_BYTES, 1000, format, &number)
    }
  }

  /// Sends queries to the sink pad that upstream may send at any time and from any thread.
  public func queryFromUpstream() {
    unsafe ask(source, "video/x-h264, stream-format=byte-stream, alignment=nal")
    unsafe ask(source, "video/x-h264, stream-format=avc, alignment=au")
  }

  /// Queries the source pad's caps, filtered by these.
  public func askForCaps(_ text: String) { unsafe ask(sink, text) }

  /// Sends a caps query, with and without filter, and an accept-caps query.
  @unsafe private func ask(_ pad: UnsafeMutablePointer<GstPad>, _ text: String) {
    guard let caps = unsafe gst_caps_from_string(text) else { return }
    unsafe gst_pad_peer_query_accept_caps(pad, caps)
    if let answer = unsafe gst_pad_peer_query_caps(pad, caps) { unsafe gst_caps_unref(answer) }
    if let answer = unsafe gst_pad_peer_query_caps(pad, nil) { unsafe gst_caps_unref(answer) }
    unsafe gst_caps_unref(caps)
  }

  /// Reads every property, and sets those that are writable to the value that was read.
  public func touchProperties() {
    let object = unsafe UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self)
    let type = unsafe UnsafeMutableRawPointer(element).assumingMemoryBound(to: GTypeInstance.self).pointee.g_class
    guard let type = unsafe type else { return }
    var count: guint = 0
    let properties = unsafe g_object_class_list_properties(
      UnsafeMutableRawPointer(type).assumingMemoryBound(to: GObjectClass.self), &count)
    defer { unsafe g_free(properties) }
    for index in 0..<Int(count) {
      guard let property = unsafe properties?[index], let name = unsafe property.pointee.name else { continue }
      // Properties of GstObject, not of the element.
      let text = unsafe String(cString: name)
      guard text != "name", text != "parent" else { continue }
      let flags = unsafe property.pointee.flags
      guard flags.rawValue & G_PARAM_READABLE.rawValue != 0 else { continue }
      var value = GValue()
      unsafe g_value_init(&value, property.pointee.value_type)
      unsafe g_object_get_property(object, name, &value)
      let isWritable =
        flags.rawValue & G_PARAM_WRITABLE.rawValue != 0 && flags.rawValue & G_PARAM_CONSTRUCT_ONLY.rawValue == 0
      if isWritable { unsafe g_object_set_property(object, name, &value) }
      unsafe g_value_unset(&value)
    }
  }
}
