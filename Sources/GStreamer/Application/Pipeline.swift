// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// A pipeline of elements (`GstPipeline`), run by tasks: it needs no main loop, and never blocks a task's thread.
///
/// ```swift
/// let pipeline = try Pipeline(
///   "filesrc name=file ! decodebin ! videoconvert ! video/x-raw,format=NV12 ! appsink name=pictures sync=false",
///   ["file": ["location": .string(path)]])
/// let pictures = try pipeline.appSink("pictures")
/// try await pipeline.play()
/// for try await picture in pictures {
///   let map = try picture.map()
///   use(map.bytes)
/// }
/// ```
///
/// The pipeline stops with its last reference, and when a task is cancelled that waits for it: in `run`, `messages`, an
/// `AppSink` or an `AppSource`.
@safe public final class Pipeline: Sendable {
  let reference: ObjectReference
  let hub = MessageHub()

  /// The state of a pipeline or element (`GstState`).
  public enum State: Int32, Comparable, Sendable {
    /// No resources are held.
    case null = 1
    /// Devices and libraries are open.
    case ready = 2
    /// Sinks have, or wait for, their first buffer; running time does not advance.
    case paused = 3
    /// Data flows.
    case playing = 4

    init(_ state: GstState) { self = Self(rawValue: Int32(state.rawValue)) ?? .null }
    var raw: GstState { GstState(rawValue: numericCast(rawValue)) }

    /// Ordered by the way from `null` to `playing`.
    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
  }

  // MARK: Making one

  /// A pipeline from its description, as on a gst-launch-1.0 line.
  ///
  /// - Parameters:
  ///   - description: the line, without program name and options.
  ///   - properties: values for named elements, by element and property. File names need no quoting here.
  /// - Throws: `invalidDescription`, `noSuchElement` for an element that is not installed or not in the description,
  ///   `noSuchProperty`, `notWritable` or `invalidValue`.
  public convenience init(
    _ description: String, _ properties: [String: [String: FieldValue]] = [:]
  ) throws(PipelineError) {
    let parsed = try unsafe parse(description, asBin: false)
    if unsafe cgst_is_pipeline(parsed) != 0 {
      self.init(unsafe ObjectReference(sinking: parsed))
    } else {
      self.init()
      try add(unsafe PipelineElement(ObjectReference(sinking: parsed)))
    }
    for (name, values) in properties {
      let element = try element(name)
      for (property, value) in values { try element.set(property, value) }
    }
  }

  /// A pipeline of elements, each linked to the next.
  /// - Throws: `notLinkable`, or `notAdded` for one that is in a pipeline already.
  public convenience init(linking elements: PipelineElement...) throws(PipelineError) {
    self.init()
    for element in elements { try add(element) }
    for (a, b) in zip(elements, elements.dropFirst()) { try link(a, b) }
  }

  /// An empty pipeline, for `add` and `link`.
  public convenience init() {
    Runtime.initialise()
    self.init(unsafe ObjectReference(sinking: gst_pipeline_new(nil)))
  }

  private init(_ reference: ObjectReference) {
    self.reference = reference
    guard let bus = unsafe gst_element_get_bus(reference.element) else { return }
    // Messages are taken where they are posted: one that waited on the bus would hold a reference to its element.
    unsafe gst_bus_set_sync_handler(
      bus,
      { _, message, data in
        guard let message = unsafe message, let data = unsafe data else { return GST_BUS_PASS }
        if unsafe message.pointee.type == GST_MESSAGE_LATENCY { unsafe recalculateLatency(of: message.pointee.src) }
        unsafe Unmanaged<MessageHub>.fromOpaque(data).takeUnretainedValue().post(
          Message(message), number: gst_message_get_seqnum(message))
        unsafe unref(message)
        return GST_BUS_DROP
      }, Unmanaged.passRetained(hub).toOpaque(),
      { data in if let data = unsafe data { unsafe Unmanaged<MessageHub>.fromOpaque(data).release() } })
    unsafe gst_object_unref(bus)
  }

  deinit {
    hub.stop(isCancelled: false)
    disconnectHandlers()
    if state != .null || pendingState != .null { requestStop(isCancelled: false) }
  }

  /// The C object, for what this module does not do; it lives as long as the pipeline does.
  @unsafe public var raw: UnsafeMutablePointer<GstElement> { unsafe reference.element }

  var bin: UnsafeMutablePointer<GstBin> { unsafe reference.raw.assumingMemoryBound(to: GstBin.self) }

  // MARK: Elements

  /// Whether the element is in this pipeline, in a bin of it or not.
  func contains(_ element: PipelineElement) -> Bool {
    unsafe gst_object_has_as_ancestor(
      element.reference.raw.assumingMemoryBound(to: GstObject.self),
      reference.raw.assumingMemoryBound(to: GstObject.self)) != 0
  }

  /// Throws without elements, whose end would be waited for.
  func checkHasElements() throws(PipelineError) { if unsafe bin.pointee.numchildren == 0 { throw .empty } }

  /// Adds an element, and synchronizes its state with the pipeline's.
  /// - Throws: `notAdded` when it is in a pipeline already, or its name is taken.
  public func add(_ element: PipelineElement) throws(PipelineError) {
    guard unsafe gst_bin_add(bin, element.raw) != 0 else { throw .notAdded(element.name) }
    // Another thread may be changing the pipeline's state: the last target counts.
    var wanted: GstState
    repeat {
      wanted = unsafe reference.element.pointee.target_state
      unsafe gst_element_sync_state_with_parent(element.raw)
    } while unsafe wanted != reference.element.pointee.target_state
  }

