// SPDX-License-Identifier: MPL-2.0
import CGStreamer

extension Pad {
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
