// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// One reference to a `GstObject`, released with the last value that holds it.
@safe final class ObjectReference: @unchecked Sendable {
  // Any thread may use a GstObject: it has locks of its own.
  let raw: UnsafeMutableRawPointer

  /// Takes over one reference.
  init(owning raw: UnsafeMutableRawPointer) { unsafe self.raw = raw }

  /// Adds a reference, or takes over a floating one.
  init(sinking raw: UnsafeMutableRawPointer) { unsafe self.raw = gst_object_ref_sink(raw) }

  /// Adds a reference.
  init(retaining raw: UnsafeMutableRawPointer) { unsafe self.raw = gst_object_ref(raw) }

  deinit { unsafe gst_object_unref(raw) }

  var element: UnsafeMutablePointer<GstElement> { unsafe raw.assumingMemoryBound(to: GstElement.self) }
  var pad: UnsafeMutablePointer<GstPad> { unsafe raw.assumingMemoryBound(to: GstPad.self) }
  var object: UnsafeMutablePointer<GObject> { unsafe raw.assumingMemoryBound(to: GObject.self) }

  /// The object's name, which is unique among its siblings.
  var name: String {
    guard let name = unsafe gst_object_get_name(raw.assumingMemoryBound(to: GstObject.self)) else { return "" }
    defer { unsafe g_free(name) }
    return unsafe String(cString: name)
  }

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
