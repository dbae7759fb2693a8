// SPDX-License-Identifier: MPL-2.0

extension AnnexB {
  /// Searches for two consecutive zero bytes, with which start codes and emulation prevention begin.
  ///
  /// - Parameters:
  ///   - bytes: any bytes.
  ///   - offset: where to begin; values outside `bytes` find nothing.
  /// - Returns: the index of the first of the two bytes, or nil.
  package static func zeroPair(in bytes: Span<UInt8>, from offset: Int = 0) -> Int? {
    BulkBytes.firstZeroPair(in: bytes, from: offset)
  }

  /// Searches for `start_code_prefix_one_3bytes`, 00 00 01.
  ///
  /// - Parameters:
  ///   - bytes: any bytes.
  ///   - offset: where to begin; values outside `bytes` find nothing.
  /// - Returns: the index of the first of the three bytes, or nil. A prefix truncated by the end is not found: when
  ///   there is more data, search again from two bytes before the end.
  public static func startCode(in bytes: Span<UInt8>, from offset: Int = 0) -> Int? {
    guard offset >= 0, offset <= bytes.count - 3 else { return nil }
    var next = offset
    while var zero = BulkBytes.firstZeroPair(in: bytes, from: next) {
      while zero < bytes.count - 2, bytes[zero + 2] == 0 { zero += 1 }
      guard zero < bytes.count - 2 else { return nil }
      if bytes[zero + 2] == 1 { return zero }
      next = zero + 3
    }
    return nil
  }

  /// The header byte of the NAL unit whose start code, of 3 or 4 bytes, begins at `offset`; nil if it is truncated.
  static func header(in bytes: Span<UInt8>, behind offset: Int) -> UInt8? {
    guard let prefix = startCode(in: bytes, from: offset), prefix + 3 < bytes.count else { return nil }
    return bytes[prefix + 3]
  }
}
