// SPDX-License-Identifier: MPL-2.0

extension NALPackaging {
  /// A NAL unit with a start code of four bytes, or its length prefix, in front.
  ///
  /// - Parameter nalUnit: header and payload, with emulation prevention bytes.
  /// - Throws: `.lengthNotRepresentable` when it is too long for the length prefix.
  public func packaged(_ nalUnit: [UInt8]) throws(BitstreamError) -> [UInt8] {
    switch self {
    case .annexB: return [0, 0, 0, 1] + nalUnit
    case .lengthPrefixed(let size):
      guard nalUnit.count <= size.maximumNALUnitLength else {
        throw BitstreamError(.lengthNotRepresentable, "NALUnitLength", bitOffset: 0)
      }
      let length = (0..<size.byteCount).map {
        UInt8(truncatingIfNeeded: nalUnit.count >> (8 * (size.byteCount - 1 - $0)))
      }
      return length + nalUnit
    }
  }
}
