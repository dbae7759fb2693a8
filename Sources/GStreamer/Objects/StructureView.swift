// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// Read access to a structure of caps, an event or a query, as long as that lives.
@safe public struct StructureView: ~Escapable {
  @unsafe let raw: UnsafePointer<GstStructure>

  @_lifetime(borrow raw)
  init(_ raw: UnsafePointer<GstStructure>) { unsafe self.raw = raw }
  @_lifetime(borrow raw)
  init(_ raw: UnsafeMutablePointer<GstStructure>) { unsafe self.raw = UnsafePointer(raw) }

  /// The name; the media type in caps.
  public var name: String { unsafe String(cString: gst_structure_get_name(raw)) }

  /// Whether there is a field of this name, of any type.
  public func has(_ field: String) -> Bool { unsafe gst_structure_has_field(raw, field) != 0 }

  /// A string field; `nil` when absent or of another type (a list, for instance).
  public func string(_ field: String) -> String? {
    guard let value = unsafe gst_structure_get_string(raw, field) else { return nil }
    return unsafe String(cString: value)
  }

  /// The strings of a string field or of a list of strings; empty when absent or of another type.
  public func strings(_ field: String) -> [String] {
    var result: [String] = []
    while let next = unsafe cgst_structure_nth_string(raw, field, guint(result.count)) {
      unsafe result.append(String(cString: next))
    }
    return result
  }

  /// The value of a field, as text for types that `FieldValue` lacks; `nil` when absent.
  public func value(_ field: String) -> FieldValue? {
    guard let value = unsafe gst_structure_get_value(raw, field) else { return nil }
    return unsafe FieldValue(value)
  }

  /// A copy of the structure in a field; `nil` when absent or of another type.
  package func fields(_ field: String) -> Fields? {
    guard unsafe gst_structure_get_field_type(raw, field) == gst_structure_get_type(),
      let value = unsafe gst_structure_get_value(raw, field)
    else { return nil }
    return unsafe Fields(copying: gst_value_get_structure(value))
  }

  /// The names of the fields, in their order.
  var fieldNames: [String] {
    unsafe (0..<max(gst_structure_n_fields(raw), 0)).compactMap { index in
      unsafe gst_structure_nth_field_name(raw, guint(index)).map { unsafe String(cString: $0) }
    }
  }

  /// The text form, as in debug logs.
  public var description: String {
    guard let text = unsafe gst_structure_to_string(raw) else { return "" }
    defer { unsafe g_free(text) }
    return unsafe String(cString: text)
  }

  /// A `gint` field, `nil` when absent or of another type.
  public func int(_ field: String) -> Int32? {
    var value: gint = 0
    return unsafe gst_structure_get_int(raw, field, &value) != 0 ? value : nil
  }

  /// A `guint64` field, `nil` when absent or of another type.
  public func uint64(_ field: String) -> UInt64? {
    var value: guint64 = 0
    return unsafe gst_structure_get_uint64(raw, field, &value) != 0 ? UInt64(value) : nil
  }

  /// A `gboolean` field, `nil` when absent or of another type.
  public func boolean(_ field: String) -> Bool? {
    var value: gboolean = 0
    return unsafe gst_structure_get_boolean(raw, field, &value) != 0 ? value != 0 : nil
  }

  /// A fraction field, `nil` when absent or of another type.
  public func fraction(_ field: String) -> Fraction? {
    var numerator: gint = 0
    var denominator: gint = 1
    guard unsafe gst_structure_get_fraction(raw, field, &numerator, &denominator) != 0 else { return nil }
    return Fraction(numerator, denominator)
  }

  /// A buffer field such as `codec_data`, with a reference of its own.
  public func buffer(_ field: String) -> Buffer? {
    guard let value = unsafe cgst_structure_get_buffer(raw, field) else { return nil }
    return unsafe Buffer.retaining(value)
  }
}
