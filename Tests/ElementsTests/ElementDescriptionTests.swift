// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import HarnessSupport
import TestSupport
import Testing

@testable import Elements

/// The elements' metadata, pads, and properties with their defaults, ranges and values.
@Suite struct ElementDescriptionTests {
  static let names = ["h264", "h265"].flatMap { codec in ["parse", "repack", "dec"].map { "swift\(codec)\($0)" } }

  /// The elements are registered without this check.
  @Test(arguments: Elements.all.map(\.name)) func declarationsAreValidForGObject(name: String) throws {
    Harness.initialise()
    let element = try #require(Elements.all.first { $0.name == name })
    #expect(throws: Never.self) { try element.type.checkDeclarations() }
  }

  @Test(arguments: names) func factoriesMatchTheRecord(_ name: String) throws {
    _ = Harness.registered
    let factory = try unsafe #require(gst_element_factory_find(name))
    defer { unsafe gst_object_unref(UnsafeMutableRawPointer(factory)) }
    var words: [String] = []
    for key in [GST_ELEMENT_METADATA_LONGNAME, GST_ELEMENT_METADATA_KLASS, GST_ELEMENT_METADATA_DESCRIPTION] {
      if let text = unsafe gst_element_factory_get_metadata(factory, key) { unsafe words.append(String(cString: text)) }
    }
    unsafe words.append("rank \(gst_plugin_feature_get_rank(factory))")
    unsafe words.append(String(cString: g_type_name(gst_element_factory_get_element_type(factory))))
    var templates = unsafe gst_element_factory_get_static_pad_templates(factory)
    while let node = unsafe templates {
      if let template = unsafe node.pointee.data?.assumingMemoryBound(to: GstStaticPadTemplate.self) {
        let caps = unsafe Caps(owning: gst_static_pad_template_get_caps(template))
        // Decoders put out every format that this version of GStreamer has.
        let text = name.hasSuffix("dec") && caps.first.name == "video/x-raw" ? "video/x-raw" : caps.description
        unsafe words.append("\(String(cString: template.pointee.name_template)): \(text)")
      }
      unsafe templates = UnsafePointer(node.pointee.next)
    }
    try RecordFile.elements.expect("factory \(name)", words)
  }

  @Test(arguments: names) func propertiesMatchTheRecord(_ name: String) throws {
    _ = Harness.registered
    let harness = try Harness(name)
    let instance = unsafe UnsafeMutableRawPointer(harness.element).assumingMemoryBound(to: GTypeInstance.self)
    let type = try unsafe #require(instance.pointee.g_class)
    var count: guint = 0
    let list = try unsafe #require(
      g_object_class_list_properties(UnsafeMutableRawPointer(type).assumingMemoryBound(to: GObjectClass.self), &count))
    defer { unsafe g_free(list) }
    for index in 0..<Int(count) {
      guard let property = unsafe list[index] else { continue }
      guard unsafe property.pointee.owner_type == type.pointee.g_type else { continue }
      let title = unsafe String(cString: property.pointee.name)
      var words = unsafe [
        String(cString: g_type_name(property.pointee.value_type)), String(cString: g_param_spec_get_blurb(property)),
        "flags \(property.pointee.flags.rawValue & 0xFF)",
      ]
      // A property of a structure has no default.
      if unsafe g_type_fundamental(property.pointee.value_type) != Self.kind(18),
        let value = unsafe g_param_spec_get_default_value(property), let text = unsafe gst_value_serialize(value)
      {
        unsafe words.append("default \(String(cString: text))")
        unsafe g_free(text)
      }
      unsafe words.append(Self.values(of: property))
      try RecordFile.elements.expect("property \(name) \(title)", words)
    }
  }

  /// The range or the values of a property.
  @unsafe private static func values(of property: UnsafeMutablePointer<GParamSpec>) -> String {
    let pointer = UnsafeMutableRawPointer(property)
    switch unsafe g_type_fundamental(property.pointee.value_type) {
    case kind(6):
      let range = unsafe pointer.assumingMemoryBound(to: GParamSpecInt.self).pointee
      return unsafe "\(range.minimum) to \(range.maximum)"
    case kind(12):
      guard let type = unsafe pointer.assumingMemoryBound(to: GParamSpecEnum.self).pointee.enum_class else { return "" }
      return unsafe (0..<Int(type.pointee.n_values)).map { index in
        let value = unsafe type.pointee.values[index]
        return unsafe "\(value.value) \(String(cString: value.value_nick)) \(String(cString: value.value_name))"
      }.joined(separator: "; ")
    case kind(13):
      let flags = unsafe pointer.assumingMemoryBound(to: GParamSpecFlags.self).pointee
      guard let type = unsafe flags.flags_class else { return "" }
      return unsafe (0..<Int(type.pointee.n_values)).map { index in
        let value = unsafe type.pointee.values[index]
        return unsafe "\(value.value) \(String(cString: value.value_nick)) \(String(cString: value.value_name))"
      }.joined(separator: "; ")
    default: return ""
    }
  }

  /// `G_TYPE_MAKE_FUNDAMENTAL`: 6 is int, 12 enum, 13 flags, 18 boxed.
  private static func kind(_ number: GType) -> GType { number << 2 }
}
