// SPDX-License-Identifier: MPL-2.0
import CGStreamer

extension Element {
  /// Registers this class as the element `name`, in a plugin or, with `nil`, in this process alone.
  ///
  /// - Parameters:
  ///   - name: as on a gst-launch-1.0 line.
  ///   - typeName: the GObject type's name, unique in the process.
  ///   - rank: the preference of `decodebin` and its like.
  ///   - plugin: the plugin of the element; `nil` for none. With a plugin, an error is logged as a critical warning,
  ///     too: GStreamer does not report why a plugin does not load.
  /// - Returns: `false` when this class was registered under this type name before. Threads may register the same
  ///   class at the same time.
  /// - Throws: the fault of the names, or of the class's declarations.
  @discardableResult
  public static func register(
    as name: String, typeName: String, rank: Rank = .none, in plugin: Plugin? = nil
  ) throws(RegistrationError) -> Bool {
    try register(as: name, typeName: typeName, rank: rank, in: plugin, isChecked: false)
  }

  /// The same, for a class whose tests check its declarations, so that a plugin need not check them when it is
  /// loaded.
  ///
  /// - Parameter isChecked: whether ``checkDeclarations()`` was called, and found nothing.
  @discardableResult
  package static func register(
    as name: String, typeName: String, rank: Rank, in plugin: Plugin?, isChecked: Bool
  ) throws(RegistrationError) -> Bool {
    do throws(RegistrationError) {
      // GStreamer is initialized when it loads a plugin, but perhaps not when an application calls this.
      if plugin == nil { gst_init(nil, nil) }
      return try makeType(name, typeName, rank, plugin, isChecked)
    } catch {
      if plugin != nil { unsafe cgst_log_critical("\(self): \(error)") }
      throw error
    }
  }

  private static func makeType(
    _ name: String, _ typeName: String, _ rank: Rank, _ plugin: Plugin?, _ isChecked: Bool
  ) throws(RegistrationError) -> Bool {
    let result: Result<Bool, RegistrationError> = registration.withLock { registered in
      if registered[typeName] == ObjectIdentifier(self) { return .success(false) }
      do throws(RegistrationError) {
        guard ObjectName.isElement(name) else { throw .invalidElementName(name) }
        guard ObjectName.isType(typeName) else { throw .invalidTypeName(typeName) }
        guard unsafe g_type_from_name(typeName) == 0 else { throw .typeNameTaken(typeName) }
        if !isChecked { try checkDeclarations() }
        let type = ElementRecord(self).registerType(named: typeName)
        guard unsafe gst_element_register(plugin?.raw, name, rank.rawValue, type) != 0 else { throw .refused(name) }
        registered[typeName] = ObjectIdentifier(self)
        return .success(true)
      } catch { return .failure(error) }
    }
    return try result.get()
  }
}

/// The classes that were registered, by their type names. Held from the check that a type name is free until the
/// element is registered: a thread that finds the class registered may use the element immediately.
private let registration = Locked<[String: ObjectIdentifier]>([:])

/// The Swift side of an element's GType, for `class_init` and `instance_init`; never freed, as GTypes are not.
@safe final class ElementRecord {
  let type: Element.Type
  let properties: [Property]
  let instanceSize: Int
  let uriHandler: URIHandler?
  let uriProtocols: UnsafeMutablePointer<UnsafePointer<CChar>?>?

  init(_ type: Element.Type) {
    self.type = type
    properties = type.properties
    uriHandler = type.uriHandler
    unsafe uriProtocols = uriHandler?.makeList()
    instanceSize = type.parentType.instanceSize
  }

  static let quark = unsafe g_quark_from_static_string("gst-swift-element-record")

  /// The record of a type, or of the type that an application has derived it from.
  static func of(_ type: GType) -> ElementRecord? {
    var type = type
    while type != 0 {
      if let record = unsafe g_type_get_qdata(type, quark) {
        return unsafe Unmanaged<ElementRecord>.fromOpaque(record).takeUnretainedValue()
      }
      type = g_type_parent(type)
    }
    return nil
  }

  static func of(_ instance: UnsafeRawPointer) -> ElementRecord? {
    unsafe of(instance.load(as: UnsafePointer<GTypeClass>.self).pointee.g_type)
  }

  func registerType(named typeName: String) -> GType {
    let parent = type.parentType.type
    var query = unsafe GTypeQuery()
    unsafe g_type_query(parent, &query)
    var info = unsafe GTypeInfo()
    unsafe info.class_size = guint16(query.class_size)
    unsafe info.instance_size = guint16(instanceSize + MemoryLayout<UnsafeRawPointer>.size)
    let opaque = unsafe Unmanaged.passRetained(self).toOpaque()
    unsafe info.class_data = UnsafeRawPointer(opaque)
    unsafe info.class_init = { classStructure, data in
      guard let classStructure = unsafe classStructure, let data = unsafe data else { return }
      unsafe Unmanaged<ElementRecord>.fromOpaque(data).takeUnretainedValue().initialise(classStructure)
    }
    unsafe info.instance_init = { instance, classStructure in
      guard let instance = unsafe instance, let classStructure = unsafe classStructure else { return }
      let type = unsafe classStructure.assumingMemoryBound(to: GTypeClass.self).pointee.g_type
      guard let record = ElementRecord.of(type) else { return }
      let raw = UnsafeMutableRawPointer(instance)
      let object = unsafe record.type.init(raw: raw)
      unsafe raw.storeBytes(
        of: Unmanaged.passRetained(object).toOpaque(), toByteOffset: record.instanceSize,
        as: UnsafeMutableRawPointer.self)
    }
    let registered = unsafe g_type_register_static(parent, typeName, &info, GTypeFlags(rawValue: 0))
    unsafe g_type_set_qdata(registered, Self.quark, opaque)
    addURIHandler(to: registered)
    return registered
  }

