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
      guard ObjectName.isMember(name) else {
        throw refuse("a name must begin with a letter and contain only letters, digits and hyphens")
      }
      guard names.insert(ObjectName.canonical(name)).inserted else { throw refuse("this name is used twice") }
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
      guard ObjectName.isMember(signal.name) else {
        throw refuse("a name must begin with a letter and contain only letters, digits and hyphens")
      }
      guard names.insert(ObjectName.canonical(signal.name)).inserted else { throw refuse("this name is used twice") }
      guard unsafe g_signal_lookup(signal.name, parentType.type) == 0 else {
        throw refuse("the base class already has this name")
      }
    }
  }
}
