// SPDX-License-Identifier: MPL-2.0
import CGStreamer

extension Element {
  /// Checks what the class declares: GObject would log the fault and continue without it.
  package static func checkDeclarations() throws(RegistrationError) {
    try checkTemplates()
    if let fault = uriHandler?.fault { throw .uriProtocol(fault.name, reason: fault.reason) }
    guard let base = unsafe g_type_class_ref(parentType.type) else { return }
    defer { unsafe g_type_class_unref(base) }
    try unsafe checkProperties(beside: base.assumingMemoryBound(to: GObjectClass.self))
    try checkSignals()
  }

  private static func checkTemplates() throws(RegistrationError) {
    var names: Set<String> = []
    for template in padTemplates {
      func refuse(_ reason: String) -> RegistrationError { .padTemplate(template.name, reason: reason) }
      guard names.insert(template.name).inserted else { throw refuse("this name is used twice") }
      guard Caps(parsing: template.caps) != nil else { throw refuse("“\(template.caps)” is not valid caps") }
      let places = template.name.split(separator: "%", omittingEmptySubsequences: false).dropFirst()
      guard places.allSatisfy({ $0.first.map("dsu".contains) ?? false }) else {
        throw refuse("a % must be followed by u, d or s")
      }
      if template.presence == .always, !places.isEmpty {
        throw refuse("the pad is always present, so its name must not contain %")
      }
    }
    for name in requiredTemplates where !names.contains(name) {
      throw .padTemplate(name, reason: "it is missing, and the base class needs it")
    }
  }

  @unsafe private static func checkProperties(
    beside base: UnsafeMutablePointer<GObjectClass>
  ) throws(RegistrationError) {
    var names: Set<String> = []
    for property in properties {
      let name = "\(property.name)"
      func refuse(_ reason: String) -> RegistrationError { .property(name, reason: reason) }
      guard isObjectName(name) else {
        throw refuse("a name must begin with a letter and contain only letters, digits and hyphens")
      }
      guard names.insert(canonical(name)).inserted else { throw refuse("this name is used twice") }
      guard unsafe g_object_class_find_property(base, name) == nil else {
        throw refuse("the base class already has this name")
      }
      if let reason = property.fault() { throw refuse(reason) }
    }
  }

  private static func checkSignals() throws(RegistrationError) {
    var names: Set<String> = []
    for signal in signals {
      func refuse(_ reason: String) -> RegistrationError { .signal(signal.name, reason: reason) }
      guard isObjectName(signal.name) else {
        throw refuse("a name must begin with a letter and contain only letters, digits and hyphens")
      }
      guard names.insert(canonical(signal.name)).inserted else { throw refuse("this name is used twice") }
      guard unsafe g_signal_lookup(signal.name, parentType.type) == 0 else {
        throw refuse("the base class already has this name")
      }
    }
  }

  /// Whether GObject takes the name of a property or a signal.
  private static func isObjectName(_ name: String) -> Bool {
    guard let first = name.utf8.first, isLetter(first) else { return false }
    return name.utf8.allSatisfy { isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
  }

  /// Whether the description of a pipeline can have the name of an element.
  static func isElementName(_ name: String) -> Bool {
    guard let first = name.utf8.first, isLetter(first) || isDigit(first) else { return false }
    return name.utf8.allSatisfy { isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
  }

  /// Whether GObject takes the name of a type.
  static func isTypeName(_ name: String) -> Bool {
    guard name.utf8.count >= 3, let first = name.utf8.first else { return false }
    let signs = Array("-_+".utf8)
    return (isLetter(first) || first == UInt8(ascii: "_"))
      && name.utf8.allSatisfy { isLetter($0) || isDigit($0) || signs.contains($0) }
  }

  /// GObject takes a hyphen and an underscore in a name for the same.
  private static func canonical(_ name: String) -> String {
    String(decoding: name.utf8.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : $0 }, as: UTF8.self)
  }

  private static func isLetter(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 }
  private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }
}
