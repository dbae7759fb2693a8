// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import Synchronization

/// A connected handler of a signal.
public struct SignalConnection: Sendable {
  let object: ObjectReference
  let identifier: gulong

  /// Disconnects the handler: it is not called any more.
  public func disconnect() {
    if unsafe g_signal_handler_is_connected(object.object, identifier) != 0 {
      unsafe g_signal_handler_disconnect(object.object, identifier)
    }
  }
}

/// The user data of a GClosure.
private final class Handler: Sendable {
  let body: @Sendable (borrowing SignalArguments) -> FieldValue?
  init(_ body: @escaping @Sendable (borrowing SignalArguments) -> FieldValue?) { self.body = body }
}

/// The handlers connected to an object, stored in it so that the pipeline can disconnect them: a handler may hold the
/// element that holds the handler.
private final class ConnectionList: Sendable {
  let identifiers = Mutex<[gulong]>([])
  /// Unique to this copy of the class: another plugin in Swift may have stored a list of its own class of the same
  /// name.
  static let quark = {
    let address = UInt(bitPattern: ObjectIdentifier(ConnectionList.self))
    return unsafe g_quark_from_string("gst-swift-connections-\(address)")
  }()
  /// Held while a list is found or made, so that two threads get the same list.
  private static let making = Mutex(())

  /// The object's list, made at its first use.
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
  /// Connects a handler. Its result is converted to the signal's return type, if there is one.
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

  /// Disconnects all handlers that `connect` connected.
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
