// SPDX-License-Identifier: MPL-2.0

/// Reads the fields of a message that another process wrote: whatever the bytes are, a field is read or an error
/// thrown.
package struct MessageReader: ~Escapable {
  private let bytes: Span<UInt8>
  private var offset = 0

  /// Begins at the first byte.
  @_lifetime(copy bytes)
  package init(_ bytes: Span<UInt8>) { self.bytes = bytes }

  /// Reads an integer of up to eight bytes.
  ///
  /// - Throws: `LinkError.invalid` if the message ends before it.
  @inlinable @_lifetime(self: copy self)
  package mutating func read<Value: FixedWidthInteger & BitwiseCopyable>(
    _ type: Value.Type = Value.self
  ) throws(LinkError) -> Value {
    Value(truncatingIfNeeded: try readInteger(byteCount: MemoryLayout<Value>.size))
  }

  /// Not generic, so that callers in other modules specialize no more than a conversion.
  @usableFromInline @_lifetime(self: copy self)
  package mutating func readInteger(byteCount: Int) throws(LinkError) -> UInt64 {
    guard byteCount <= bytes.count - offset, byteCount <= 8 else { throw .invalid }
    var value: UInt64 = 0
    for index in 0..<byteCount {
      #if _endian(little)
        value |= UInt64(bytes[offset + index]) << (index * 8)
      #else
        value = value << 8 | UInt64(bytes[offset + index])
      #endif
    }
    offset += byteCount
    return value
  }

  /// Reads a number from 0 to `limit`.
  ///
  /// - Throws: `LinkError.invalid` if it is larger.
  @_lifetime(self: copy self)
  package mutating func readCount(limit: Int) throws(LinkError) -> Int {
    guard let count = Int(exactly: try read(UInt32.self)), count <= limit else { throw .invalid }
    return count
  }

  /// Reads a flag.
  ///
  /// - Throws: `LinkError.invalid` if it is neither 0 nor 1.
  @_lifetime(self: copy self)
  package mutating func readFlag() throws(LinkError) -> Bool {
    switch try read(UInt8.self) {
    case 0: false
    case 1: true
    default: throw .invalid
    }
  }

  /// Reads bytes whose number is in front of them.
  ///
  /// - Throws: `LinkError.invalid` if there are fewer, or more than `limit`.
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
