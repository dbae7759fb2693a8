// SPDX-License-Identifier: MPL-2.0

/// The most bytes of an access unit that are collected. They keep a stream in which no access unit ends from filling
/// the memory.
package enum AccessUnitLimits {
  /// Bytes. The largest pictures of the highest levels (8192 × 4320) are 53 MB of 8-bit 4:2:0 before compression.
  @inlinable package static var size: Int { 64 << 20 }
}
