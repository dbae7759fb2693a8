// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// A GObject property of an element.
@safe public struct Property {
  let name: StaticString
  /// Describes the fault of the declaration, if any.
  let fault: () -> String?
  let makeSpecification: () -> UnsafeMutablePointer<GParamSpec>?
  let get: (Element, UnsafeMutablePointer<GValue>) -> Void
  let set: ((Element, UnsafePointer<GValue>) -> Void)?

  /// Properties for the fields of a value type.
  ///
  /// - Parameters:
  ///   - locked: the element's storage of the value.
  ///   - defaults: the initial value, with the default of each property.
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
  ///   - locked: the element's storage of the value.
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
