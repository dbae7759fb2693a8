// SPDX-License-Identifier: MPL-2.0

/// A file of any size that is read in parts.
public protocol ByteSource {
  /// Size of the file in bytes.
  var size: UInt64 { get }

  /// Reads `count` bytes at a byte offset.
  ///
  /// - Returns: the bytes; fewer at the end of the file, and if it cannot be read.
  mutating func read(at offset: UInt64, count: Int) -> [UInt8]

  /// Reads `count` bytes at a byte offset and appends them; fewer at the end of the file, and if it cannot be read. A
  /// source that implements this without the other function saves a copy.
  mutating func read(at offset: UInt64, count: Int, appendingTo bytes: inout [UInt8])
}

extension ByteSource {
  /// Appends the bytes that ``read(at:count:)`` returns.
  public mutating func read(at offset: UInt64, count: Int, appendingTo bytes: inout [UInt8]) {
    bytes += read(at: offset, count: count)
  }
}
