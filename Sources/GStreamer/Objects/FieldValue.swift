// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// The value of a property, or of a field of a structure or caps.
public enum FieldValue: Hashable, Sendable {
  /// `gint`.
  case int(Int32)
  /// `guint`.
  case uint(UInt32)
  /// `gint64`.
  case int64(Int64)
  /// `guint64`.
  case uint64(UInt64)
  /// `gboolean`.
  case boolean(Bool)
  /// `gdouble`.
  case double(Double)
  /// Text.
  case string(String)
  /// A list of strings to choose from (`GST_TYPE_LIST`).
  case strings([String])
  /// `GST_TYPE_FRACTION`.
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

// MARK: Literals

extension FieldValue: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByStringLiteral
{
  /// A `gint` where it fits, else a `gint64`.
  public init(integerLiteral value: Int64) { self = Int32(exactly: value).map(Self.int) ?? .int64(value) }
  /// A `gdouble`.
  public init(floatLiteral value: Double) { self = .double(value) }
  /// A `gboolean`.
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
  /// A string.
  public init(stringLiteral value: String) { self = .string(value) }
}

// MARK: Reading

extension FieldValue {
  /// The value of an integer of any type; `nil` for other values and for one that `Int` cannot hold.
  public var integer: Int? {
    switch self {
    case .int(let value): Int(exactly: value)
    case .uint(let value): Int(exactly: value)
    case .int64(let value): Int(exactly: value)
    case .uint64(let value): Int(exactly: value)
    default: nil
    }
  }

  /// The value of an integer or a `gdouble`; `nil` for other values.
  public var number: Double? {
    switch self {
    case .double(let value): value
    case .uint64(let value): Double(value)
    default: integer.map { Double($0) }
    }
  }

  /// The value of a string; `nil` for other values.
  public var string: String? { if case .string(let value) = self { value } else { nil } }
  /// The value of a boolean; `nil` for other values.
  public var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
  /// The value of a fraction; `nil` for other values.
  public var fraction: Fraction? { if case .fraction(let value) = self { value } else { nil } }

  /// Reads a C value. A type without a case here is read as text, or `nil` when it cannot be serialized.
  @unsafe init?(_ value: UnsafePointer<GValue>) {
    switch unsafe cgst_value_kind(value) {
    case CGST_KIND_BOOLEAN: self = unsafe .boolean(g_value_get_boolean(value) != 0)
    case CGST_KIND_INT: self = unsafe .int(g_value_get_int(value))
    case CGST_KIND_UINT: self = unsafe .uint(g_value_get_uint(value))
    case CGST_KIND_INT64:
      guard let wide = unsafe Self.transformed(value, to: CGST_KIND_INT64, { unsafe g_value_get_int64(&$0) }) else {
        return nil
      }
      self = .int64(Int64(wide))
    case CGST_KIND_UINT64:
      guard let wide = unsafe Self.transformed(value, to: CGST_KIND_UINT64, { unsafe g_value_get_uint64(&$0) }) else {
        return nil
      }
      self = .uint64(UInt64(wide))
    case CGST_KIND_DOUBLE:
      guard let wide = unsafe Self.transformed(value, to: CGST_KIND_DOUBLE, { unsafe g_value_get_double(&$0) }) else {
        return nil
      }
      self = .double(wide)
    case CGST_KIND_STRING:
      guard let text = unsafe g_value_get_string(value) else { return nil }
      self = unsafe .string(String(cString: text))
    case CGST_KIND_FRACTION:
      self = unsafe .fraction(
        Fraction(gst_value_get_fraction_numerator(value), gst_value_get_fraction_denominator(value)))
    default:
      guard let text = unsafe gst_value_serialize(value) else { return nil }
      defer { unsafe g_free(text) }
      self = unsafe .string(String(cString: text))
    }
  }

  private static func transformed<Result>(
    _ value: UnsafePointer<GValue>, to kind: CgstKind, _ read: (inout GValue) -> Result
  ) -> Result? {
    var wide = GValue()
    unsafe g_value_init(&wide, cgst_type_of_kind(kind))
    defer { unsafe g_value_unset(&wide) }
    return unsafe g_value_transform(value, &wide) != 0 ? read(&wide) : nil
  }

  /// A C value of the case's type; the caller unsets it.
  @unsafe func makeValue() -> GValue {
    var value = GValue()
    func start(_ kind: CgstKind) { unsafe g_value_init(&value, cgst_type_of_kind(kind)) }
    switch self {
    case .int(let number):
      start(CGST_KIND_INT)
      unsafe g_value_set_int(&value, number)
    case .uint(let number):
      start(CGST_KIND_UINT)
      unsafe g_value_set_uint(&value, number)
    case .int64(let number):
      start(CGST_KIND_INT64)
      unsafe g_value_set_int64(&value, numericCast(number))
    case .uint64(let number):
      start(CGST_KIND_UINT64)
      unsafe g_value_set_uint64(&value, numericCast(number))
    case .boolean(let truth):
      start(CGST_KIND_BOOLEAN)
      unsafe g_value_set_boolean(&value, truth ? 1 : 0)
    case .double(let number):
      start(CGST_KIND_DOUBLE)
      unsafe g_value_set_double(&value, number)
    case .string(let text):
      start(CGST_KIND_STRING)
      unsafe g_value_set_string(&value, text)
    case .strings(let texts):
      start(CGST_KIND_LIST)
      for text in texts {
        var item = unsafe FieldValue.string(text).makeValue()
        unsafe gst_value_list_append_and_take_value(&value, &item)
      }
    case .fraction(let ratio):
      start(CGST_KIND_FRACTION)
      unsafe cgst_value_set_fraction(&value, ratio.numerator, ratio.denominator)
    }
    return value
  }
}
