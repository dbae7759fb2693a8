// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// The reason an element does not take a URI, or no element exists for it (`GstURIError`, gst/gsturi.h).
public struct URIError: Error, Hashable, Sendable {
  /// The kind of error.
  public enum Reason: UInt32, Sendable {
    /// No element handles URIs of this protocol.
    case unsupportedProtocol
    /// It is no URI, or none that the element understands.
    case badURI
    /// The element cannot take another URI in its state.
    case badState
    /// The resource of the URI does not exist, or cannot.
    case badReference
  }

  /// The kind of error.
  public var reason: Reason
  /// One sentence for users.
  public var message: String

  /// An error.
  public init(_ reason: Reason, _ message: String) { (self.reason, self.message) = (reason, message) }

  /// Takes over a C error; without one, the reason is `badURI`.
  @unsafe init(owning error: UnsafeMutablePointer<GError>?, about uri: String) {
    guard let error = unsafe error else {
      self.init(.badURI, "“\(uri)” was not accepted")
      return
    }
    let isURIError = unsafe error.pointee.domain == gst_uri_error_quark()
    let code = unsafe isURIError ? UInt32(exactly: error.pointee.code) : nil
    self.init(
      code.flatMap(Reason.init) ?? .badReference,
      unsafe error.pointee.message.map { unsafe String(cString: $0) } ?? "“\(uri)” was not accepted")
    unsafe g_error_free(error)
  }
}

extension URIError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}
