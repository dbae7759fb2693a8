// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// A property for one field of a value type: name, field, range of values, and the description in `gst-inspect-1.0`.
@safe public struct Setting<Values> {
  let name: StaticString
  /// Describes the fault of the declaration with these defaults, if any.
  let fault: (Values) -> String?
  let makeSpecification: (Values, GParamFlags) -> UnsafeMutablePointer<GParamSpec>?
  let get: (Values, UnsafeMutablePointer<GValue>) -> Void
  let set: (inout Values, UnsafePointer<GValue>) -> Void

  /// Returns the reason a value cannot be taken; nil if it can.
  private(set) var refusal: (UnsafePointer<GValue>) -> String? = { _ in nil }

  /// A change takes effect while the element plays.
  private(set) var isMutableWhilePlaying = true

  /// The same property, documented to take effect only when it is set in the READY state or below
  /// (`GST_PARAM_MUTABLE_READY`), or with what the element opens next.
  public func mutableInReady() -> Self {
    var setting = self
    setting.isMutableWhilePlaying = false
    return setting
  }

  /// A property of any type: its specification with the default, and the conversion to and from a `GValue`. The field
  /// is unchanged when `read` returns `nil`.
  private init<Value>(
    _ name: StaticString, _ field: WritableKeyPath<Values, Value>,
    fault: @escaping (Value) -> String? = { _ in nil },
    _ makeSpecification: @escaping (Value, GParamFlags) -> UnsafeMutablePointer<GParamSpec>?,
    write: @escaping (UnsafeMutablePointer<GValue>, Value) -> Void,
    read: @escaping (UnsafePointer<GValue>) -> Value?
  ) {
    self.name = name
    self.fault = { defaults in fault(defaults[keyPath: field]) }
    unsafe self.makeSpecification = { defaults, access in unsafe makeSpecification(defaults[keyPath: field], access) }
    unsafe get = { values, value in unsafe write(value, values[keyPath: field]) }
    unsafe set = { values, value in if let new = unsafe read(value) { values[keyPath: field] = new } }
  }

  /// Describes the fault of a default for a range.
  private static func fault<Number: Comparable>(_ value: Number, _ range: ClosedRange<Number>) -> String? {
    range.contains(value) ? nil : "the default \(value) is not in \(range.lowerBound)...\(range.upperBound)"
  }

  /// A whole number (`gint`), of a field that is an `Int32`.
  public static func int(
    _ name: StaticString, _ field: WritableKeyPath<Values, Int32>, in range: ClosedRange<Int32>,
    _ summary: StaticString
  ) -> Self {
    unsafe Self(
      name, field, fault: { fault($0, range) },
      {
        unsafe g_param_spec_int(
          name.cString, name.cString, summary.cString, range.lowerBound, range.upperBound, $0, $1)
      }, write: { unsafe g_value_set_int($0, $1) }, read: { unsafe g_value_get_int($0) })
  }

  /// A whole number from 0 (`guint`), of a field that is a `UInt32`.
  public static func uint(
    _ name: StaticString, _ field: WritableKeyPath<Values, UInt32>, in range: ClosedRange<UInt32>,
    _ summary: StaticString
  ) -> Self {
    unsafe Self(
      name, field, fault: { fault($0, range) },
      {
        unsafe g_param_spec_uint(
          name.cString, name.cString, summary.cString, range.lowerBound, range.upperBound, $0, $1)
      }, write: { unsafe g_value_set_uint($0, $1) }, read: { unsafe g_value_get_uint($0) })
  }

  /// A whole number of 64 bits (`gint64`), of a field that is an `Int64`.
  public static func int64(
    _ name: StaticString, _ field: WritableKeyPath<Values, Int64>, in range: ClosedRange<Int64>,
    _ summary: StaticString
  ) -> Self {
    unsafe Self(
      name, field, fault: { fault($0, range) },
      {
        unsafe g_param_spec_int64(
          name.cString, name.cString, summary.cString, gint64(range.lowerBound), gint64(range.upperBound), gint64($0),
          $1)
      }, write: { unsafe g_value_set_int64($0, gint64($1)) }, read: { unsafe Int64(g_value_get_int64($0)) })
  }

  /// A whole number of 64 bits from 0 (`guint64`), of a field that is a `UInt64`.
  public static func uint64(
    _ name: StaticString, _ field: WritableKeyPath<Values, UInt64>, in range: ClosedRange<UInt64>,
    _ summary: StaticString
  ) -> Self {
    unsafe Self(
      name, field, fault: { fault($0, range) },
      {
        unsafe g_param_spec_uint64(
          name.cString, name.cString, summary.cString, guint64(range.lowerBound), guint64(range.upperBound),
          guint64($0), $1)
      }, write: { unsafe g_value_set_uint64($0, guint64($1)) }, read: { unsafe UInt64(g_value_get_uint64($0)) })
  }

