// SPDX-License-Identifier: MPL-2.0

/// Which release of the program this is.
enum Release {
  static let text = "h26x 0.1"
}
