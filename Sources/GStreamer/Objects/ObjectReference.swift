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
}
