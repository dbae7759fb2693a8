// SPDX-License-Identifier: MPL-2.0
import CGStreamer

extension Pipeline {
  /// Unlinks two elements: every pad of the first from its peer in the second.
  ///
  /// While data flows, a ``PipelinePad/addBlockingProbe(_:)`` in front of them keeps it back.
  /// - Throws: `notInPipeline`.
  public func unlink(_ first: PipelineElement, _ second: PipelineElement) throws(PipelineError) {
    for element in [first, second] where !contains(element) { throw .notInPipeline(element.name) }
    unsafe gst_element_unlink(first.raw, second.raw)
  }

  /// Removes an element: unlinks its pads and releases its resources. It may be added again, here or elsewhere; its
  /// signals' handlers are disconnected.
  ///
  /// Returns when its streaming threads have ended. While data flows, a ``PipelinePad/addBlockingProbe(_:)`` in front of
  /// it keeps it back.
  /// - Throws: `notInPipeline`.
  public func remove(_ element: PipelineElement) async throws(PipelineError) {
    guard contains(element),
      let parent = unsafe gst_object_get_parent(
        element.reference.raw.assumingMemoryBound(to: GstObject.self))
    else { throw .notInPipeline(element.name) }
    let bin = unsafe ObjectReference(owning: parent)
    await onOtherThread { [reference = element.reference] in
      // In this order: the bin no longer sets its state then, and an element that waits for downstream is let go.
      unsafe gst_bin_remove(bin.raw.assumingMemoryBound(to: GstBin.self), reference.element)
      unsafe gst_element_set_state(reference.element, GST_STATE_NULL)
    }
    element.reference.disconnectAll()
    if unsafe cgst_is_bin(element.reference.raw) != 0 {
      for inner in element.reference.elementsInBin { inner.disconnectAll() }
    }
  }
}
