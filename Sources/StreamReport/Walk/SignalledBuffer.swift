// SPDX-License-Identifier: MPL-2.0

/// A coded picture buffer that the stream signals.
struct SignalledBuffer {
  var bitRate: UInt64
  var size: UInt64
  var isConstantBitRate: Bool
  /// Whether it holds VCL NAL units and filler data only (VCL HRD parameters).
  var holdsVCLOnly: Bool
  /// Whether a picture may arrive later than its nominal removal time (`low_delay_hrd_flag`).
  var isLowDelay: Bool
}
