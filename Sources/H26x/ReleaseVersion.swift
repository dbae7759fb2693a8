// SPDX-License-Identifier: MPL-2.0

/// Which release of the project this is. Plugin, program and packages all say what stands here.
package enum ReleaseVersion {
  /// Semantic: major, minor, patch.
  package static let text: StaticString = "0.1.0"
}
