// SPDX-License-Identifier: MPL-2.0

/// The reason no device can be used.
package struct HardwareError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The attempt and how it failed.
  package let reason: String
  /// A step that would help.
  package let remedy: String

  /// Describes a failure.
  package init(_ reason: String, remedy: String) {
    self.reason = reason
    self.remedy = remedy
  }

  /// One line.
  package var description: String { "\(reason): \(remedy)" }
}
