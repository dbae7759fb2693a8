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
  /// `GST_TYPE_FRACTION`.
  case fraction(Fraction)
  /// Values to choose from (`GST_TYPE_LIST`).
  case list([FieldValue])
  /// Values that belong together, in their order (`GST_TYPE_ARRAY`).
  case array([FieldValue])
  /// Whole numbers to choose from (`GST_TYPE_INT_RANGE`).
  case intRange(ClosedRange<Int32>)
  /// Numbers to choose from (`GST_TYPE_DOUBLE_RANGE`).
  case doubleRange(ClosedRange<Double>)
  /// Fractions to choose from (`GST_TYPE_FRACTION_RANGE`).
  case fractionRange(from: Fraction, to: Fraction)

  /// A list of strings to choose from; of one, the string.
  public static func strings(_ values: [String]) -> FieldValue {
    values.count == 1 ? .string(values[0]) : .list(values.map(FieldValue.string))
  }

  func set(on structure: UnsafeMutablePointer<GstStructure>, name: String) {
    var value = unsafe makeValue()
    unsafe gst_structure_take_value(structure, name, &value)
  }
}

// MARK: Literals

extension FieldValue: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByStringLiteral
{
  /// A `gint` if it fits, else a `gint64`.
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
    case CGST_KIND_LIST:
      let isList = unsafe cgst_value_type(value) == gst_value_list_get_type()
      let count = unsafe isList ? gst_value_list_get_size(value) : gst_value_array_get_size(value)
      var items: [FieldValue] = []
      for index in 0..<count {
        guard
          let item = unsafe isList ? gst_value_list_get_value(value, index) : gst_value_array_get_value(value, index),
          let read = unsafe FieldValue(item)
        else { return nil }
        items.append(read)
      }
      self = isList ? .list(items) : .array(items)
    default:
      if let range = unsafe Self.range(value) {
        self = range
        return
      }
      guard let text = unsafe gst_value_serialize(value) else { return nil }
      defer { unsafe g_free(text) }
      self = unsafe .string(String(cString: text))
    }
  }

  /// Reads a range of numbers; `nil` for another value, and for an empty range.
  private static func range(_ value: UnsafePointer<GValue>) -> FieldValue? {
    switch unsafe cgst_value_type(value) {
    case gst_int_range_get_type():
      let (least, most) = unsafe (gst_value_get_int_range_min(value), gst_value_get_int_range_max(value))
      // Every third number, for instance, is not this range.
      guard least <= most, unsafe gst_value_get_int_range_step(value) == 1 else { return nil }
      return .intRange(least...most)
    case gst_double_range_get_type():
      let (least, most) = unsafe (gst_value_get_double_range_min(value), gst_value_get_double_range_max(value))
      return least <= most ? .doubleRange(least...most) : nil
    case gst_fraction_range_get_type():
      guard let least = unsafe gst_value_get_fraction_range_min(value),
        let most = unsafe gst_value_get_fraction_range_max(value)
      else { return nil }
      func fraction(_ value: UnsafePointer<GValue>) -> Fraction {
        unsafe Fraction(gst_value_get_fraction_numerator(value), gst_value_get_fraction_denominator(value))
      }
      return unsafe .fractionRange(from: fraction(least), to: fraction(most))
    default: return nil
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
    case .list(let items):
      start(CGST_KIND_LIST)
      for item in items {
        var item = unsafe item.makeValue()
        unsafe gst_value_list_append_and_take_value(&value, &item)
      }
    case .array(let items):
      unsafe g_value_init(&value, gst_value_array_get_type())
      for item in items {
        var item = unsafe item.makeValue()
        unsafe gst_value_array_append_and_take_value(&value, &item)
      }
    case .intRange(let range) where range.lowerBound < range.upperBound:
      unsafe g_value_init(&value, gst_int_range_get_type())
      unsafe gst_value_set_int_range(&value, range.lowerBound, range.upperBound)
    // GStreamer has no range of one number.
    case .intRange(let range): return unsafe FieldValue.int(range.lowerBound).makeValue()
    case .doubleRange(let range) where range.lowerBound < range.upperBound:
      unsafe g_value_init(&value, gst_double_range_get_type())
      unsafe gst_value_set_double_range(&value, range.lowerBound, range.upperBound)
    case .doubleRange(let range): return unsafe FieldValue.double(range.lowerBound).makeValue()
    case .fractionRange(let least, let most)
    where Int64(least.numerator) * Int64(most.denominator) < Int64(most.numerator) * Int64(least.denominator)
      && least.denominator > 0 && most.denominator > 0:
      unsafe g_value_init(&value, gst_fraction_range_get_type())
      unsafe gst_value_set_fraction_range_full(
        &value, least.numerator, least.denominator, most.numerator, most.denominator)
    case .fractionRange(let least, _): return unsafe FieldValue.fraction(least).makeValue()
    case .fraction(let ratio):
      start(CGST_KIND_FRACTION)
      unsafe cgst_value_set_fraction(&value, ratio.numerator, ratio.denominator)
    }
    return value
  }
}

/// A ratio of two 32-bit numbers, as in frame rates and pixel aspect ratios (`GST_TYPE_FRACTION`).
public struct Fraction: Hashable, Sendable {
  /// Above the line.
  public var numerator: Int32
  /// Below the line.
  public var denominator: Int32

  /// A ratio, not reduced.
  public init(_ numerator: Int32, _ denominator: Int32) {
    self.numerator = numerator
    self.denominator = denominator
  }
}
