// SPDX-License-Identifier: MPL-2.0
import CGStreamer

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
