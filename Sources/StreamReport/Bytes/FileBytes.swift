// SPDX-License-Identifier: MPL-2.0

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
