// SPDX-License-Identifier: MPL-2.0
package import CodecLink
import Glibc

/// The reason that no codec process could be started.
package enum ServiceError: Error, Hashable, Sendable {
  /// The program is in none of the places searched.
  case missing(places: [String])
  /// The program cannot be executed, with this `errno`.
  case notExecutable(path: String, code: Int32)
  /// The program is of another release, or is no codec service.
  case otherVersion(path: String, found: String, expected: String)
  /// The program, or a process that it has forked, ended before it was ready.
  case diesAtStart(path: String, ending: ServiceEnding)
  /// The program did not become ready in time.
  case doesNotAnswer(path: String)
  /// The kernel lacks a layer that a required sandbox needs.
  case noProtection(path: String, missing: Protection)
  /// A process or a descriptor could not be made, with this `errno`.
  case cannotBegin(path: String, code: Int32)
  /// No device could be opened, for this reason.
  case noDevice(String)
  /// The caller gave up.
  case cancelled
}

extension ServiceError: CustomStringConvertible {
  /// The failure, its place and the remedy.
  package var description: String {
    let variable = CodecServiceLocation.variable
    switch self {
    case .missing(let places):
      return
        "the codec service \(CodecServiceLocation.name) is missing (looked for \(places.joined(separator: ", "))): "
        + "install it there, or set \(variable) to its path"
    case .notExecutable(let path, let code):
      return "the codec service \(path) cannot be executed (\(Self.text(code))): make it executable for this user, "
        + "install it again, or set \(variable) to the path of another"
    case .otherVersion(let path, let found, let expected):
      return "the codec service \(path) is of version \(found), not \(expected): install both of one release, "
        + "or set \(variable) to the path of that version"
    case .diesAtStart(let path, let ending):
      return "the codec service \(path) \(ending) while it started: '\(path) --version' shows whether it runs; "
        + "install it again, or free memory"
    case .doesNotAnswer(let path):
      return "the codec service \(path) did not become ready: is the machine overloaded, or the process stopped?"
    case .noProtection(let path, let missing):
      return "the codec service \(path) cannot protect itself (missing: \(missing)): use a kernel or a container that "
        + "allows seccomp filters, or do not require the sandbox"
    case .cannotBegin(let path, let code):
      return "no process for the codec service \(path) (\(Self.text(code))): free memory, processes or descriptors; "
        + "Linux 5.4 or newer is required"
    case .noDevice(let reason): return reason
    case .cancelled: return "the start of the codec service was cancelled"
    }
  }

  private static func text(_ code: Int32) -> String {
    unsafe strerror(code).map { unsafe String(cString: $0) } ?? "\(code)"
  }
}
