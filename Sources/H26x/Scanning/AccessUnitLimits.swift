// SPDX-License-Identifier: MPL-2.0

/// How much of an access unit is collected at most, so that a stream in which none ends does not fill the memory.
package enum AccessUnitLimits {
  /// Bytes. The largest pictures of the highest levels (8192 × 4320) are 53 MB of 8-bit 4:2:0 before compression.
  @inlinable package static var size: Int { 64 << 20 }
}
