// SPDX-License-Identifier: MPL-2.0
import Glibc

/// The reason a message between application and codec service was not exchanged, or memory was not shared.
package enum LinkError: Error, Hashable, Sendable {
  /// The other end is closed, or its process has ended.
  case closed
  /// The deadline passed.
  case timedOut
  /// The wait was cancelled.
  case cancelled
  /// A message, a descriptor or a size is not what the protocol allows.
  case invalid
  /// A system call failed with this `errno`.
  case system(Int32)

  /// The error of the last system call.
  package static var last: LinkError {
    switch errno {
    case EPIPE, ECONNRESET: .closed
    case let code: .system(code)
    }
  }

  /// Returns the result of a system call, or throws its error if it is negative.
  @discardableResult
  package static func check(_ result: Int32) throws(LinkError) -> Int32 {
    guard result >= 0 else { throw last }
    return result
  }
}
