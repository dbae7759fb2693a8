// SPDX-License-Identifier: MPL-2.0
import H26x

/// Which release of the program this is.
enum Release {
  static let text = "h26x \(ReleaseVersion.text)"
}