  /// Links two elements, with caps between them if wanted.
  ///
  /// If the first gets its pads only once it has read the stream, as demultiplexers do, they are linked then.
  /// - Throws: `notLinkable`, `notInPipeline` for an element that was not added to this pipeline, or
  ///   `invalidDescription` for invalid caps.
  public func link(
    _ first: PipelineElement, _ second: PipelineElement, caps text: String? = nil
  ) throws(PipelineError) {
    for element in [first, second] where !contains(element) { throw .notInPipeline(element.name) }
    if let text {
      guard let caps = Caps(parsing: text) else { throw .invalidDescription(text) }
      let filter = try PipelineElement("capsfilter")
      try filter.set("caps", caps)
      try add(filter)
      try link(first, filter)
      return try link(filter, second)
    }
    if unsafe gst_element_link(first.raw, second.raw) != 0 { return }
    guard first.getsPadsLater else { throw .notLinkable(from: first.name, to: second.name) }
    // Pads of other streams find no compatible pad that is free.
    try first.onPadAdded { pad in if pad.isSource { try? pad.link(to: second) } }
  }

  /// The element of this name.
  /// - Throws: `noSuchElement`.
  public func element(_ name: String) throws(PipelineError) -> PipelineElement {
    guard let element = unsafe gst_bin_get_by_name(bin, name) else { throw .noSuchElement(name) }
    return unsafe PipelineElement(ObjectReference(owning: element))
  }

  /// The `appsink` of this name, to fetch its buffers.
  /// - Throws: `noSuchElement` when there is no element of the name, `wrongKind` when it is no appsink.
  public func appSink(_ name: String) throws(PipelineError) -> AppSink { try AppSink(element(name), in: self) }

  /// The `appsrc` of this name, to send it buffers.
  /// - Throws: `noSuchElement` when there is no element of the name, `wrongKind` when it is no appsrc.
  public func appSource(_ name: String) throws(PipelineError) -> AppSource { try AppSource(element(name), in: self) }

  /// The messages of the pipeline and its elements.
  public var messages: Messages { Messages(pipeline: self) }

  /// Breaks the cycle of a handler that holds its element, which holds the handler.
  private func disconnectHandlers() {
    for element in reference.elementsInBin { element.disconnectAll() }
  }
}

/// Has the pipeline of an element, whose latency changed, query the latency of all elements and configure the sinks
/// with it. This happens on another thread, because the element may hold locks that a query takes.
private func recalculateLatency(of source: UnsafeMutablePointer<GstObject>?) {
  guard let source = unsafe source else { return }
  var top = unsafe ObjectReference(retaining: source)
  while let parent = unsafe gst_object_get_parent(top.raw.assumingMemoryBound(to: GstObject.self)) {
    unsafe top = ObjectReference(owning: parent)
  }
  guard unsafe cgst_is_pipeline(top.raw) != 0 else { return }
  unsafe gst_element_call_async(
    top.element,
    { pipeline, _ in
      guard let pipeline = unsafe pipeline else { return }
      unsafe gst_bin_recalculate_latency(UnsafeMutableRawPointer(pipeline).assumingMemoryBound(to: GstBin.self))
    }, nil, nil)
}

extension PipelineElement {
  /// Whether the element has `sometimes` source pads.
  fileprivate var getsPadsLater: Bool {
    var next = unsafe gst_element_class_get_pad_template_list(
      UnsafeMutableRawPointer(raw).load(as: UnsafeMutablePointer<GstElementClass>.self))
    while let node = unsafe next {
      if let data = unsafe node.pointee.data {
        let template = unsafe data.assumingMemoryBound(to: GstPadTemplate.self)
        if unsafe template.pointee.presence == GST_PAD_SOMETIMES && template.pointee.direction == GST_PAD_SRC {
          return true
        }
      }
      unsafe next = node.pointee.next
    }
    return false
  }
}

extension Pipeline {
  /// Unlinks two elements: every pad of the first from its peer in the second.
  ///
  /// While data flows, a ``PipelinePad/addBlockingProbe(_:)`` in front of them keeps it back.
  /// - Throws: `notInPipeline`.
  public func unlink(_ first: PipelineElement, _ second: PipelineElement) throws(PipelineError) {
    for element in [first, second] where !contains(element) { throw .notInPipeline(element.name) }
    unsafe gst_element_unlink(first.raw, second.raw)
  }

  /// Removes an element: unlinks its pads and releases its resources. It may be added again, here or elsewhere; its
  /// signals' handlers are disconnected.
  ///
  /// Returns when its streaming threads have ended. While data flows, a ``PipelinePad/addBlockingProbe(_:)`` in front of
  /// it keeps it back.
  /// - Throws: `notInPipeline`.
  public func remove(_ element: PipelineElement) async throws(PipelineError) {
    guard contains(element),
      let parent = unsafe gst_object_get_parent(
        element.reference.raw.assumingMemoryBound(to: GstObject.self))
    else { throw .notInPipeline(element.name) }
    let bin = unsafe ObjectReference(owning: parent)
    await onOtherThread { [reference = element.reference] in
      // In this order: the bin no longer sets its state then, and an element that waits for downstream is let go.
      unsafe gst_bin_remove(bin.raw.assumingMemoryBound(to: GstBin.self), reference.element)
      unsafe gst_element_set_state(reference.element, GST_STATE_NULL)
    }
    element.reference.disconnectAll()
    if unsafe cgst_is_bin(element.reference.raw) != 0 {
      for inner in element.reference.elementsInBin { inner.disconnectAll() }
    }
  }
}
