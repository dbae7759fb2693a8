// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// A GStreamer element written in Swift. Subclass a base class: `PushSource`, `BaseSource`, `BaseSink`, `BaseParse`,
/// `BaseTransform`, `VideoFilter`, `VideoDecoder`, `VideoEncoder` or `Aggregator`; or this one, for an element that
/// makes its pads.
///
/// The GObject owns the Swift object: it is made by the GObject's instance initializer and released by its finalizer.
/// The pointer back is unowned, so a Swift object must not be used after its element is gone.
@safe open class Element {
  /// The C object.
  @unsafe public let raw: UnsafeMutablePointer<GstElement>

  /// Called by the instance initializer.
  @unsafe public required init(raw: UnsafeMutableRawPointer) {
    unsafe self.raw = raw.assumingMemoryBound(to: GstElement.self)
  }

  /// The element's description in `gst-inspect-1.0`.
  open class var metadata: ElementMetadata {
    ElementMetadata(name: "\(Self.self)", classification: "Generic", description: "\(Self.self)", author: "unknown")
  }
  /// The pads that the element has or may have.
  open class var padTemplates: [PadTemplate] { [] }
  /// The GObject properties, in addition to the base class's.
  open class var properties: [Property] { [] }
  /// The GObject signals that `emit` sends.
  open class var signals: [Signal] { [] }
  /// Declares the URI protocols that the element handles; `nil` by default.
  open class var uriHandler: URIHandler? { nil }

  /// The GType of the C class that this Swift class derives from, and the size of its instances: the stride of the C
  /// structure. The base classes of this module set it; another C class is made a base class by overriding it and
  /// `installVirtualMethods`.
  open class var parentType: (type: GType, instanceSize: Int) {
    unsafe (gst_element_get_type(), MemoryLayout<GstElement>.stride)
  }

  /// The names of the pad templates that the base class cannot be without: a class that lacks one is not registered.
  open class var requiredTemplates: [String] { [] }

  /// READY → PAUSED, before the base class activates the pads and calls `start`: no data, event or streaming thread
  /// is in the element. Reset the stream's state here, and the base class's settings.
  ///
  /// Queries and property accesses come on any thread at any time, even now. Called each time that data flow is to
  /// begin, with no lock but the state lock held.
  open func prepareToStream() {}

  /// PAUSED → READY, before pads are deactivated, which waits for the streaming threads: ends waits of theirs that
  /// the base class cannot end.
  ///
  /// They may still run, so that the stream's state must not be touched.
  open func interruptStream() {}

  /// PAUSED → READY: pads are inactive, and no streaming thread is in the element any more. For an element whose base
  /// class has no `stop`, to release the stream's resources.
  open func cleanUpAfterStream() {}

  /// Installs C functions in the class structure of a new type; they call Swift methods through `VirtualMethod` and
  /// `swiftObject(_:as:)`.
  ///
  /// An override calls its superclass first.
  @unsafe open class func installVirtualMethods(in classStructure: UnsafeMutableRawPointer) {}

  /// Makes a pad of a request template with `addPad` (`GstElementClass.request_new_pad`), on any thread. Chains to the
  /// base class by default, which makes none unless it has request pads itself.
  /// - Parameters:
  ///   - template: the template's name, such as `src_%u`.
  ///   - name: the pad's name if one was requested.
  /// - Returns: `nil` when the pad cannot be made.
  open func requestPad(template: String, named name: String?) -> Pad? {
    guard let make = unsafe Self.parentClass?.pointee.request_new_pad,
      let template = unsafe gst_element_get_pad_template(raw, template),
      let pad = unsafe make(raw, template, name, nil)
    else { return nil }
    return unsafe Pad(retaining: pad)
  }

  /// Releases a request pad. Chains to the base class by default, or to `removePad` when that has no request pads.
  open func releasePad(_ pad: Pad) {
    if let release = unsafe Self.parentClass?.pointee.release_pad {
      unsafe release(raw, pad.raw)
    } else {
      removePad(pad)
    }
  }

  /// The class structure of the C class that this Swift class derives from; `nil` before the first element is made.
  static var parentClass: UnsafeMutablePointer<GstElementClass>? {
    unsafe g_type_class_peek(parentType.type)?.assumingMemoryBound(to: GstElementClass.self)
  }

  /// The name in the pipeline.
  public var name: String {
    guard let name = unsafe gst_object_get_name(UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstObject.self))
    else { return "" }
    defer { unsafe g_free(name) }
    return unsafe String(cString: name)
  }

  /// The klass string of the bin that the element is in; `nil` when it is in none.
  package var parentClassification: String? {
    guard
      let parent = unsafe gst_object_get_parent(UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstObject.self))
    else { return nil }
    defer { unsafe gst_object_unref(parent) }
    let element = unsafe UnsafeMutableRawPointer(parent).assumingMemoryBound(to: GstElement.self)
    guard let text = unsafe gst_element_get_metadata(element, "klass") else { return nil }
    return unsafe String(cString: text)
  }

  /// The running time now: the clock's time since the pipeline began to play, pauses left out; `nil` without a clock.
  public var runningTime: ClockTime? { unsafe ClockTime(raw: UInt64(gst_element_get_current_running_time(raw))) }

  /// Posts a latency message, so that the pipeline queries the latency again.
  public func postLatencyChanged() {
    let object = unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstObject.self)
    unsafe gst_element_post_message(raw, gst_message_new_latency(object))
  }

  /// Emits `notify::name` for a property that changed.
  public func notify(_ property: String) {
    unsafe g_object_notify(UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GObject.self), property)
  }
}

/// An element's description in `gst-inspect-1.0`.
public struct ElementMetadata: Sendable {
  /// The long name.
  public var name: String
  /// The klass string, such as `Codec/Decoder/Video`.
  public var classification: String
  /// One sentence.
  public var description: String
  /// Name and address.
  public var author: String

  /// An element's description in `gst-inspect-1.0`.
  public init(name: String, classification: String, description: String, author: String) {
    self.name = name
    self.classification = classification
    self.description = description
    self.author = author
  }
}
