// SPDX-License-Identifier: MPL-2.0
import H26x

/// The output of `h26x --version`.
enum Release {
  static let text = "h26x \(ReleaseVersion.text)"
}
