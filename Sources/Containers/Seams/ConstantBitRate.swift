// SPDX-License-Identifier: MPL-2.0

/// A coded picture buffer into which bits come at a constant rate, whether there are pictures or not (`cbr_flag`, C.1.1).
/// Behind small pictures, filler data keep it from an overflow.
struct ConstantBitRate {
  /// Bits a second.
  let bitRate: Double
  /// In bits.
  let size: Double
  /// Bits in the buffer when the next picture is removed.
  var bits: Double

  /// - Parameters:
  ///   - bitRate: bits a second.
  ///   - size: in bits.
  ///   - fullness: how full it is when the first picture is removed, from 0 to 1.
  init(bitRate: UInt64, size: UInt64, fullness: Double) {
    (self.bitRate, self.size) = (Double(bitRate), Double(size))
    bits = self.size * fullness
  }

  /// Removes a picture.
  ///
  /// - Parameters:
  ///   - byteCount: of its access unit without filler data.
  ///   - seconds: up to the removal of the next picture.
  ///   - wanted: how full the buffer is then, at most, from 0 to 1.
  /// - Returns: the bytes of filler data that are needed behind it.
  mutating func remove(byteCount: Int, for seconds: Double, leaving wanted: Double = 1) -> Int {
    bits = max(0, bits - Double(byteCount) * 8)
    let next = bits + bitRate * max(0, seconds)
    // Delays are rounded to ticks of 90 kHz.
    let limit = min(size * wanted, size - bitRate / 45_000)
    // Filler data belong to the picture, and have arrived when it is removed.
    let excess = min(max(0, next - limit), bits)
    let count = excess < 1e12 ? Int(excess / 8) : 0
    bits = min(next - Double(count) * 8, size)
    return count
  }
}
