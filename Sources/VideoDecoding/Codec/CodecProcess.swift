// SPDX-License-Identifier: MPL-2.0
package import CodecLink

/// The process that a codec is in.
package struct CodecProcess: Sendable {
  /// Its number, to be shown.
  package let identifier: Int32
  /// The layers of protection that are missing around it.
  package let missingProtection: Protection
}
