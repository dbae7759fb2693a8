// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// Makes an element handle the URIs of some protocols (`GstURIHandler`, gst/gsturi.h). `playbin` and similar elements
/// find it by the protocol, and give it the URI.
///
/// ```swift
/// override class var uriHandler: URIHandler? {
///   .source(of: ["pattern"]) { (element: Pattern) in element.uri.snapshot } set: { element, uri in … }
/// }
/// ```
@safe public struct URIHandler {
  let direction: Pad.Direction
  let protocols: [String]
  let get: (Element) -> String?
  let set: (Element, String) throws(URIError) -> Void

  private init<Owner: Element>(
    _ direction: Pad.Direction, _ protocols: [String], _ get: @escaping (Owner) -> String?,
    _ set: @escaping (Owner, String) throws(URIError) -> Void
  ) {
    (self.direction, self.protocols) = (direction, protocols)
    self.get = { element in get(unsafe unsafeDowncast(element, to: Owner.self)) }
    self.set = { (element, uri) throws(URIError) in try set(unsafe unsafeDowncast(element, to: Owner.self), uri) }
  }

  /// For a source, whose URI is where data comes from.
  ///
  /// - Parameters:
  ///   - protocols: what precedes the colon of a URI, in lower case: `http`. Letters, digits, `+`, `-` and `.` follow a
  ///     letter.
  ///   - get: the URI that the element has; `nil` for none. Called on any thread.
  ///   - set: takes a valid URI of one of the protocols. Called on any thread, also while data flows, which a source
  ///     that cannot change then refuses by ``URIError/Reason/badState``.
  public static func source<Owner: Element>(
    of protocols: [String], get: @escaping (Owner) -> String?,
    set: @escaping (Owner, String) throws(URIError) -> Void
  ) -> URIHandler { URIHandler(.source, protocols, get, set) }

  /// For a sink, whose URI is where data is brought to. Otherwise as ``source(of:get:set:)``.
  public static func sink<Owner: Element>(
    of protocols: [String], get: @escaping (Owner) -> String?,
    set: @escaping (Owner, String) throws(URIError) -> Void
  ) -> URIHandler { URIHandler(.sink, protocols, get, set) }

  /// The fault of the declaration: the protocol and the reason.
  var fault: (name: String, reason: String)? {
    if protocols.isEmpty { return ("", "there is none") }
    for name in protocols {
      guard unsafe gst_uri_protocol_is_valid(name) != 0 else { return (name, "it is not a valid protocol name") }
      guard name == name.lowercased() else { return (name, "it is not in lower case, so it would never be found") }
    }
    return nil
  }

  /// The names as C has them, never freed.
  func makeList() -> UnsafeMutablePointer<UnsafePointer<CChar>?> {
    let list = UnsafeMutablePointer<UnsafePointer<CChar>?>.allocate(capacity: protocols.count + 1)
    for (index, name) in protocols.enumerated() {
      unsafe (list + index).initialize(to: g_strdup(name).map { unsafe UnsafePointer($0) })
    }
    unsafe (list + protocols.count).initialize(to: nil)
    return unsafe list
  }
}

extension ElementRecord {
  /// Makes a registered type one that handles URIs.
  func addURIHandler(to type: GType) {
    guard uriHandler != nil else { return }
    var info = unsafe GInterfaceInfo()
    unsafe info.interface_init = { interface, _ in
      guard let interface = unsafe interface?.assumingMemoryBound(to: GstURIHandlerInterface.self) else { return }
      unsafe interface.pointee.get_type = { type in
        ElementRecord.of(type)?.uriHandler?.direction == .sink ? GST_URI_SINK : GST_URI_SRC
      }
      unsafe interface.pointee.get_protocols = { type in
        unsafe ElementRecord.of(type)?.uriProtocols.map { unsafe UnsafePointer($0) }
      }
      unsafe interface.pointee.get_uri = { handler in
        guard let (element, handler) = unsafe ElementRecord.handler(handler), let uri = handler.get(element) else {
          return nil
        }
        return unsafe g_strdup(uri)
      }
      unsafe interface.pointee.set_uri = { handler, uri, failure in
        guard let (element, handler) = unsafe ElementRecord.handler(handler), let uri = unsafe uri else { return 0 }
        do throws(URIError) {
          try handler.set(element, unsafe String(cString: uri))
          return 1
        } catch {
          unsafe g_set_error_literal(failure, gst_uri_error_quark(), gint(error.reason.rawValue), error.message)
          return 0
        }
      }
    }
    unsafe g_type_add_interface_static(type, gst_uri_handler_get_type(), &info)
  }

  @unsafe private static func handler(_ instance: OpaquePointer?) -> (Element, URIHandler)? {
    guard let instance = unsafe instance.map({ unsafe UnsafeMutableRawPointer($0) }), let record = unsafe of(instance),
      let handler = record.uriHandler
    else { return nil }
    return unsafe (swiftObject(instance, behind: record.instanceSize, as: Element.self), handler)
  }
}
