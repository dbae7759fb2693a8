// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// Describes the values that a property takes, in words: type, and range or choices.
@unsafe func describeValues(of specification: UnsafeMutablePointer<GParamSpec>) -> String {
  // The specification of a property which overrides another has no range of its own.
  let specification = unsafe g_param_spec_get_redirect_target(specification) ?? specification
  let raw = UnsafeRawPointer(specification)
  let type = unsafe specification.pointee.g_type_instance.g_class.pointee.g_type
  let valueType = unsafe g_type_name(specification.pointee.value_type).map { unsafe String(cString: $0) } ?? "unknown"
  func number<Specification, Number>(
    _ kind: Specification.Type, _ least: KeyPath<Specification, Number>, _ most: KeyPath<Specification, Number>
  ) -> String {
    let limits = unsafe raw.assumingMemoryBound(to: kind)
    return unsafe "a \(valueType) from \(limits.pointee[keyPath: least]) to \(limits.pointee[keyPath: most])"
  }
  switch unsafe g_type_name(type).map({ unsafe String(cString: $0) }) {
  case "GParamInt": return unsafe number(GParamSpecInt.self, \.minimum, \.maximum)
  case "GParamUInt": return unsafe number(GParamSpecUInt.self, \.minimum, \.maximum)
  case "GParamInt64": return unsafe number(GParamSpecInt64.self, \.minimum, \.maximum)
  case "GParamUInt64": return unsafe number(GParamSpecUInt64.self, \.minimum, \.maximum)
  case "GParamFloat": return unsafe number(GParamSpecFloat.self, \.minimum, \.maximum)
  case "GParamDouble": return unsafe number(GParamSpecDouble.self, \.minimum, \.maximum)
  case "GParamEnum":
    guard let choices = unsafe raw.assumingMemoryBound(to: GParamSpecEnum.self).pointee.enum_class else { break }
    let values = unsafe UnsafeBufferPointer(start: choices.pointee.values, count: Int(choices.pointee.n_values))
    return "one of " + (unsafe values.map { unsafe String(cString: $0.value_nick) }).joined(separator: ", ")
  case "GParamFlags":
    guard let choices = unsafe raw.assumingMemoryBound(to: GParamSpecFlags.self).pointee.flags_class else { break }
    let values = unsafe UnsafeBufferPointer(start: choices.pointee.values, count: Int(choices.pointee.n_values))
    return "some of " + (unsafe values.map { unsafe String(cString: $0.value_nick) }).joined(separator: "+")
  default: break
  }
  return "a \(valueType)"
}

/// The types of a signal's arguments in words, `nil` when there is no such signal.
@unsafe func signalArguments(_ signal: String, of object: UnsafeMutableRawPointer) -> String? {
  let identifier = unsafe g_signal_lookup(signal, object.load(as: UnsafePointer<GTypeClass>.self).pointee.g_type)
  guard identifier != 0 else { return nil }
  var query = unsafe GSignalQuery()
  unsafe g_signal_query(identifier, &query)
  let names = unsafe (0..<Int(query.n_params)).map { index in
    // The lowest bit, G_SIGNAL_TYPE_STATIC_SCOPE, is not part of the type.
    unsafe g_type_name(query.param_types[index] & ~1).map { unsafe String(cString: $0) } ?? "unknown"
  }
  return names.isEmpty ? "no arguments" : "(\(names.joined(separator: ", ")))"
}
