// SPDX-License-Identifier: MPL-2.0
import CGStreamer

extension ObjectReference {
  /// The elements in a bin and in the bins in it.
  var elementsInBin: [ObjectReference] {
    unsafe Self.objects(in: gst_bin_iterate_recurse(raw.assumingMemoryBound(to: GstBin.self)))
  }

  /// The sink pads of an element.
  var sinkPads: [ObjectReference] { unsafe Self.objects(in: gst_element_iterate_sink_pads(element)) }

  /// The objects of an iterator; frees the iterator.
  private static func objects(in iterator: UnsafeMutablePointer<GstIterator>?) -> [ObjectReference] {
    guard let iterator = unsafe iterator else { return [] }
    defer { unsafe gst_iterator_free(iterator) }
    var objects: [ObjectReference] = []
    while true {
      var item = GValue()
      defer { unsafe cgst_value_clear(&item) }
      switch unsafe gst_iterator_next(iterator, &item) {
      case GST_ITERATOR_OK:
        if let object = unsafe g_value_get_object(&item) { objects.append(unsafe ObjectReference(retaining: object)) }
      case GST_ITERATOR_RESYNC:
        objects = []
        unsafe gst_iterator_resync(iterator)
      default: return objects
      }
    }
  }
}
