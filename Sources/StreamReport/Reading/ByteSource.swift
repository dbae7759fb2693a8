// SPDX-License-Identifier: MPL-2.0

/// Bytes of a file, read where they are asked for: the file may be larger than memory.
public protocol ByteSource {
  /// Size of the file in bytes.
  var size: UInt64 { get }

  /// Reads bytes.
  ///
  /// - Returns: the bytes; fewer than asked for when the file ends or cannot be read.
  mutating func read(at offset: UInt64, count: Int) -> [UInt8]

  /// Reads bytes and appends them; fewer than asked for when the file ends or cannot be read. A source that can read
  /// into memory that is there already spares a copy.
  mutating func read(at offset: UInt64, count: Int, appendingTo bytes: inout [UInt8])
}

extension ByteSource {
  /// Appends what ``read(at:count:)`` gives.
  public mutating func read(at offset: UInt64, count: Int, appendingTo bytes: inout [UInt8]) {
    bytes += read(at: offset, count: count)
  }
}
