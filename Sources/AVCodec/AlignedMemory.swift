// SPDX-License-Identifier: MPL-2.0
import CAVCodec

/// Memory as libavcodec's routines want it, from an allocator that may say no.
///
/// Swift's own `allocate` traps when memory runs out; here a hostile picture size could make it.
package enum AlignedMemory {
  /// `byteCount` zero bytes, aligned for any vector unit of this machine; nil when there are none.
  package static func allocate(byteCount: Int) -> UnsafeMutableRawPointer? {
    guard byteCount > 0 else { return nil }
    return unsafe cav_mallocz(byteCount)
  }

  /// Gives back what `allocate` returned.
  package static func free(_ memory: UnsafeMutableRawPointer) { unsafe cav_free(memory) }
}
