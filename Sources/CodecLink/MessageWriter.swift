// SPDX-License-Identifier: MPL-2.0

/// Writes the fields of a message, integers in the machine's byte order: both ends run on it.
package struct MessageWriter {
  /// What was written.
  package internal(set) var bytes: [UInt8] = []

  /// An empty message.
  package init() {}

  /// Appends an integer, as many bytes as its type has.
  @inlinable package mutating func append(_ value: some FixedWidthInteger & BitwiseCopyable) {
    unsafe withUnsafeBytes(of: value) { unsafe bytes.append(contentsOf: $0) }
  }

  /// Appends bytes, their number in front.
  package mutating func append(_ value: [UInt8]) {
    append(UInt32(clamping: value.count))
    bytes.append(contentsOf: value)
  }

  /// Removes all, and keeps the memory for the next message.
  package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }
}
