// SPDX-License-Identifier: MPL-2.0

/// A 64-bit FNV-1a hash of numbers and strings, for records.
public struct Digest: Sendable {
  private var state: UInt64 = 0xCBF2_9CE4_8422_2325

  public init() {}

  public var text: String { String(state, radix: 16) }

  public mutating func add(_ values: Int...) {
    for value in values {
      for shift in stride(from: 0, to: 64, by: 8) { add(byte: UInt8(truncatingIfNeeded: value >> shift)) }
    }
  }

  public mutating func add(_ name: StaticString) { add(name.description) }

  public mutating func add(_ text: String) { for byte in text.utf8 { add(byte: byte) } }

  private mutating func add(byte: UInt8) { state = (state ^ UInt64(byte)) &* 0x100_0000_01B3 }
}
