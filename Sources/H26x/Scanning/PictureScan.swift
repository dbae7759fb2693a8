// SPDX-License-Identifier: MPL-2.0

/// How a picture was scanned, judged by its coding.
package enum PictureScan: Sendable, Hashable {
  /// Coded as a frame.
  case frame
  /// Coded in fields or with MBAFF, which encoders use for interlaced video only.
  case fields(isTopFirst: Bool)
}
