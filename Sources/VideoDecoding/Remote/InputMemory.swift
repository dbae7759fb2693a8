// SPDX-License-Identifier: MPL-2.0
import CodecLink

/// The memory in which a codec's process finds access units, and which it can only read. It has two halves, one for
/// each message, so that the process may still read in one while the other is filled.
struct InputMemory {
  private(set) var memory: SharedMemory
  /// The offset of the half in use.
  private var start = 0
  /// Bytes in it.
  private var byteCount = 0

  private static let smallestHalf = 1 << 16

  /// Memory whose halves have room for `byteCount` bytes.
  ///
  /// - Throws: `LinkError.invalid` for more than a packet can hold, and the kernel's errors.
  init(for byteCount: Int) throws(LinkError) {
    guard byteCount <= CodecCommand.inputLimit else { throw .invalid }
    var half = Self.smallestHalf
    while half < byteCount { half *= 2 }
    memory = try SharedMemory(byteCount: 2 * half, peerAccess: .readable)
  }

  private var half: Int { memory.byteCount / 2 }

  /// Whether `byteCount` more bytes fit in the half in use.
  func hasRoom(for byteCount: Int) -> Bool { byteCount <= half - self.byteCount }

  /// Whether they would fit in an empty half.
  func isLargeEnough(for byteCount: Int) -> Bool { byteCount <= half }

  /// Copies an access unit into the half in use. Returns its offset in the memory.
  ///
  /// - Throws: `LinkError.invalid` if there is no room for it.
  mutating func append(_ accessUnit: Span<UInt8>) throws(LinkError) -> Int {
    guard hasRoom(for: accessUnit.count) else { throw .invalid }
    let offset = start + byteCount
    try memory.write(accessUnit, at: offset)
    byteCount += accessUnit.count
    return offset
  }

  /// Uses the other half, which the process no longer needs.
  mutating func changeHalves() {
    start = half - start
    byteCount = 0
  }
}
