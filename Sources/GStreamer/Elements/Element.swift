// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// What `gst-inspect-1.0` says of an element.
public struct ElementMetadata: Sendable {
  /// The long name.
  public var name: String
  /// The klass string, such as `Codec/Decoder/Video`.
  public var classification: String
  public var description: String
  /// Name and address.
  public var author: String

  public init(name: String, classification: String, description: String, author: String) {
    self.name = name
    self.classification = classification
    self.description = description
    self.author = author
  }
}

/// What can be linked to an element: its always-present sink and source pads with the caps they may carry.
public struct PadTemplate: Sendable {
  enum Direction: Sendable { case source, sink }
  let direction: Direction
  let caps: String

  /// The sink pad, with caps as on a gst-launch-1.0 line.
  public static func sink(_ caps: String) -> Self { Self(direction: .sink, caps: caps) }
  /// The source pad, with caps as on a gst-launch-1.0 line.
  public static func source(_ caps: String) -> Self { Self(direction: .source, caps: caps) }
}

/// A GStreamer element written in Swift. Subclass `BaseParse`, `BaseTransform` or `VideoDecoder`.
///
/// The GObject owns the Swift object: it is made by the GObject's instance initialiser and released by its finalizer.
/// The pointer back is unowned, so a Swift object must not be used after its element is gone.
@safe open class Element {
  /// The C object.
  @unsafe public let raw: UnsafeMutablePointer<GstElement>

  /// Called by the instance initialiser.
  @unsafe public required init(raw: UnsafeMutableRawPointer) {
    unsafe self.raw = raw.assumingMemoryBound(to: GstElement.self)
  }

  open class var metadata: ElementMetadata {
    ElementMetadata(name: "\(Self.self)", classification: "Generic", description: "\(Self.self)", author: "unknown")
  }
  open class var padTemplates: [PadTemplate] { [] }
  open class var properties: [Property] { [] }

  /// The GType of the C class that this Swift class derives from, and the size of its instances. Set by `BaseParse`,
  /// `BaseTransform` and `VideoDecoder`.
  class var parentType: (type: GType, instanceSize: Int) {
    unsafe (gst_element_get_type(), MemoryLayout<GstElement>.stride)
  }

  /// READY → PAUSED, before the base class activates the pads, and so before `start`: no data, event or streaming
  /// thread is in the element. Make the stream's state anew here, and set the base class's settings.
  ///
  /// Queries and properties come from any thread at any time, now too. Called each time that data flow is to begin;
  /// no lock is held but the state lock.
  open func prepareToStream() {}

  /// Puts trampolines into a class structure.
  class func installVirtualMethods(in classStructure: UnsafeMutableRawPointer) {}

  /// The name in the pipeline.
  public var name: String {
    guard let name = unsafe gst_object_get_name(UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstObject.self))
    else { return "" }
    defer { unsafe g_free(name) }
    return unsafe String(cString: name)
  }

  /// What kind of bin the element is in (its klass string), `nil` when it is in none.
  public var parentClassification: String? {
    guard
      let parent = unsafe gst_object_get_parent(UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstObject.self))
    else { return nil }
    defer { unsafe gst_object_unref(parent) }
    let element = unsafe UnsafeMutableRawPointer(parent).assumingMemoryBound(to: GstElement.self)
    guard let text = unsafe gst_element_get_metadata(element, "klass") else { return nil }
    return unsafe String(cString: text)
  }

  /// Posts a message that latency changed, so that the pipeline asks for it anew.
  public func postLatencyChanged() {
    let object = unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstObject.self)
    unsafe gst_element_post_message(raw, gst_message_new_latency(object))
  }

  /// Tells `notify::name` listeners that a property changed.
  public func notify(_ property: String) {
    unsafe g_object_notify(UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GObject.self), property)
  }
}

/// Where the pointer to the Swift object lies behind a C instance of a given base class.
@inline(__always)
func swiftObject<T: Element>(_ instance: UnsafeMutableRawPointer, behind size: Int, as: T.Type) -> T {
  let pointer = unsafe instance.load(fromByteOffset: size, as: UnsafeRawPointer.self)
  return unsafe Unmanaged<T>.fromOpaque(pointer).takeUnretainedValue()
}
