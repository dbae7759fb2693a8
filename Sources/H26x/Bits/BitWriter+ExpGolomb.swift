// SPDX-License-Identifier: MPL-2.0

// Exp-Golomb codes (9.1).
extension BitWriter {
  /// Writes `ue(v)` (9.1).
  ///
  /// - Parameter value: 0 to 2³² − 2. 2³² − 1, which has no code, is written as 2³² − 2.
  public mutating func ue(_ value: UInt32) {
    let code = UInt64(min(value, UInt32.max - 1)) + 1
    let length = 64 - code.leadingZeroBitCount
    u(length - 1, 0)
    // length is at most 32, since the code number is at most 2³² − 1.
    u(length, UInt32(truncatingIfNeeded: code))
  }

  /// Writes `se(v)` (9.1.1).
  ///
  /// - Parameter value: any but `Int32.min`, which has no code and is written as `Int32.min + 1`.
  public mutating func se(_ value: Int32) {
    let value = max(value, Int32.min + 1)
    ue(value > 0 ? 2 * value.magnitude - 1 : 2 * value.magnitude)
  }
}
