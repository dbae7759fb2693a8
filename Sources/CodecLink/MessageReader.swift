// SPDX-License-Identifier: MPL-2.0

/// Reads the fields of a message that another process wrote: whatever the bytes are, a field is read or an error thrown.
package struct MessageReader: ~Escapable {
  @usableFromInline let bytes: Span<UInt8>
  @usableFromInline var offset = 0

  /// Begins at the first byte.
  @_lifetime(copy bytes)
  package init(_ bytes: Span<UInt8>) { self.bytes = bytes }

  /// Reads an integer.
  ///
  /// - Throws: `LinkError.invalid` where the message ends before it.
  @inlinable @_lifetime(self: copy self)
  package mutating func read<Value: FixedWidthInteger & BitwiseCopyable>(
    _ type: Value.Type = Value.self
  ) throws(LinkError) -> Value {
    let size = MemoryLayout<Value>.size
    guard size <= bytes.count - offset else { throw .invalid }
    var value = Value()
    for index in 0..<size {
      let byte = Value(truncatingIfNeeded: bytes[offset + index])
      #if _endian(little)
        value |= byte << Value(index * 8)
      #else
        value |= byte << Value((size - 1 - index) * 8)
      #endif
    }
    offset += size
    return value
  }

  /// Reads bytes whose number is in front of them.
  ///
  /// - Throws: `LinkError.invalid` where there are fewer, or more than `limit`.
  @_lifetime(self: copy self)
  package mutating func readBytes(limit: Int) throws(LinkError) -> [UInt8] {
    let count = Int(try read(UInt32.self))
    guard count <= limit, count <= bytes.count - offset else { throw .invalid }
    var result: [UInt8] = []
    result.reserveCapacity(count)
    for index in offset..<offset + count { result.append(bytes[index]) }
    offset += count
    return result
  }

  /// Whether nothing is left.
  package var isAtEnd: Bool { offset == bytes.count }

  /// Ends: nothing may be left.
  ///
  /// - Throws: `LinkError.invalid` where something is.
  package func finish() throws(LinkError) { if offset != bytes.count { throw .invalid } }
}
