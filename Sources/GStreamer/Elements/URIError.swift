// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// Why an element does not take a URI, or there is none for it (`GstURIError`, gst/gsturi.h).
public struct URIError: Error, Hashable, Sendable {
  /// What is wrong.
  public enum Reason: UInt32, Sendable {
    /// Nobody handles URIs of this protocol.
    case unsupportedProtocol
    /// It is no URI, or none that the element understands.
    case badURI
    /// The element cannot take another URI in its state.
    case badState
    /// What the URI refers to is not there, or cannot be.
    case badReference
  }

  /// What is wrong.
  public var reason: Reason
  /// One sentence for users.
  public var message: String

  /// An error.
  public init(_ reason: Reason, _ message: String) { (self.reason, self.message) = (reason, message) }

  /// Takes over a C error; without one, the reason is `badURI`.
  @unsafe init(owning error: UnsafeMutablePointer<GError>?, about uri: String) {
    guard let error = unsafe error else {
      self.init(.badURI, "“\(uri)” is not taken")
      return
    }
    let isURIError = unsafe error.pointee.domain == gst_uri_error_quark()
    let code = unsafe isURIError ? UInt32(exactly: error.pointee.code) : nil
    self.init(
      code.flatMap(Reason.init) ?? .badReference,
      unsafe error.pointee.message.map { unsafe String(cString: $0) } ?? "“\(uri)” is not taken")
    unsafe g_error_free(error)
  }
}

extension URIError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}