  /// A floating-point number (`gdouble`).
  public static func double(
    _ name: StaticString, _ field: WritableKeyPath<Values, Double>, in range: ClosedRange<Double>,
    _ summary: StaticString
  ) -> Self {
    unsafe Self(
      name, field, fault: { fault($0, range) },
      {
        unsafe g_param_spec_double(
          name.cString, name.cString, summary.cString, range.lowerBound, range.upperBound, $0, $1)
      }, write: { unsafe g_value_set_double($0, $1) }, read: { unsafe g_value_get_double($0) })
  }

  /// A string (`gchararray`); NULL is read as "".
  public static func string(
    _ name: StaticString, _ field: WritableKeyPath<Values, String>, _ summary: StaticString
  ) -> Self {
    unsafe Self(
      name, field, { unsafe g_param_spec_string(name.cString, name.cString, summary.cString, $0, $1) },
      write: { unsafe g_value_set_string($0, $1) },
      read: { unsafe g_value_get_string($0).map { unsafe String(cString: $0) } ?? "" })
  }

  /// A string (`gchararray`) that stands for a value of another type; NULL is read as "". A string that cannot be read
  /// is refused with a warning (`g_warning`), and the value before stays.
  ///
  /// - Parameters:
  ///   - name: the property's name.
  ///   - field: the storage of the value.
  ///   - text: the string of a value.
  ///   - read: the value of a string, or why it has none.
  ///   - summary: the description in `gst-inspect-1.0`.
  public static func text<Value, Refusal: Error & CustomStringConvertible>(
    _ name: StaticString, _ field: WritableKeyPath<Values, Value>, _ text: @escaping (Value) -> String,
    read: @escaping (String) -> Result<Value, Refusal>, _ summary: StaticString
  ) -> Self {
    func result(_ value: UnsafePointer<GValue>) -> Result<Value, Refusal> {
      read(unsafe g_value_get_string(value).map { unsafe String(cString: $0) } ?? "")
    }
    var setting = unsafe Self(
      name, field, { unsafe g_param_spec_string(name.cString, name.cString, summary.cString, text($0), $1) },
      write: { unsafe g_value_set_string($0, text($1)) },
      read: { if case .success(let new) = unsafe result($0) { new } else { nil } })
    unsafe setting.refusal = {
      if case .failure(let refusal) = unsafe result($0) { refusal.description } else { nil }
    }
    return setting
  }

  /// A boolean (`gboolean`).
  public static func boolean(
    _ name: StaticString, _ field: WritableKeyPath<Values, Bool>, _ summary: StaticString
  ) -> Self {
    unsafe Self(
      name, field, { unsafe g_param_spec_boolean(name.cString, name.cString, summary.cString, $0 ? 1 : 0, $1) },
      write: { unsafe g_value_set_boolean($0, $1 ? 1 : 0) }, read: { unsafe g_value_get_boolean($0) != 0 })
  }

  /// A ratio (`GST_TYPE_FRACTION`) from `0/1` to `2147483647/1`; `0/1` usually means unknown.
  public static func fraction(
    _ name: StaticString, _ field: WritableKeyPath<Values, Fraction>, _ summary: StaticString
  ) -> Self {
    unsafe Self(
      name, field,
      fault: { $0.numerator >= 0 && $0.denominator > 0 ? nil : "the default is not in 0/1...2147483647/1" },
      {
        unsafe gst_param_spec_fraction(
          name.cString, name.cString, summary.cString, 0, 1, .max, 1, $0.numerator, $0.denominator, $1)
      }, write: { unsafe cgst_value_set_fraction($0, $1.numerator, $1.denominator) },
      read: { unsafe Fraction(gst_value_get_fraction_numerator($0), gst_value_get_fraction_denominator($0)) })
  }

  /// One of several cases (a GEnum).
  public static func enumeration<Case: PropertyEnumeration>(
    _ name: StaticString, _ field: WritableKeyPath<Values, Case>, _ summary: StaticString
  ) -> Self {
    unsafe Self(
      name, field,
      fault: {
        Case.allCases.contains { [value = $0.rawValue] in $0.rawValue == value }
          ? nil : "the default is not one of the cases"
      },
      {
        unsafe g_param_spec_enum(
          name.cString, name.cString, summary.cString, Case.registeredType, $0.rawValue, $1)
      }, write: { unsafe g_value_set_enum($0, $1.rawValue) }, read: { unsafe Case(rawValue: g_value_get_enum($0)) })
  }

  /// A set of several choices (a GFlags).
  public static func flags<Choices: PropertyFlags>(
    _ name: StaticString, _ field: WritableKeyPath<Values, Choices>, _ summary: StaticString
  ) -> Self {
    unsafe Self(
      name, field,
      fault: { Choices(Choices.nicks.map(\.0)).isSuperset(of: $0) ? nil : "the default has a flag without a name" },
      {
        unsafe g_param_spec_flags(
          name.cString, name.cString, summary.cString, Choices.registeredType, $0.rawValue, $1)
      }, write: { unsafe g_value_set_flags($0, $1.rawValue) }, read: { unsafe Choices(rawValue: g_value_get_flags($0)) }
    )
  }
}
