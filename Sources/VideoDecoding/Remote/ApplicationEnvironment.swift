// SPDX-License-Identifier: MPL-2.0
import CLinux

/// Settings for applications that cannot be edited.
package enum ApplicationEnvironment {
  /// The value of an environment variable; `nil` if it is not set, and in programs that run with more rights than
  /// their user has.
  package static func value(of variable: String) -> String? {
    guard let value = unsafe secure_getenv(variable) else { return nil }
    return unsafe String(cString: value)
  }
}