  private func initialise(_ classStructure: UnsafeMutableRawPointer) {
    let elementClass = unsafe classStructure.assumingMemoryBound(to: GstElementClass.self)
    let metadata = type.metadata
    unsafe gst_element_class_set_metadata(
      elementClass, metadata.name, metadata.classification, metadata.description, metadata.author)
    for template in type.padTemplates {
      guard let caps = Caps(parsing: template.caps) else { continue }
      let presence =
        switch template.presence {
        case .always: GST_PAD_ALWAYS
        case .sometimes: GST_PAD_SOMETIMES
        case .request: GST_PAD_REQUEST
        }
      unsafe gst_element_class_add_pad_template(
        elementClass, gst_pad_template_new(template.name, template.direction.raw, presence, caps.raw))
    }
    unsafe elementClass.pointee.request_new_pad = { raw, template, name, _ in
      guard let raw = unsafe raw, let template = unsafe template, let record = unsafe ElementRecord.of(raw),
        let pattern = unsafe template.pointee.name_template
      else { return nil }
      let element = unsafe swiftObject(
        UnsafeMutableRawPointer(raw), behind: record.instanceSize, as: Element.self)
      return unsafe element.requestPad(
        template: String(cString: pattern), named: name.map { unsafe String(cString: $0) })?.raw
    }
    unsafe elementClass.pointee.release_pad = { raw, pad in
      guard let raw = unsafe raw, let pad = unsafe pad, let record = unsafe ElementRecord.of(raw) else { return }
      unsafe swiftObject(UnsafeMutableRawPointer(raw), behind: record.instanceSize, as: Element.self)
        .releasePad(Pad(retaining: pad))
    }
    let ownType = unsafe classStructure.assumingMemoryBound(to: GTypeClass.self).pointee.g_type
    for signal in type.signals { signal.install(in: ownType) }

    let objectClass = unsafe classStructure.assumingMemoryBound(to: GObjectClass.self)
    unsafe objectClass.pointee.set_property = { object, id, value, _ in
      guard let object = unsafe object, let value = unsafe value, let record = unsafe ElementRecord.of(object),
        record.properties.indices.contains(Int(id) - 1)
      else { return }
      let element = unsafe swiftObject(object, behind: record.instanceSize, as: Element.self)
      unsafe record.properties[Int(id) - 1].set?(element, value)
    }
    unsafe objectClass.pointee.get_property = { object, id, value, _ in
      guard let object = unsafe object, let value = unsafe value, let record = unsafe ElementRecord.of(object),
        record.properties.indices.contains(Int(id) - 1)
      else { return }
      let element = unsafe swiftObject(object, behind: record.instanceSize, as: Element.self)
      unsafe record.properties[Int(id) - 1].get(element, value)
    }
    unsafe objectClass.pointee.finalize = { object in
      guard let object = unsafe object, let record = unsafe ElementRecord.of(object) else { return }
      let pointer = unsafe UnsafeRawPointer(object).load(fromByteOffset: record.instanceSize, as: UnsafeRawPointer.self)
      unsafe Unmanaged<Element>.fromOpaque(pointer).release()
      let parent = unsafe g_type_class_peek(record.type.parentType.type)
      unsafe parent?.assumingMemoryBound(to: GObjectClass.self).pointee.finalize(object)
    }
    // No lock is held while chaining up: activating a pad in pull mode can wait for other threads.
    unsafe elementClass.pointee.change_state = { raw, transition in
      guard let raw = unsafe raw, let record = unsafe ElementRecord.of(raw),
        let parent = unsafe g_type_class_peek(record.type.parentType.type)
      else { return GST_STATE_CHANGE_FAILURE }
      if transition == GST_STATE_CHANGE_READY_TO_PAUSED {
        unsafe swiftObject(UnsafeMutableRawPointer(raw), behind: record.instanceSize, as: Element.self)
          .prepareToStream()
      }
      if transition == GST_STATE_CHANGE_PAUSED_TO_READY {
        unsafe swiftObject(UnsafeMutableRawPointer(raw), behind: record.instanceSize, as: Element.self)
          .interruptStream()
      }
      let result = unsafe parent.assumingMemoryBound(to: GstElementClass.self).pointee.change_state(raw, transition)
      if transition == GST_STATE_CHANGE_PAUSED_TO_READY {
        unsafe swiftObject(UnsafeMutableRawPointer(raw), behind: record.instanceSize, as: Element.self)
          .cleanUpAfterStream()
      }
      return result
    }
    for (index, property) in properties.enumerated() {
      unsafe g_object_class_install_property(objectClass, guint(index + 1), property.makeSpecification())
    }
    unsafe type.installVirtualMethods(in: classStructure)
  }
}

/// The preference of autopluggers for an element (`GstRank`).
public struct Rank: RawRepresentable, Hashable, Sendable {
  /// Autopluggers choose the highest.
  public let rawValue: UInt32
  /// A rank of this value.
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  /// Never chosen automatically.
  public static var none: Self { Self(rawValue: 0) }
  /// Chosen when there is no other.
  public static var marginal: Self { Self(rawValue: 64) }
  /// Chosen when there is no primary element.
  public static var secondary: Self { Self(rawValue: 128) }
  /// Chosen first.
  public static var primary: Self { Self(rawValue: 256) }
}
