// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// An element of any kind, as applications use it: made by name, with properties and signals.
///
/// A copy refers to the same element. (`Element` is the base class of elements written in Swift.)
@safe public struct PipelineElement: Sendable {
  let reference: ObjectReference
  init(_ reference: ObjectReference) { self.reference = reference }

  /// Makes an element.
  ///
  /// - Parameters:
  ///   - kind: its factory name, as on a gst-launch-1.0 line, such as `videotestsrc`.
  ///   - name: its name in the pipeline; by default GStreamer numbers elements of a kind.
  ///   - properties: values for properties. A string serves for every type with a text form, such as enumerations and
  ///     caps.
  /// - Throws: `noSuchElement` when it is not installed, `noSuchProperty`, `notWritable` or `invalidValue`.
  public init(
    _ kind: String, name: String? = nil, _ properties: KeyValuePairs<String, FieldValue> = [:]
  ) throws(PipelineError) {
    Runtime.initialise()
    guard let raw = unsafe gst_element_factory_make(kind, name) else { throw .noSuchElement(kind) }
    self.init(unsafe ObjectReference(sinking: raw))
    for (property, value) in properties { try set(property, value) }
  }

  /// The C object, for what this module does not do; it lives as long as the element does.
  @unsafe public var raw: UnsafeMutablePointer<GstElement> { unsafe reference.element }

  /// The name in the pipeline.
  public var name: String { reference.name }

  /// The factory name, such as `videotestsrc`; `bin` for a bin made from a description.
  public var kind: String { unsafe Self.kind(of: raw) }

  @unsafe static func kind(of element: UnsafeMutablePointer<GstElement>) -> String {
    guard let factory = unsafe gst_element_get_factory(element),
      let name = unsafe gst_object_get_name(UnsafeMutableRawPointer(factory).assumingMemoryBound(to: GstObject.self))
    else { return "" }
    defer { unsafe g_free(name) }
    return unsafe String(cString: name)
  }

  /// The current state.
  public var state: Pipeline.State {
    var current = GST_STATE_NULL
    unsafe gst_element_get_state(raw, &current, nil, 0)
    return Pipeline.State(current)
  }

  // MARK: Properties

  /// Sets a property.
  ///
  /// - Parameters:
  ///   - property: its name; `sink_0::alpha` for a property of a pad, or of an element in a bin.
  ///   - value: a number in the property's type and range; a string for every type with a text form, such as
  ///     enumerations, flags, caps and structures.
  /// - Throws: `noSuchProperty`, `notWritable`, or `invalidValue` when the value has another type or is out of range.
  public func set(_ property: String, _ value: FieldValue) throws(PipelineError) {
    try reference.set(property, value)
  }

  /// Sets a caps property, such as an appsink's.
  /// - Throws: `noSuchProperty`, `notWritable` or `invalidValue`.
  public func set(_ property: String, _ caps: borrowing Caps) throws(PipelineError) {
    try set(property, .string(caps.description))
  }

  /// Reads a property, named as for ``set(_:_:)-(String,FieldValue)``. Types that `FieldValue` lacks are read as text,
  /// an enumeration by its nick.
  /// - Throws: `noSuchProperty`, or `notReadable`, also for a value without a text form.
  public func get(_ property: String) throws(PipelineError) -> FieldValue { try reference.get(property) }

  /// Reads a property of type structure, such as an element's statistics; `nil` when it is NULL.
  /// - Throws: `noSuchProperty`.
  public func fields(_ property: String) throws(PipelineError) -> Fields? {
    guard let specification = unsafe cgst_find_property(reference.raw, property),
      unsafe specification.pointee.value_type == cgst_type_structure()
    else { throw .noSuchProperty(element: name, property: property) }
    var value = GValue()
    unsafe g_value_init(&value, specification.pointee.value_type)
    defer { unsafe g_value_unset(&value) }
    unsafe g_object_get_property(reference.object, property, &value)
    return unsafe Fields(copying: gst_value_get_structure(&value))
  }

