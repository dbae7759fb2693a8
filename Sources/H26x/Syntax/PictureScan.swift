// SPDX-License-Identifier: MPL-2.0

/// How a picture was scanned, judged by the way it is coded.
package enum PictureScan: Sendable, Hashable {
  /// Coded as a whole.
  case frame
  /// Coded in fields or in pairs of field and frame macroblocks (MBAFF), which nobody does without need.
  case fields(isTopFirst: Bool)
}
