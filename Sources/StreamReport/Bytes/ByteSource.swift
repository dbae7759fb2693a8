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

/// A `ByteSource` of any type. It spares its users a generic parameter: generic types are not specialized across
/// modules.
struct FileBytes {
  let size: UInt64
  private let append: (UInt64, Int, inout [UInt8]) -> Void

  init(_ source: consuming some ByteSource) {
    var source = source
    size = source.size
    append = { offset, count, bytes in source.read(at: offset, count: count, appendingTo: &bytes) }
  }

  func read(at offset: UInt64, count: Int, appendingTo bytes: inout [UInt8]) { append(offset, count, &bytes) }

  func read(at offset: UInt64, count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    append(offset, count, &bytes)
    return bytes
  }
}
