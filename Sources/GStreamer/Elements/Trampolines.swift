// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// The Swift object of a C instance, for the C functions that `Element.installVirtualMethods` puts into a class.
///
/// - Parameters:
///   - instance: a pointer to the C structure of the class that `parentType` names: the pointer to the Swift object lies
///     behind it.
///   - type: the Swift class that the object is of, or that it inherits from.
@unsafe @inline(__always)
public func swiftObject<Base: Element, Instance>(
  _ instance: UnsafeMutablePointer<Instance>?, as type: Base.Type
) -> Base? {
  guard let instance = unsafe instance else { return nil }
  return unsafe swiftObject(
    UnsafeMutableRawPointer(instance), behind: MemoryLayout<Instance>.stride, as: Base.self)
}

/// Where the pointer to the Swift object lies behind a C instance of a given base class.
@inline(__always)
func swiftObject<Base: Element>(_ instance: UnsafeMutableRawPointer, behind size: Int, as: Base.Type) -> Base {
  let pointer = unsafe instance.load(fromByteOffset: size, as: UnsafeRawPointer.self)
  return unsafe Unmanaged<Base>.fromOpaque(pointer).takeUnretainedValue()
}

// A C function pointer cannot capture, so each virtual method has a closure of its own; what they have in common is
// here: from the instance to the object, from the C argument to the Swift value, and back.

/// A method that answers yes or no.
@inline(__always)
func answer<Base: Element, Instance>(
  _ instance: UnsafeMutablePointer<Instance>?, _ type: Base.Type, _ body: (Base) -> Bool
) -> gboolean {
  guard let element = unsafe swiftObject(instance, as: type) else { return 0 }
  return body(element) ? 1 : 0
}

/// A method whose error is posted on the bus.
@inline(__always)
func attempt<Base: Element, Instance>(
  _ instance: UnsafeMutablePointer<Instance>?, _ type: Base.Type, _ body: (Base) throws(ElementError) -> Void
) -> gboolean {
  guard let element = unsafe swiftObject(instance, as: type) else { return 0 }
  do throws(ElementError) {
    try body(element)
    return 1
  } catch {
    element.post(error)
    return 0
  }
}

/// A method that data flows through.
@inline(__always)
func flow<Base: Element, Instance>(
  _ instance: UnsafeMutablePointer<Instance>?, _ type: Base.Type, _ body: (Base) throws(FlowError) -> Void
) -> GstFlowReturn {
  guard let element = unsafe swiftObject(instance, as: type) else { return GST_FLOW_ERROR }
  return flowReturn { () throws(FlowError) in try body(element) }
}

/// A method that takes a mini-object over, such as an event.
@inline(__always)
func consume<Base: Element, Instance, Object: MiniObject & ~Copyable>(
  _ instance: UnsafeMutablePointer<Instance>?, _ type: Base.Type, _ object: UnsafeMutablePointer<Object.Raw>?,
  _ body: (Base, consuming Object) -> Bool
) -> gboolean {
  guard let element = unsafe swiftObject(instance, as: type), let object = unsafe object else { return 0 }
  return unsafe body(element, Object(owning: object)) ? 1 : 0
}

/// A method that is lent a mini-object, such as a query or caps.
@inline(__always)
func borrow<Base: Element, Instance, Object: MiniObject & ~Copyable>(
  _ instance: UnsafeMutablePointer<Instance>?, _ type: Base.Type, _ object: UnsafeMutablePointer<Object.Raw>?,
  _ body: (Base, borrowing Object) -> Bool
) -> gboolean {
  guard let element = unsafe swiftObject(instance, as: type), let object = unsafe object else { return 0 }
  return unsafe Object.lending(object) { body(element, $0) } ? 1 : 0
}

/// A method that answers caps out of a filter.
@inline(__always)
func answerCaps<Base: Element, Instance>(
  _ instance: UnsafeMutablePointer<Instance>?, _ type: Base.Type, _ filter: UnsafeMutablePointer<GstCaps>?,
  _ body: (Base, borrowing Caps?) -> Caps
) -> UnsafeMutablePointer<GstCaps>? {
  guard let element = unsafe swiftObject(instance, as: type) else { return unsafe gst_caps_new_empty() }
  let held: Caps? = if let filter = unsafe filter { unsafe Caps.retaining(filter) } else { nil }
  return unsafe body(element, held).take()
}
