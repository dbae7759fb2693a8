// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import Synchronization

/// The arguments of a signal, for as long as its handler runs.
@safe public struct SignalArguments: ~Copyable {
  private let values: UnsafeBufferPointer<GValue>

  /// SAFETY: the values outlive this one, which is lent to a handler for the call.
  @unsafe init(_ values: UnsafeBufferPointer<GValue>) { unsafe self.values = values }

  /// How many there are, the emitting element not counted.
  public var count: Int { unsafe max(values.count - 1, 0) }

  private func value(_ index: Int) -> UnsafePointer<GValue>? {
    guard index >= 0, index < count, let base = unsafe values.baseAddress else { return nil }
    return unsafe base + index + 1
  }

  /// A number, a text or a truth; what is neither is given as text. `nil` when it has no such form.
  public subscript(_ index: Int) -> FieldValue? { unsafe value(index).flatMap { unsafe FieldValue($0) } }

  /// An argument that is a pad.
  public func pad(_ index: Int) -> PipelinePad? {
    guard let value = unsafe value(index), unsafe cgst_value_is_pad(value) != 0,
      let object = unsafe g_value_get_object(value)
    else { return nil }
    return unsafe PipelinePad(ObjectReference(retaining: object))
  }

  /// An argument that is an element.
  public func element(_ index: Int) -> PipelineElement? {
    guard let value = unsafe value(index), unsafe cgst_value_is_element(value) != 0,
      let object = unsafe g_value_get_object(value)
    else { return nil }
    return unsafe PipelineElement(ObjectReference(retaining: object))
  }

  /// An argument that is caps.
  public func caps(_ index: Int) -> Caps? {
    guard let value = unsafe value(index), unsafe cgst_value_is_caps(value) != 0,
      let caps = unsafe g_value_get_boxed(value)
    else { return nil }
    return unsafe Caps.retaining(caps.assumingMemoryBound(to: GstCaps.self))
  }
}

/// A handler of a signal, until it is disconnected or the pipeline goes.
public struct SignalConnection: Sendable {
  let object: ObjectReference
  let identifier: gulong

  /// The handler is not called any more.
  public func disconnect() {
    if unsafe g_signal_handler_is_connected(object.object, identifier) != 0 {
      unsafe g_signal_handler_disconnect(object.object, identifier)
    }
  }
}

/// What a closure of GObject's keeps for us.
private final class Handler: Sendable {
  let body: @Sendable (borrowing SignalArguments) -> FieldValue?
  init(_ body: @escaping @Sendable (borrowing SignalArguments) -> FieldValue?) { self.body = body }
}

/// The handlers of one object, remembered on it so that the pipeline can take them off: a handler may hold the
/// element that holds the handler.
private final class ConnectionList: Sendable {
  let identifiers = Mutex<[gulong]>([])
  /// Another plugin in Swift may have put a list of its own on the same object, of a class that has the same name and is
  /// another: the address tells them apart.
  static let quark = {
    let address = UInt(bitPattern: ObjectIdentifier(ConnectionList.self))
    return unsafe g_quark_from_string("gst-swift-connections-\(address)")
  }()
  /// Held while a list is looked for and made: of two threads that connect to a new object, both find the same list.
  private static let making = Mutex(())

  /// The object's list, made when it has none.
  static func of(_ object: UnsafeMutablePointer<GObject>) -> ConnectionList {
    making.withLock { _ in
      if let known = unsafe g_object_get_qdata(object, quark) {
        return unsafe Unmanaged<ConnectionList>.fromOpaque(known).takeUnretainedValue()
      }
      let fresh = ConnectionList()
      unsafe g_object_set_qdata_full(
        object, quark, Unmanaged.passRetained(fresh).toOpaque(),
        { data in if let data = unsafe data { unsafe Unmanaged<ConnectionList>.fromOpaque(data).release() } })
      return fresh
    }
  }
}

extension ObjectReference {
  /// Connects a handler. Its result, where the signal wants one, is turned into the signal's type.
  func connect(
    _ signal: String, _ body: @escaping @Sendable (borrowing SignalArguments) -> FieldValue?
  ) throws(PipelineError) -> SignalConnection {
    guard unsafe cgst_has_signal(raw, signal) != 0 else { throw .noSuchSignal(element: name, signal: signal) }
    let handler = unsafe Unmanaged.passRetained(Handler(body)).toOpaque()
    let closure = unsafe cgst_closure_new(
      handler,
      { closure, result, count, values, _, _ in
        guard let closure = unsafe closure, let data = unsafe cgst_closure_data(closure) else { return }
        let handler = unsafe Unmanaged<Handler>.fromOpaque(data).takeUnretainedValue()
        let arguments = unsafe SignalArguments(UnsafeBufferPointer(start: values, count: Int(count)))
        guard let answer = handler.body(arguments), let result = unsafe result else { return }
        var value = unsafe answer.makeValue()
        unsafe g_value_transform(&value, result)
        unsafe g_value_unset(&value)
      },
      { data, _ in if let data = unsafe data { unsafe Unmanaged<Handler>.fromOpaque(data).release() } })
    let identifier = unsafe g_signal_connect_closure(raw, signal, closure, 0)
    unsafe ConnectionList.of(object).identifiers.withLock { $0.append(identifier) }
    return SignalConnection(object: self, identifier: identifier)
  }

  /// Takes off what `connect` put on.
  func disconnectAll() {
    guard let known = unsafe g_object_get_qdata(object, ConnectionList.quark) else { return }
    let list = unsafe Unmanaged<ConnectionList>.fromOpaque(known).takeUnretainedValue()
    let identifiers = list.identifiers.withLock { identifiers in
      defer { identifiers = [] }
      return identifiers
    }
    for identifier in identifiers { SignalConnection(object: self, identifier: identifier).disconnect() }
  }
}
