// SPDX-License-Identifier: MPL-2.0

/// The coded picture buffer of the hypothetical reference decoder (Annex C), as a leaky bucket: bits come in at a
/// constant rate, a picture's bits go out at once when it is decoded.
struct CodedPictureBuffer: Sendable {
  /// Bits a second.
  let bitRate: Double
  /// In bits.
  let size: Double
  /// Whether bits come in even when the buffer is full (`cbr_flag`).
  let isConstantBitRate: Bool
  private var fullness: Double

  /// What happened when a picture was taken out.
  struct Removal: Sendable {
    /// Bits in the buffer right before.
    var fullness: Int64
    /// Bits that had not arrived.
    var missing: Int64
    /// Bits that had no room.
    var excess: Int64
  }

  /// - Parameter fullness: bits in the buffer when the first picture is taken out; nil for a full one.
  init(bitRate: UInt64, size: UInt64, isConstantBitRate: Bool, fullness: Double? = nil) {
    self.bitRate = Double(bitRate)
    self.size = Double(size)
    self.isConstantBitRate = isConstantBitRate
    self.fullness = min(fullness ?? Double(size), Double(size))
  }

  /// Delays are sent in ticks of 90 kHz; a few of them are no fault.
  private var tolerance: Double { bitRate / 90_000 * 4 + 64 }

  /// Lets `seconds` go by, then takes a picture out.
  mutating func remove(bits: UInt64, after seconds: Double) -> Removal {
    fullness += bitRate * seconds
    var excess = 0.0
    if fullness > size {
      if isConstantBitRate, fullness > size + tolerance { excess = fullness - size }
      fullness = size
    }
    let before = fullness
    fullness -= Double(bits)
    var missing = 0.0
    if fullness < 0 {
      if fullness < -tolerance { missing = -fullness }
      // What is late delays what follows; counted once.
      fullness = 0
    }
    return Removal(fullness: Self.whole(before), missing: Self.whole(missing), excess: Self.whole(excess))
  }

  private static func whole(_ bits: Double) -> Int64 { bits < 9e18 ? Int64(bits) : Int64.max }
}
