// SPDX-License-Identifier: MPL-2.0
import CGStreamer

extension PipelineElement {
  /// Makes the element of the highest rank that takes a URI, and gives it the URI: a `filesrc` for a `file://` URI.
  ///
  /// - Parameters:
  ///   - uri: the URI; ``Runtime/uri(ofFile:)`` returns the URI of a file.
  ///   - direction: whether data comes from there (`source`) or goes there (`sink`).
  ///   - name: its name in the pipeline; by default GStreamer numbers elements of a kind.
  /// - Throws: ``URIError/Reason/badURI``; ``URIError/Reason/unsupportedProtocol`` if no element takes URIs of this
  ///   protocol. Otherwise, the reason why the element does not take it.
  public init(
    uri: String, for direction: Pad.Direction = .source, name: String? = nil
  ) throws(URIError) {
    Runtime.initialise()
    guard unsafe gst_uri_is_valid(uri) != 0 else { throw URIError(.badURI, "“\(uri)” is not a URI") }
    var error: UnsafeMutablePointer<GError>?
    let type = direction == .source ? GST_URI_SRC : GST_URI_SINK
    guard let element = unsafe gst_element_make_from_uri(type, uri, name, &error) else {
      throw unsafe URIError(owning: error, about: uri)
    }
    self.init(unsafe ObjectReference(sinking: UnsafeMutableRawPointer(element)))
  }

  /// The URI that the element has; `nil` for none, and for an element that takes no URIs.
  public var uri: String? {
    guard let handler = unsafe uriHandler, let uri = unsafe gst_uri_handler_get_uri(handler) else { return nil }
    defer { unsafe g_free(uri) }
    return unsafe String(cString: uri)
  }

  /// Gives the element another URI.
  ///
  /// - Throws: ``URIError/Reason/badURI``, ``URIError/Reason/unsupportedProtocol`` if the element takes no URIs or
  ///   none of this protocol, and ``URIError/Reason/badState`` if it is too late.
  public func setURI(_ uri: String) throws(URIError) {
    guard let handler = unsafe uriHandler else {
      throw URIError(.unsupportedProtocol, "“\(name)” of the kind \(kind) takes no URIs")
    }
    guard unsafe gst_uri_is_valid(uri) != 0 else { throw URIError(.badURI, "“\(uri)” is not a URI") }
    var error: UnsafeMutablePointer<GError>?
    guard unsafe gst_uri_handler_set_uri(handler, uri, &error) != 0 else {
      throw unsafe URIError(owning: error, about: uri)
    }
  }

  private var uriHandler: OpaquePointer? {
    let type = unsafe UnsafeRawPointer(raw).load(as: UnsafePointer<GTypeClass>.self).pointee.g_type
    return unsafe g_type_is_a(type, gst_uri_handler_get_type()) != 0 ? OpaquePointer(raw) : nil
  }
}

extension Runtime {
  /// The `file://` URI of a path, which may be relative; `nil` for a path that has none, such as an empty one.
  public static func uri(ofFile path: String) -> String? {
    initialise()
    guard !path.isEmpty, let uri = unsafe gst_filename_to_uri(path, nil) else { return nil }
    defer { unsafe g_free(uri) }
    return unsafe String(cString: uri)
  }

  /// Whether an element is installed that takes URIs of a protocol.
  public static func handles(uriProtocol name: String, for direction: Pad.Direction = .source) -> Bool {
    initialise()
    // gst_uri_protocol_is_supported leaks the factories that it finds (1.22).
    let list = unsafe gst_registry_get_feature_list(gst_registry_get(), gst_element_factory_get_type())
    defer { unsafe gst_plugin_feature_list_free(list) }
    let type = direction == .source ? GST_URI_SRC : GST_URI_SINK
    var next = unsafe list
    while let node = unsafe next {
      unsafe next = node.pointee.next
      let factory = unsafe OpaquePointer(node.pointee.data)
      guard unsafe gst_element_factory_get_uri_type(factory) == type,
        var names = unsafe gst_element_factory_get_uri_protocols(factory)
      else { continue }
      while let candidate = unsafe names.pointee {
        if unsafe g_ascii_strcasecmp(candidate, name) == 0 { return true }
        unsafe names += 1
      }
    }
    return false
  }
}