  // MARK: Signals and pads

  /// Calls a handler whenever the element emits a signal, on the emitting thread, until the pipeline is freed.
  ///
  /// A handler must not hold the pipeline strongly. Its result is used for signals with a return value.
  /// - Parameters:
  ///   - signal: its name, or `notify::` and a property's name.
  ///   - handler: what to call, with the signal's arguments.
  /// - Throws: `noSuchSignal`.
  @discardableResult
  public func connect(
    _ signal: String, _ handler: @escaping @Sendable (borrowing SignalArguments) -> FieldValue?
  ) throws(PipelineError) -> SignalConnection { try reference.connect(signal, handler) }

  /// Emits a signal; an action signal, such as `splitmuxsink`'s `split-now`, makes the element act.
  /// - Returns: the return value of the signal; `nil` without one that `FieldValue` can hold.
  /// - Throws: `noSuchSignal`, or `invalidArguments` when their number or a type does not fit.
  @discardableResult
  public func emit(_ signal: String, _ arguments: FieldValue...) throws(PipelineError) -> FieldValue? {
    var answer: FieldValue?
    guard unsafe emitSignal(signal, of: reference.raw, arguments, read: { unsafe answer = FieldValue($0) }) else {
      guard let expected = unsafe signalArguments(signal, of: reference.raw) else {
        throw .noSuchSignal(element: name, signal: signal)
      }
      throw .invalidArguments(element: name, signal: signal, expected: expected)
    }
    return answer
  }

  /// Calls a handler when the element adds a pad, before data flows through it: the time to link it.
  @discardableResult
  public func onPadAdded(_ handler: @escaping @Sendable (PipelinePad) -> Void) throws(PipelineError) -> SignalConnection
  {
    try connect("pad-added") { arguments in
      if let pad = arguments.pad(0) { handler(pad) }
      return nil
    }
  }

  /// Whether a sink pad template of the element intersects these caps.
  public func canTake(_ caps: borrowing Caps) -> Bool {
    guard let factory = unsafe gst_element_get_factory(raw) else { return false }
    return unsafe gst_element_factory_can_sink_any_caps(factory, caps.raw) != 0
  }

  /// Requests a pad of a template, such as a mixer's `sink_%u`; `nil` when the element refuses.
  ///
  /// The pad exists until `releasePad`, or as long as the element. `Pipeline.link` and `PipelinePad.link(to:)` request
  /// pads themselves.
  /// - Parameters:
  ///   - template: the template's name.
  ///   - name: the pad's name; `nil` lets the element choose it.
  public func requestPad(_ template: String, named name: String? = nil) -> PipelinePad? {
    guard let template = unsafe gst_element_get_pad_template(raw, template),
      unsafe template.pointee.presence == GST_PAD_REQUEST,
      let pad = unsafe gst_element_request_pad(raw, template, name, nil)
    else { return nil }
    return unsafe PipelinePad(ObjectReference(owning: pad))
  }

  /// Releases a requested pad.
  public func releasePad(_ pad: PipelinePad) { unsafe gst_element_release_request_pad(raw, pad.reference.pad) }

  /// The element's pad of this name; `nil` when there is none now.
  public func pad(_ name: String) -> PipelinePad? {
    guard let pad = unsafe gst_element_get_static_pad(raw, name) else { return nil }
    return unsafe PipelinePad(ObjectReference(owning: pad))
  }
}

extension ObjectReference {
  /// The child, such as a pad, whose property a name with `::` means, and the property's own name.
  private func child(of property: String) -> (child: ObjectReference, property: String)? {
    guard property.utf8.contains(UInt8(ascii: ":")),
      unsafe g_type_is_a(
        raw.load(as: UnsafePointer<GTypeClass>.self).pointee.g_type, gst_child_proxy_get_type()) != 0
    else { return nil }
    var child: UnsafeMutablePointer<GObject>?
    var specification: UnsafeMutablePointer<GParamSpec>?
    guard unsafe gst_child_proxy_lookup(OpaquePointer(raw), property, &child, &specification) != 0,
      let child = unsafe child, let name = unsafe specification?.pointee.name
    else { return nil }
    return unsafe (ObjectReference(owning: child), String(cString: name))
  }

