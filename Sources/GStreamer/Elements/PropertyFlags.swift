// SPDX-License-Identifier: MPL-2.0
import CGStreamer

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
