// SPDX-License-Identifier: MPL-2.0

/// The caps field `alignment`: what a buffer holds.
enum StreamAlignment: String, Sendable {
  /// One access unit.
  case accessUnit = "au"
  /// One NAL unit.
  case nalUnit = "nal"
}
