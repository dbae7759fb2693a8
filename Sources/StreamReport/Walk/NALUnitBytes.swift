// SPDX-License-Identifier: MPL-2.0

/// A NAL unit, or of a long one its first bytes and the last.
struct NALUnitBytes: ~Escapable {
  /// The first bytes: all, or as many as its slice header can have.
  let head: Span<UInt8>
  /// Bytes of the whole NAL unit.
  let size: Int
  /// Its last byte.
  let last: UInt8

  /// Whether ``head`` is all of it.
  var isWhole: Bool { head.count == size }

  /// A whole NAL unit of one byte at least.
  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>) { self.init(head: bytes, size: bytes.count, last: bytes[bytes.count - 1]) }

  @_lifetime(copy head)
  init(head: Span<UInt8>, size: Int, last: UInt8) { (self.head, self.size, self.last) = (head, size, last) }
}
