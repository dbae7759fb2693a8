// SPDX-License-Identifier: MPL-2.0

/// The release of the project, for plugin, program and packages.
package enum ReleaseVersion {
  /// Semantic: major, minor, patch.
  package static let text: StaticString = "0.1.0"
}
