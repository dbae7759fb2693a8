// SPDX-License-Identifier: MPL-2.0
import CGStreamer

extension Element {
  /// Makes a pad from one of the element's templates and adds it.
  ///
  /// - Parameters:
  ///   - template: the template's name, such as `src_%u`.
  ///   - name: an unused name. With `nil` the template's, its `%u` replaced by the lowest unused number.
  ///   - prepare: sets the pad's functions, before the pad is active and in the element. The pad that it is given
  ///     holds no reference: only the pad's own functions may use it. Others use the returned pad.
  /// - Returns: `nil` when there is no such template, or the name is taken.
  @discardableResult
  public func addPad(template: String, named name: String? = nil, _ prepare: (Pad) -> Void = { _ in }) -> Pad? {
    let name = name ?? freeName(template)
    guard self.pad(name) == nil, let template = unsafe gst_element_get_pad_template(raw, template),
      let raw = unsafe gst_pad_new_from_template(template, name)
    else { return nil }
    // Another thread may remove the pad as soon as it is in the element.
    unsafe gst_object_ref_sink(raw)
    let pad = unsafe Pad(owning: raw)
    prepare(unsafe Pad(lent: raw))
    unsafe gst_pad_set_active(raw, 1)
    return unsafe gst_element_add_pad(self.raw, raw) != 0 ? pad : nil
  }

  /// The template's name, its `%u` or `%d` replaced by the lowest number that no pad has.
  private func freeName(_ template: String) -> String {
    guard template.hasSuffix("%u") || template.hasSuffix("%d") else { return template }
    let stem = template.dropLast(2)
    var number = 0
    while pad("\(stem)\(number)") != nil { number += 1 }
    return "\(stem)\(number)"
  }

  /// The pad of this name; `nil` when the element has none now.
  public func pad(_ name: String) -> Pad? {
    guard let pad = unsafe gst_element_get_static_pad(raw, name) else { return nil }
    return unsafe Pad(owning: pad)
  }

  /// Deactivates and removes a pad that `addPad` made.
  public func removePad(_ pad: Pad) {
    unsafe gst_pad_set_active(pad.raw, 0)
    unsafe gst_element_remove_pad(raw, pad.raw)
  }

  /// Declares that no more `sometimes` pads will be added (`gst_element_no_more_pads`).
  public func declareNoMorePads() { unsafe gst_element_no_more_pads(raw) }
}

extension Pad {
  /// Sets the function for buffers that arrive at this sink pad, called by upstream's streaming thread. For pads that
  /// `addPad` makes; the function must not own the element: `[unowned self]`.
  public func onBuffer(_ body: @escaping (consuming Buffer) throws(FlowError) -> Void) {
    let handler = PadHandler<Buffer, GstFlowReturn> { buffer in
      do throws(FlowError) {
        try body(buffer)
        return GST_FLOW_OK
      } catch {
        return GstFlowReturn(rawValue: error.rawValue)
      }
    }
    PadFunction.buffer.keep(handler, in: self)
    unsafe gst_pad_set_chain_function_full(
      raw,
      { pad, _, buffer in
        guard let pad = unsafe pad, let buffer = unsafe buffer,
          let handler = unsafe PadFunction.buffer.handler(of: pad, as: PadHandler<Buffer, GstFlowReturn>.self)
        else { return GST_FLOW_ERROR }
        return handler.body(unsafe Buffer(owning: buffer))
      }, nil, nil)
  }

  /// Sets the function for events that arrive at this pad, in place of ``passOn(_:)-(Event)``. Upstream's streaming
  /// thread calls it; for flushes and at a source pad, any thread does. It returns whether the event was handled.
  ///
  /// ```swift
  /// pad.onEvent { (event: consuming Event) in
  ///   if event.kind == .segment { … }
  ///   return pad.passOn(event)
  /// }
  /// ```
  public func onEvent(_ body: @escaping (consuming Event) -> Bool) {
    let handler = PadHandler<Event, Bool>(body)
    PadFunction.event.keep(handler, in: self)
    unsafe gst_pad_set_event_function_full(
      raw,
      { pad, _, event in
        guard let pad = unsafe pad, let event = unsafe event,
          let handler = unsafe PadFunction.event.handler(of: pad, as: PadHandler<Event, Bool>.self)
        else { return 0 }
        return handler.body(unsafe Event(owning: event)) ? 1 : 0
      }, nil, nil)
  }

