// SPDX-License-Identifier: MPL-2.0
import CAVCodec

/// Memory aligned for libavcodec, from an allocator that can fail.
///
/// Swift's own `allocate` traps when memory runs out, which a hostile picture size could provoke.
package enum AlignedMemory {
  /// `byteCount` zero bytes, aligned for any vector unit of this machine; nil when memory runs out.
  package static func allocate(byteCount: Int) -> UnsafeMutableRawPointer? {
    guard byteCount > 0 else { return nil }
    return unsafe cav_mallocz(byteCount)
  }

  /// Frees what `allocate` returned.
  package static func free(_ memory: UnsafeMutableRawPointer) { unsafe cav_free(memory) }
}
