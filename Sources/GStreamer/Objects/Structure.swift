// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// A value of a field of a structure or caps.
public enum FieldValue: Hashable, Sendable {
  case int(Int32)
  case uint(UInt32)
  case int64(Int64)
  case uint64(UInt64)
  case boolean(Bool)
  case double(Double)
  case string(String)
  /// A choice of several strings.
  case strings([String])
  case fraction(Fraction)

  func set(on structure: UnsafeMutablePointer<GstStructure>, name: String) {
    switch self {
    case .int(let value): unsafe cgst_structure_set_int(structure, name, value)
    case .uint(let value): unsafe cgst_structure_set_uint(structure, name, value)
    case .int64(let value): unsafe cgst_structure_set_int64(structure, name, Int(value))
    case .uint64(let value): unsafe cgst_structure_set_uint64(structure, name, UInt(value))
    case .boolean(let value): unsafe cgst_structure_set_boolean(structure, name, value ? 1 : 0)
    case .double(let value): unsafe cgst_structure_set_double(structure, name, value)
    case .string(let value): unsafe cgst_structure_set_string(structure, name, value)
    case .strings(let values):
      let copies = unsafe values.map { unsafe UnsafePointer(g_strdup($0)) }
      unsafe copies.withUnsafeBufferPointer {
        unsafe cgst_structure_set_strings(structure, name, $0.baseAddress, guint($0.count))
      }
      for index in unsafe copies.indices { unsafe g_free(UnsafeMutableRawPointer(mutating: copies[index])) }
    case .fraction(let value):
      unsafe cgst_structure_set_fraction(structure, name, value.numerator, value.denominator)
    }
  }
}

/// A named set of fields (`GstStructure`) with one owner.
@safe public struct Structure: ~Copyable {
  @unsafe let raw: UnsafeMutablePointer<GstStructure>

  @unsafe init(owning raw: UnsafeMutablePointer<GstStructure>) { unsafe self.raw = raw }
  deinit { unsafe gst_structure_free(raw) }

  @unsafe consuming func take() -> UnsafeMutablePointer<GstStructure> {
    let raw = unsafe raw
    discard self
    return unsafe raw
  }

  /// An empty structure of this name: letters, digits and `/-_.:+`, beginning with a letter.
  public init(_ name: String) { unsafe self.init(owning: gst_structure_new_empty(name)) }

  /// Sets a field, new or not.
  public mutating func set(_ name: String, _ value: FieldValue) { unsafe value.set(on: raw, name: name) }

  /// Sets a field to a structure (which is copied).
  public mutating func set(_ name: String, _ value: borrowing Structure) {
    unsafe cgst_structure_set_structure(raw, name, value.raw)
  }

  /// The structure for reading.
  public var view: StructureView {
    @_lifetime(borrow self) get { unsafe overrideLifetime(StructureView(raw), borrowing: self) }
  }
}

/// Read access to a structure that lives in caps, an event or a query, for as long as that does.
@safe public struct StructureView: ~Escapable {
  @unsafe let raw: UnsafePointer<GstStructure>

  @_lifetime(borrow raw)
  init(_ raw: UnsafePointer<GstStructure>) { unsafe self.raw = raw }
  @_lifetime(borrow raw)
  init(_ raw: UnsafeMutablePointer<GstStructure>) { unsafe self.raw = UnsafePointer(raw) }

  /// The name; the media type in caps.
  public var name: String { unsafe String(cString: gst_structure_get_name(raw)) }

  /// Whether there is such a field, of whatever type.
  public func has(_ field: String) -> Bool { unsafe gst_structure_has_field(raw, field) != 0 }

  /// A string field, `nil` when absent or of another type (a list, for instance).
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

  public func int(_ field: String) -> Int32? {
    var value: gint = 0
    return unsafe gst_structure_get_int(raw, field, &value) != 0 ? value : nil
  }

  public func uint64(_ field: String) -> UInt64? {
    var value: guint64 = 0
    return unsafe gst_structure_get_uint64(raw, field, &value) != 0 ? UInt64(value) : nil
  }

  public func boolean(_ field: String) -> Bool? {
    var value: gboolean = 0
    return unsafe gst_structure_get_boolean(raw, field, &value) != 0 ? value != 0 : nil
  }

  public func fraction(_ field: String) -> Fraction? {
    var numerator: gint = 0
    var denominator: gint = 1
    guard unsafe gst_structure_get_fraction(raw, field, &numerator, &denominator) != 0 else { return nil }
    return Fraction(numerator, denominator)
  }

  /// A buffer field such as `codec_data`, as another owner of the same buffer.
  public func buffer(_ field: String) -> Buffer? {
    guard let value = unsafe cgst_structure_get_buffer(raw, field) else { return nil }
    return unsafe Buffer.retaining(value)
  }
}
