// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// From a C function of a class structure to the Swift method that it stands for, and back: what
/// `Element.installVirtualMethods` is written with.
///
/// ```swift
/// methods.pointee.start = { unsafe VirtualMethod.attempt($0, BaseSink.start) }
/// methods.pointee.event = { unsafe VirtualMethod.consume($0, $1, BaseSink.event) }
/// ```
///
/// A C function pointer cannot capture anything, so each virtual method has a closure of its own; everything else is
/// here: one function for each form that a method can have. The instance is a pointer to the C structure of the class
/// that ``Element/parentType`` names. Methods are found by the object's class, so that overrides are called.
///
/// A method that a C class inherits lies in the structure of the class that has it, and its instance is handed over as
/// the derived class's:
///
/// ```swift
/// let methods = unsafe classStructure.assumingMemoryBound(to: GstBaseTransformClass.self)
/// unsafe methods.pointee.transform_ip = { filter, buffer in
///   let instance = unsafe UnsafeMutableRawPointer(filter)?.assumingMemoryBound(to: GstAudioFilter.self)
///   return unsafe VirtualMethod.flow(instance, changing: buffer, AudioFilter.change)
/// }
/// ```
public enum VirtualMethod {
  /// The class structure of a parent type, for calls to the methods that were replaced. It is never unloaded.
  @unsafe @inlinable
  public static func parentClass<Class>(_ type: GType, as: Class.Type) -> UnsafePointer<Class> {
    unsafe UnsafePointer(UnsafeMutableRawPointer(g_type_class_ref(type)).assumingMemoryBound(to: Class.self))
  }

  /// The Swift object of an instance, in a call of a method.
  @unsafe @inlinable @inline(__always)
  static func call<Base: Element, Instance, Result>(
    _ instance: UnsafeMutablePointer<Instance>?, otherwise failure: Result, _ body: (Base) -> Result
  ) -> Result {
    guard let element = unsafe swiftObject(instance, as: Base.self) else { return failure }
    return body(element)
  }

  /// A method that cannot fail, where C wants to hear that it did not.
  @unsafe @inlinable @inline(__always)
  public static func perform<Base: Element, Instance>(
    _ instance: UnsafeMutablePointer<Instance>?, _ method: (Base) -> () -> Void
  ) -> gboolean {
    unsafe call(instance, otherwise: 0) { (element: Base) in
      method(element)()
      return 1
    }
  }

  /// A method that answers yes or no.
  @unsafe @inlinable @inline(__always)
  public static func answer<Base: Element, Instance>(
    _ instance: UnsafeMutablePointer<Instance>?, _ method: (Base) -> () -> Bool
  ) -> gboolean {
    unsafe call(instance, otherwise: 0) { (element: Base) in method(element)() ? 1 : 0 }
  }

  /// A method whose error is posted on the bus.
  @unsafe @inlinable @inline(__always)
  public static func attempt<Base: Element, Instance>(
    _ instance: UnsafeMutablePointer<Instance>?, _ method: (Base) -> () throws(ElementError) -> Void
  ) -> gboolean {
    unsafe call(instance, otherwise: 0) { (element: Base) in
      do throws(ElementError) {
        try method(element)()
        return 1
      } catch {
        element.post(error)
        return 0
      }
    }
  }

  /// A method that data flows through.
  @unsafe @inlinable @inline(__always)
  public static func flow<Base: Element, Instance>(
    _ instance: UnsafeMutablePointer<Instance>?, _ method: (Base) -> () throws(FlowError) -> Void
  ) -> GstFlowReturn {
    unsafe call(instance, otherwise: GST_FLOW_ERROR) { (element: Base) in
      FlowError.code { () throws(FlowError) in try method(element)() }
    }
  }

  /// A method that takes an object over, such as a frame, and that data flows through.
  @unsafe @inlinable @inline(__always)
  public static func flow<Base: Element, Instance, Object: OwnedObject & ~Copyable>(
    _ instance: UnsafeMutablePointer<Instance>?, consuming object: UnsafeMutablePointer<Object.Raw>?,
    _ method: (Base) -> (consuming Object) throws(FlowError) -> Void
  ) -> GstFlowReturn {
    guard let object = unsafe object else { return GST_FLOW_ERROR }
    return unsafe call(instance, otherwise: GST_FLOW_ERROR) { (element: Base) in
      FlowError.code { () throws(FlowError) in try method(element)(unsafe Object(owning: object)) }
    }
  }

