// SPDX-License-Identifier: MPL-2.0
import H26x

/// What `h26x --version` prints.
enum Release {
  static let text = "h26x \(ReleaseVersion.text)"
}
