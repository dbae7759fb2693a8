// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// Connects C functions of a class structure with the Swift methods that implement them, for
/// `Element.installVirtualMethods`:
///
/// ```swift
/// methods.pointee.start = { unsafe VirtualMethod.attempt($0, BaseSink.start) }
/// methods.pointee.event = { unsafe VirtualMethod.consume($0, $1, BaseSink.event) }
/// ```
///
/// A C function pointer captures nothing, so each virtual method has a closure of its own, which calls one of these
/// functions by the method's signature. The instance is a pointer to the C structure of the class that
/// ``Element/parentType`` names. Swift dispatches by the object's class, so that overrides are called.
///
/// An inherited method lies in the class structure that declares it, and its instance is cast to the derived class's:
///
/// ```swift
/// let methods = unsafe classStructure.assumingMemoryBound(to: GstBaseTransformClass.self)
/// unsafe methods.pointee.transform_ip = { filter, buffer in
///   let instance = unsafe UnsafeMutableRawPointer(filter)?.assumingMemoryBound(to: GstAudioFilter.self)
///   return unsafe VirtualMethod.flow(instance, changing: buffer, AudioFilter.change)
/// }
/// ```
public enum VirtualMethod {
  /// The class structure of a parent type, for calls to replaced methods. It is never unloaded.
  @unsafe @inlinable
  public static func parentClass<Class>(_ type: GType, as: Class.Type) -> UnsafePointer<Class> {
    unsafe UnsafePointer(UnsafeMutableRawPointer(g_type_class_ref(type)).assumingMemoryBound(to: Class.self))
  }

  /// Calls a function with the Swift object of an instance; returns `failure` without an instance.
  @unsafe @inlinable @inline(__always)
  static func call<Base: Element, Instance, Result>(
    _ instance: UnsafeMutablePointer<Instance>?, otherwise failure: Result, _ body: (Base) -> Result
  ) -> Result {
    guard let element = unsafe swiftObject(instance, as: Base.self) else { return failure }
    return body(element)
  }

  /// A method that cannot fail; C gets TRUE.
  @unsafe @inlinable @inline(__always)
  public static func perform<Base: Element, Instance>(
    _ instance: UnsafeMutablePointer<Instance>?, _ method: (Base) -> () -> Void
  ) -> gboolean {
    unsafe call(instance, otherwise: 0) { (element: Base) in
      method(element)()
      return 1
    }
  }

  /// A method that returns a Bool.
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

  /// A method that throws a flow error.
  @unsafe @inlinable @inline(__always)
  public static func flow<Base: Element, Instance>(
    _ instance: UnsafeMutablePointer<Instance>?, _ method: (Base) -> () throws(FlowError) -> Void
  ) -> GstFlowReturn {
    unsafe call(instance, otherwise: GST_FLOW_ERROR) { (element: Base) in
      FlowError.code { () throws(FlowError) in try method(element)() }
    }
  }

  /// A method that consumes an object, such as a frame, and throws a flow error.
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

  /// A method that borrows an object, such as a buffer, and throws a flow error.
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

  /// A method that changes an object in place, such as a writable buffer, and throws a flow error. The C caller keeps
  /// the object: the method must not replace it.
  @unsafe @inlinable @inline(__always)
  public static func flow<Base: Element, Instance, Object: OwnedObject & ~Copyable>(
    _ instance: UnsafeMutablePointer<Instance>?, changing object: UnsafeMutablePointer<Object.Raw>?,
    _ method: (Base) -> (inout Object) throws(FlowError) -> Void
  ) -> GstFlowReturn {
    guard let object = unsafe object else { return GST_FLOW_ERROR }
    return unsafe call(instance, otherwise: GST_FLOW_ERROR) { (element: Base) in
      var lent = unsafe Object(owning: object)
      let flow = FlowError.code { () throws(FlowError) in try method(element)(&lent) }
      let changed = unsafe lent.take()
      unsafe precondition(changed == object, LentObject.replaced)
      return flow
    }
  }

  /// A method that consumes an object, such as an event, and returns a Bool.
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

  /// A method that borrows an object, such as a query or caps, and returns a Bool.
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

  /// A method that returns caps, given a filter.
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

/// The Swift object of a C instance, for the C functions that `Element.installVirtualMethods` installs.
///
/// - Parameters:
///   - instance: a pointer to the C structure of the class that `parentType` names, after which the pointer to the
///     Swift
///     object is stored.
///   - type: the Swift class of the object, or a superclass.
@unsafe @inlinable @inline(__always)
public func swiftObject<Base: Element, Instance>(
  _ instance: UnsafeMutablePointer<Instance>?, as type: Base.Type
) -> Base? {
  guard let instance = unsafe instance else { return nil }
  return unsafe swiftObject(
    UnsafeMutableRawPointer(instance), behind: MemoryLayout<Instance>.stride, as: Base.self)
}

/// The Swift object, whose pointer is stored after a C instance of this size.
@unsafe @inlinable @inline(__always)
func swiftObject<Base: Element>(_ instance: UnsafeMutableRawPointer, behind size: Int, as: Base.Type) -> Base {
  let pointer = unsafe instance.load(fromByteOffset: size, as: UnsafeRawPointer.self)
  return unsafe Unmanaged<Base>.fromOpaque(pointer).takeUnretainedValue()
}
