// SPDX-License-Identifier: MPL-2.0

/// Emulation prevention (7.4.1.1) of bytes in bulk; ``BitWriter`` has that of single codes.
enum EmulationPreventionBytes {
  /// Appends bytes with `emulation_prevention_three_byte`s.
  static func append(_ payload: Span<UInt8>, to output: inout [UInt8]) {
    var (copied, search) = (0, 0)
    while let pair = BulkBytes.firstZeroPair(in: payload, from: search), pair + 2 < payload.count {
      guard payload[pair + 2] <= 3 else {
        search = pair + 3
        continue
      }
      BulkBytes.append(payload, copied..<pair + 2, to: &output)
      output.append(3)
      (copied, search) = (pair + 2, pair + 2)
    }
    BulkBytes.append(payload, copied..<payload.count, to: &output)
  }
}
