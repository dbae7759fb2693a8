// SPDX-License-Identifier: MPL-2.0

/// How much of an access unit is collected at most.
enum AccessUnitLimits {
  /// Bytes. The largest pictures of the highest levels (8192 × 4320) are 53 MB of 8-bit 4:2:0 before compression.
  static let size = 64 << 20
  /// Buffers. A picture of level 5.2 with one slice for each macroblock row has 270, and with one for each macroblock
  /// more than any encoder makes.
  static let pieces = 16_384
}