  /// Sets the function for queries that arrive at this pad, in place of ``passOn(_:)-(Query)``, called by any
  /// thread. It returns whether the query was answered.
  public func onQuery(_ body: @escaping (borrowing Query) -> Bool) {
    let handler = PadQueryHandler(body)
    PadFunction.query.keep(handler, in: self)
    unsafe gst_pad_set_query_function_full(
      raw,
      { pad, _, query in
        guard let pad = unsafe pad, let query = unsafe query,
          let handler = unsafe PadFunction.query.handler(of: pad, as: PadQueryHandler.self)
        else { return 0 }
        return unsafe Query.lending(query) { handler.body($0) } ? 1 : 0
      }, nil, nil)
  }

  /// Handles an event by default: forwards it to the pads of the other side; caps only after ``setProxiesCaps()``.
  @discardableResult
  public func passOn(_ event: consuming Event) -> Bool {
    let parent = unsafe gst_object_get_parent(UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstObject.self))
    defer { if let parent = unsafe parent { unsafe gst_object_unref(parent) } }
    return unsafe gst_pad_event_default(raw, parent, event.take()) != 0
  }

  /// Answers a query by default: forwards it to the pads of the other side; caps queries are answered from the template
  /// unless ``setProxiesCaps()`` was called.
  public func passOn(_ query: borrowing Query) -> Bool {
    let parent = unsafe gst_object_get_parent(UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstObject.self))
    defer { if let parent = unsafe parent { unsafe gst_object_unref(parent) } }
    return unsafe gst_pad_query_default(raw, parent, query.raw) != 0
  }

  /// Forwards caps and caps queries to the pads of the other side: for an element that does not change the format
  /// (`GST_PAD_SET_PROXY_CAPS`).
  public func setProxiesCaps() {
    unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstObject.self).pointee.flags |=
      GST_PAD_FLAG_PROXY_CAPS.rawValue
  }

  /// The name.
  public var name: String {
    guard let name = unsafe gst_object_get_name(UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstObject.self))
    else { return "" }
    defer { unsafe g_free(name) }
    return unsafe String(cString: name)
  }

  /// Copies this pad's sticky events to a pad added later: stream start, caps, segment, tags.
  public func copyStickyEvents(to other: Pad) {
    unsafe gst_pad_sticky_events_foreach(
      raw,
      { _, event, other in
        if let event = unsafe event?.pointee, let other = unsafe other {
          unsafe gst_pad_store_sticky_event(other.assumingMemoryBound(to: GstPad.self), event)
        }
        return 1
      }, other.raw)
  }

  /// Sends several buffers downstream from a source pad, together. An element that does not take lists gets them one
  /// by one. An empty list sends nothing.
  ///
  /// Throws what downstream returns.
  public func push(_ list: consuming BufferList) throws(FlowError) {
    // Some elements look at the first buffer without a check.
    if list.isEmpty { return }
    try unsafe FlowError.check(gst_pad_push_list(raw, list.take()))
  }

  /// Sets the function for lists of buffers that arrive at this sink pad, besides ``onBuffer(_:)`` for single
  /// buffers. Without it, their buffers arrive one by one.
  ///
  /// For pads that `addPad` makes; the function must not own the element: `[unowned self]`.
  public func onBufferList(_ body: @escaping (consuming BufferList) throws(FlowError) -> Void) {
    let handler = PadHandler<BufferList, GstFlowReturn> { list in
      do throws(FlowError) {
        try body(list)
        return GST_FLOW_OK
      } catch {
        return GstFlowReturn(rawValue: error.rawValue)
      }
    }
    PadFunction.bufferList.keep(handler, in: self)
    unsafe gst_pad_set_chain_list_function_full(
      raw,
      { pad, _, list in
        guard let pad = unsafe pad, let list = unsafe list,
          let handler = unsafe PadFunction.bufferList.handler(of: pad, as: PadHandler<BufferList, GstFlowReturn>.self)
        else { return GST_FLOW_ERROR }
        return handler.body(unsafe BufferList(owning: list))
      }, nil, nil)
  }
}
