// SPDX-License-Identifier: MPL-2.0

/// Defects of a NAL unit's header that its record does not have.
struct NALUnitHeaderDefects: Sendable {
  /// The header is cut off.
  var isTruncated = false
  /// `forbidden_zero_bit` is 1.
  var hasForbiddenBit = false
  /// `nuh_temporal_id_plus1` is 0 (H.265).
  var lacksTemporalID = false
}
