// SPDX-License-Identifier: MPL-2.0

/// The reason a discovery fails.
public enum DiscoveryError: Error, Hashable, Sendable {
  /// It is no URI.
  case invalidURI(String)
  /// It cannot be read, or no element recognizes it; with the reason.
  case failed(uri: String, reason: String)
  /// It took longer than allowed.
  case timedOut(uri: String)
  /// The task was cancelled.
  case cancelled
}

extension DiscoveryError: CustomStringConvertible {
  /// One sentence for users.
  public var description: String {
    switch self {
    case .invalidURI(let uri): "“\(uri)” is not a URI"
    case .failed(let uri, let reason): "\(uri): \(reason)"
    case .timedOut(let uri): "\(uri): discovery took too long"
    case .cancelled: "cancelled"
    }
  }
}
