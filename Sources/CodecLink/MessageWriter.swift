// SPDX-License-Identifier: MPL-2.0

/// Writes the fields of a message, integers in the machine's byte order: both ends run on it.
package struct MessageWriter {
  /// The bytes written.
  package private(set) var bytes: [UInt8] = []

  /// An empty message.
  package init() {}

  /// Appends an integer, as many bytes as its type has, up to eight.
  @inlinable package mutating func append(_ value: some FixedWidthInteger & BitwiseCopyable) {
    append(UInt64(truncatingIfNeeded: value), byteCount: MemoryLayout.size(ofValue: value))
  }

  /// Not generic, so that callers in other modules specialize no more than a conversion.
  @usableFromInline package mutating func append(_ value: UInt64, byteCount: Int) {
    for index in 0..<byteCount {
      #if _endian(little)
        bytes.append(UInt8(truncatingIfNeeded: value >> (index * 8)))
      #else
        bytes.append(UInt8(truncatingIfNeeded: value >> ((byteCount - 1 - index) * 8)))
      #endif
    }
  }

  /// Appends a number that is not negative.
  package mutating func append(count: Int) { append(UInt32(clamping: count)) }

  /// Appends a flag.
  package mutating func append(_ flag: Bool) { append(UInt8(flag ? 1 : 0)) }

  /// Appends bytes, their number in front.
  package mutating func append(_ value: [UInt8]) {
    append(UInt32(clamping: value.count))
    bytes.append(contentsOf: value)
  }

  /// Removes all, and keeps the memory for the next message.
  package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }
}
