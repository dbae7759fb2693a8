// SPDX-License-Identifier: MPL-2.0
import CGStreamer
public import Synchronization

/// A value behind a lock, for application threads to set and streaming threads to read.
public final class Locked<Value: Sendable>: Sendable {
  // Inlinable, so that it is specialised for each element's value: the lock is taken for each buffer.
  @usableFromInline let mutex: Mutex<Value>

  /// A lock with this initial value.
  @inlinable public init(_ value: Value) { mutex = Mutex(value) }

  /// A copy of the current value: take one for each buffer and use it throughout.
  @inlinable public var snapshot: Value { mutex.withLock { $0 } }

  /// Calls a function with the value, under the lock.
  @inlinable public func withLock<Result: Sendable>(_ body: (inout sending Value) -> sending Result) -> sending Result {
    mutex.withLock(body)
  }
}

/// A GObject property of an element.
@safe public struct Property {
  let name: StaticString
  /// What is wrong with the declaration, if anything.
  let fault: () -> String?
  let makeSpecification: () -> UnsafeMutablePointer<GParamSpec>?
  let get: (Element, UnsafeMutablePointer<GValue>) -> Void
  let set: ((Element, UnsafePointer<GValue>) -> Void)?

  /// Properties for the fields of a value type.
  ///
  /// - Parameters:
  ///   - locked: where the element keeps the value.
  ///   - defaults: the initial value, which has the default of each property.
  ///   - settings: name, field, range and description of each.
  public static func settings<Owner: Element, Values: Sendable>(
    _ locked: @escaping (Owner) -> Locked<Values>, defaults: Values, _ settings: [Setting<Values>]
  ) -> [Property] {
    settings.map { setting in
      unsafe Property(
        name: setting.name, fault: { setting.fault(defaults) },
        makeSpecification: {
          unsafe setting.makeSpecification(defaults, cgst_param_flags(setting.isMutableWhilePlaying ? 1 : 0))
        },
        get: { element, value in
          unsafe setting.get(locked(unsafeDowncast(element, to: Owner.self)).snapshot, value)
        },
        set: { element, value in
          // Before the lock is taken: a handler of the warning may read the property.
          if let refusal = unsafe setting.refusal(value) {
            return unsafe cgst_log_warning("\(element.name): \(setting.name) stays as it was: \(refusal)")
          }
          unsafe locked(unsafeDowncast(element, to: Owner.self)).withLock { unsafe setting.set(&$0, value) }
        })
    }
  }

  /// Read-only properties for the fields of a value type, such as the element's counters.
  ///
  /// - Parameters:
  ///   - locked: where the element keeps the value.
  ///   - defaults: the initial value.
  ///   - readings: name, field, range and description of each.
  public static func readOnly<Owner: Element, Values: Sendable>(
    _ locked: @escaping (Owner) -> Locked<Values>, defaults: Values, _ readings: [Setting<Values>]
  ) -> [Property] {
    readings.map { reading in
      unsafe Property(
        name: reading.name, fault: { reading.fault(defaults) },
        makeSpecification: { unsafe reading.makeSpecification(defaults, cgst_param_flags_read_only()) },
        get: { element, value in
          unsafe reading.get(locked(unsafeDowncast(element, to: Owner.self)).snapshot, value)
        }, set: nil)
    }
  }

  /// A read-only property of a structure, made when it is read.
  public static func structure<Owner: Element>(
    _ name: StaticString, _ summary: StaticString, read: @escaping (Owner) -> Structure
  ) -> Property {
    unsafe Property(
      name: name, fault: { nil },
      makeSpecification: {
        unsafe g_param_spec_boxed(
          name.cString, name.cString, summary.cString, cgst_type_structure(), cgst_param_flags_read_only())
      },
      get: { element, value in
        unsafe cgst_value_take_structure(value, read(unsafeDowncast(element, to: Owner.self)).take())
      },
      set: nil)
  }
}

/// A property for one field of a value type: name, field, range of values, and the description in `gst-inspect-1.0`.
@safe public struct Setting<Values> {
  let name: StaticString
  /// What is wrong with the declaration and these defaults, if anything.
  let fault: (Values) -> String?
  let makeSpecification: (Values, GParamFlags) -> UnsafeMutablePointer<GParamSpec>?
  let get: (Values, UnsafeMutablePointer<GValue>) -> Void
  let set: (inout Values, UnsafePointer<GValue>) -> Void

  /// Why a value cannot be taken; nil when it can.
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

  /// What is wrong with a default for a range.
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
  ///   - field: where the value is kept.
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
          ? nil : "the default is none of the cases"
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

/// The name of a value of an enumeration or flags property.
public struct PropertyNick: Sendable {
  /// The name that users type.
  public var nick: StaticString
  /// The description in `gst-inspect-1.0`.
  public var summary: StaticString

  /// A name with its description.
  public init(_ nick: StaticString, _ summary: StaticString) {
    self.nick = nick
    self.summary = summary
  }
}

/// An enumeration that can be a property.
public protocol PropertyEnumeration: RawRepresentable<Int32>, CaseIterable, Sendable {
  /// The GType's name, unique in the process.
  static var typeName: StaticString { get }
  /// The name of this case.
  var nick: PropertyNick { get }
}

extension PropertyEnumeration {
  static var registeredType: GType {
    let existing = unsafe g_type_from_name(typeName.cString)
    guard existing == 0 else { return existing }
    let values = UnsafeMutablePointer<GEnumValue>.allocate(capacity: allCases.count + 1)
    var end = unsafe values
    for value in allCases {
      let nick = value.nick
      unsafe end.initialize(
        to: GEnumValue(value: value.rawValue, value_name: nick.summary.cString, value_nick: nick.nick.cString))
      unsafe end += 1
    }
    unsafe end.initialize(to: GEnumValue())
    return unsafe g_enum_register_static(typeName.cString, values)
  }
}

/// An option set that can be a property.
public protocol PropertyFlags: OptionSet, Sendable where Element == Self, RawValue == UInt32 {
  /// The GType's name, unique in the process.
  static var typeName: StaticString { get }
  /// The name of each single flag.
  static var nicks: [(Self, PropertyNick)] { get }
}

extension PropertyFlags {
  static var registeredType: GType {
    let existing = unsafe g_type_from_name(typeName.cString)
    guard existing == 0 else { return existing }
    let nicks = nicks
    let values = UnsafeMutablePointer<GFlagsValue>.allocate(capacity: nicks.count + 1)
    for (index, (value, nick)) in nicks.enumerated() {
      unsafe (values + index).initialize(
        to: GFlagsValue(value: value.rawValue, value_name: nick.summary.cString, value_nick: nick.nick.cString))
    }
    unsafe (values + nicks.count).initialize(to: GFlagsValue())
    return unsafe g_flags_register_static(typeName.cString, values)
  }
}
