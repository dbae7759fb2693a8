// SPDX-License-Identifier: MPL-2.0

/// The coded picture buffer of the HRD (Annex C) as a leaky bucket. Bits enter at a constant rate, and all bits of a
/// picture are removed at its decoding time.
struct CodedPictureBuffer: Sendable {
  /// Bits a second.
  let bitRate: Double
  /// In bits.
  let size: Double
  /// Whether bits enter even when the buffer is full (`cbr_flag`).
  let isConstantBitRate: Bool
  /// Whether a picture may arrive late (`low_delay_hrd_flag`): it is removed when it is complete, and the removal times
  /// of those after it stay as they are (C.1.2).
  let isLowDelay: Bool
  /// Bits in the buffer; less than 0 while bits of a late picture arrive.
  private var fullness: Double

  /// The result of the removal of a picture.
  struct Removal: Sendable {
    /// Bits in the buffer just before.
    var fullness: Int64
    /// Bits of the picture that had not arrived; 0 without an underflow.
    var missing: Int64
    /// Bits that exceeded the size; 0 without an overflow.
    var excess: Int64
  }

  /// - Parameter fullness: bits in the buffer at the removal of the first picture; nil for a full buffer.
  init(
    bitRate: UInt64, size: UInt64, isConstantBitRate: Bool, isLowDelay: Bool = false, fullness: Double? = nil
  ) {
    self.bitRate = Double(bitRate)
    self.size = Double(size)
    self.isConstantBitRate = isConstantBitRate
    self.isLowDelay = isLowDelay
    self.fullness = min(fullness ?? Double(size), Double(size))
  }

  /// The bits of four ticks, and 64: delays are rounded to ticks of 90 kHz.
  private var tolerance: Double { bitRate / 90_000 * 4 + 64 }

  /// Removes a picture, `seconds` after the picture before.
  mutating func remove(bits: UInt64, after seconds: Double) -> Removal {
    fullness += bitRate * seconds
    var excess = 0.0
    if fullness > size {
      if isConstantBitRate, fullness > size + tolerance { excess = fullness - size }
      fullness = size
    }
    let before = max(0, fullness)
    fullness -= Double(bits)
    var missing = 0.0
    if fullness < 0, !isLowDelay {
      if fullness < -tolerance { missing = -fullness }
      // So that one late picture does not make those after it late too.
      fullness = 0
    }
    return Removal(fullness: Self.whole(before), missing: Self.whole(missing), excess: Self.whole(excess))
  }

  private static func whole(_ bits: Double) -> Int64 { bits < 9e18 ? Int64(bits) : Int64.max }
}

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