  /// A method that is lent an object, such as a buffer, and that data flows through.
  @unsafe @inlinable @inline(__always)
  public static func flow<Base: Element, Instance, Object: OwnedObject & ~Copyable>(
    _ instance: UnsafeMutablePointer<Instance>?, borrowing object: UnsafeMutablePointer<Object.Raw>?,
    _ method: (Base) -> (borrowing Object) throws(FlowError) -> Void
  ) -> GstFlowReturn {
    guard let object = unsafe object else { return GST_FLOW_ERROR }
    return unsafe call(instance, otherwise: GST_FLOW_ERROR) { (element: Base) in
      FlowError.code { () throws(FlowError) in
        try unsafe Object.lending(object) { (object) throws(FlowError) in try method(element)(object) }
      }
    }
  }

  /// A method that changes an object in place, such as a buffer that is writable already, and that data flows through.
  /// The caller in C keeps the object: changed it may be, replaced it may not.
  @unsafe @inlinable @inline(__always)
  public static func flow<Base: Element, Instance, Object: OwnedObject & ~Copyable>(
    _ instance: UnsafeMutablePointer<Instance>?, changing object: UnsafeMutablePointer<Object.Raw>?,
    _ method: (Base) -> (inout Object) throws(FlowError) -> Void
  ) -> GstFlowReturn {
    guard let object = unsafe object else { return GST_FLOW_ERROR }
    return unsafe call(instance, otherwise: GST_FLOW_ERROR) { (element: Base) in
      var lent = unsafe Object(owning: object)
      let flow = FlowError.code { () throws(FlowError) in try method(element)(&lent) }
      _ = unsafe lent.take()
      return flow
    }
  }

  /// A method that takes an object over, such as an event, and answers yes or no.
  @unsafe @inlinable @inline(__always)
  public static func consume<Base: Element, Instance, Object: OwnedObject & ~Copyable>(
    _ instance: UnsafeMutablePointer<Instance>?, _ object: UnsafeMutablePointer<Object.Raw>?,
    _ method: (Base) -> (consuming Object) -> Bool
  ) -> gboolean {
    guard let object = unsafe object else { return 0 }
    return unsafe call(instance, otherwise: 0) { (element: Base) in
      unsafe method(element)(Object(owning: object)) ? 1 : 0
    }
  }

  /// A method that is lent an object, such as a query or caps, and answers yes or no.
  @unsafe @inlinable @inline(__always)
  public static func borrow<Base: Element, Instance, Object: OwnedObject & ~Copyable>(
    _ instance: UnsafeMutablePointer<Instance>?, _ object: UnsafeMutablePointer<Object.Raw>?,
    _ method: (Base) -> (borrowing Object) -> Bool
  ) -> gboolean {
    guard let object = unsafe object else { return 0 }
    return unsafe call(instance, otherwise: 0) { (element: Base) in
      unsafe Object.lending(object) { method(element)($0) } ? 1 : 0
    }
  }

  /// A method that answers caps out of a filter.
  @unsafe @inlinable @inline(__always)
  public static func caps<Base: Element, Instance>(
    _ instance: UnsafeMutablePointer<Instance>?, filter: UnsafeMutablePointer<GstCaps>?,
    _ method: (Base) -> (borrowing Caps?) -> Caps
  ) -> UnsafeMutablePointer<GstCaps>? {
    guard let element = unsafe swiftObject(instance, as: Base.self) else { return unsafe gst_caps_new_empty() }
    let held = unsafe Caps.retaining(optional: filter)
    return unsafe method(element)(held).take()
  }
}

/// The Swift object of a C instance, for the C functions that `Element.installVirtualMethods` puts into a class.
///
/// - Parameters:
///   - instance: a pointer to the C structure of the class that `parentType` names: the pointer to the Swift object lies
///     behind it.
///   - type: the Swift class that the object is of, or that it inherits from.
@unsafe @inlinable @inline(__always)
public func swiftObject<Base: Element, Instance>(
  _ instance: UnsafeMutablePointer<Instance>?, as type: Base.Type
) -> Base? {
  guard let instance = unsafe instance else { return nil }
  return unsafe swiftObject(
    UnsafeMutableRawPointer(instance), behind: MemoryLayout<Instance>.stride, as: Base.self)
}

/// Where the pointer to the Swift object lies behind a C instance of a given base class.
@unsafe @inlinable @inline(__always)
func swiftObject<Base: Element>(_ instance: UnsafeMutableRawPointer, behind size: Int, as: Base.Type) -> Base {
  let pointer = unsafe instance.load(fromByteOffset: size, as: UnsafeRawPointer.self)
  return unsafe Unmanaged<Base>.fromOpaque(pointer).takeUnretainedValue()
}