  /// Reads a property of an element or a pad.
  fileprivate func get(_ property: String) throws(PipelineError) -> FieldValue {
    if let (child, property) = child(of: property) { return try child.get(property) }
    guard let specification = unsafe cgst_find_property(raw, property) else {
      throw .noSuchProperty(element: name, property: property)
    }
    guard unsafe specification.pointee.flags.rawValue & G_PARAM_READABLE.rawValue != 0 else {
      throw .notReadable(element: name, property: property)
    }
    var value = GValue()
    unsafe g_value_init(&value, specification.pointee.value_type)
    defer { unsafe g_value_unset(&value) }
    unsafe g_object_get_property(object, property, &value)
    guard let result = unsafe FieldValue(&value) else { throw .notReadable(element: name, property: property) }
    return result
  }

  /// Sets a property of an element or a pad.
  func set(_ property: String, _ value: FieldValue) throws(PipelineError) {
    if let (child, property) = child(of: property) { return try child.set(property, value) }
    guard let specification = unsafe cgst_find_property(raw, property) else {
      throw .noSuchProperty(element: name, property: property)
    }
    guard unsafe specification.pointee.flags.rawValue & G_PARAM_WRITABLE.rawValue != 0 else {
      throw .notWritable(element: name, property: property)
    }
    var converted = GValue()
    unsafe g_value_init(&converted, specification.pointee.value_type)
    defer { unsafe g_value_unset(&converted) }
    guard value.convert(into: &converted), unsafe g_param_value_validate(specification, &converted) == 0 else {
      throw .invalidValue(
        element: name, property: property, value: value, expected: unsafe describeValues(of: specification))
    }
    unsafe g_object_set_property(object, property, &converted)
  }
}

extension PipelineElement {
  /// The Swift object of a source that this module's user has written; nil for an element of another class.
  package func source<Source: BaseSource>(as type: Source.Type) -> Source? {
    guard let record = unsafe ElementRecord.of(UnsafeRawPointer(raw)), record.type == type else { return nil }
    return unsafe swiftObject(
      UnsafeMutableRawPointer(raw), behind: record.instanceSize, as: BaseSource.self) as? Source
  }
}

extension FieldValue {
  /// Converts the value to another type without loss; returns whether it succeeded.
  fileprivate func convert(into target: inout GValue) -> Bool {
    if case .string(let text) = self {
      if unsafe cgst_value_kind(&target) == CGST_KIND_STRING {
        unsafe g_value_set_string(&target, text)
        return true
      }
      return unsafe gst_value_deserialize(&target, text) != 0
    }
    let kind = unsafe cgst_value_kind(&target)
    let wide = widened
    if case .int64(..<0) = wide, kind == CGST_KIND_UINT || kind == CGST_KIND_UINT64 { return false }
    var source = unsafe wide.makeValue()
    defer { unsafe g_value_unset(&source) }
    guard unsafe g_value_transform(&source, &target) != 0 else { return false }
    if kind == CGST_KIND_DOUBLE { return true }
    // A number that does not fit is truncated: check that it converts back.
    var back = GValue()
    unsafe g_value_init(&back, cgst_value_type(&source))
    defer { unsafe g_value_unset(&back) }
    return unsafe g_value_transform(&target, &back) != 0 && FieldValue(&back) == wide
  }
  /// An integer in 64 bits, to detect one that does not fit.
  private var widened: FieldValue {
    switch self {
    case .int(let value): .int64(Int64(value))
    case .uint(let value): .uint64(UInt64(value))
    default: self
    }
  }
}
