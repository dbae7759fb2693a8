// SPDX-License-Identifier: MPL-2.0
import CLinux
import Glibc

/// Memory that application and codec service both map (memfd_create(2)).
///
/// The application makes it, and seals it so that it can be neither shrunk nor grown, which would end a process that
/// touches what is gone. The other process may change what it may write at any time: code that decides by such bytes
/// copies them first.
@safe package final class SharedMemory: @unchecked Sendable {
  /// What a process may do with the bytes.
  package enum Access: Sendable {
    /// Read them.
    case readable
    /// Read and write them.
    case writable
  }

  /// The size in bytes, at least 1.
  package let byteCount: Int
  /// The first byte. Pages are whole; valid as long as the object lives.
  package let base: UnsafeMutableRawPointer
  private let descriptor: OwnedDescriptor
  private let isWritable: Bool

  /// Makes memory of zeros that this process can write.
  ///
  /// - Parameter peerAccess: what those can do whom the descriptor is passed to.
  /// - Throws: `LinkError.invalid` for a size below 1, and what the kernel fails with.
  package init(byteCount: Int, peerAccess: Access) throws(LinkError) {
    guard byteCount > 0 else { throw .invalid }
    let flags = UInt32(CLINUX_MFD_CLOEXEC | CLINUX_MFD_ALLOW_SEALING)
    // Kernels before 6.3 do not have the flag that forbids executing the bytes.
    var raw = unsafe clinux_memfd_create("h26x", flags | UInt32(CLINUX_MFD_NOEXEC_SEAL))
    if raw < 0, errno == EINVAL { raw = unsafe clinux_memfd_create("h26x", flags) }
    let descriptor = OwnedDescriptor(owning: try LinkError.check(raw))
    try LinkError.check(ftruncate(descriptor.rawValue, byteCount))
    unsafe base = unsafe try Self.map(descriptor.rawValue, byteCount: byteCount, access: .writable)
    self.byteCount = byteCount
    isWritable = true
    var seals = CLINUX_F_SEAL_SHRINK | CLINUX_F_SEAL_GROW | CLINUX_F_SEAL_SEAL
    // Mappings that exist may still write; it forbids new ones, and punching holes.
    if peerAccess == .readable { seals |= CLINUX_F_SEAL_FUTURE_WRITE }
    let result = fcntl(descriptor.rawValue, Int32(CLINUX_F_ADD_SEALS), Int32(seals))
    self.descriptor = descriptor
    try LinkError.check(result)
  }

  /// Maps memory that the other process has made.
  ///
  /// - Throws: `LinkError.invalid` where it is not `byteCount` bytes, and what the kernel fails with.
  package init(mapping descriptor: consuming OwnedDescriptor, byteCount: Int, access: Access) throws(LinkError) {
    var status = stat()
    try LinkError.check(unsafe clinux_fstat(descriptor.rawValue, &status))
    guard byteCount > 0, status.st_size == byteCount else { throw .invalid }
    unsafe base = unsafe try Self.map(descriptor.rawValue, byteCount: byteCount, access: access)
    self.byteCount = byteCount
    isWritable = access == .writable
    self.descriptor = descriptor
  }

  deinit { unsafe munmap(base, byteCount) }

  private static func map(
    _ descriptor: Int32, byteCount: Int, access: Access
  ) throws(LinkError) -> UnsafeMutableRawPointer {
    let protection = access == .writable ? PROT_READ | PROT_WRITE : PROT_READ
    let address = unsafe mmap(nil, byteCount, protection, MAP_SHARED, descriptor, 0)
    guard let address = unsafe address, unsafe address != UnsafeMutableRawPointer(bitPattern: -1) else { throw .last }
    return unsafe address
  }

  /// To be passed to the other process.
  package var rawValue: Int32 { descriptor.rawValue }

  /// Copies bytes from `offset` on into `target`, as many as it takes.
  ///
  /// - Throws: `LinkError.invalid` where that many are not there.
  package func read(at offset: Int, into target: inout MutableSpan<UInt8>) throws(LinkError) {
    let range = try range(at: offset, count: target.count)
    unsafe target.withUnsafeMutableBytes { target in
      // SAFETY: `range` lies within the mapping.
      unsafe target.copyMemory(from: UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count))
    }
  }

  /// Copies `source` to `offset`.
  ///
  /// - Throws: `LinkError.invalid` where there is no room for it, or where this process may not write.
  package func write(_ source: Span<UInt8>, at offset: Int) throws(LinkError) {
    guard isWritable else { throw .invalid }
    let range = try range(at: offset, count: source.count)
    unsafe source.withUnsafeBytes { source in
      // SAFETY: `range` lies within the mapping, which is writable.
      unsafe UnsafeMutableRawBufferPointer(start: base + range.lowerBound, count: range.count).copyMemory(from: source)
    }
  }

  /// The range of `count` bytes at `offset`, which lies within the memory.
  private func range(at offset: Int, count: Int) throws(LinkError) -> Range<Int> {
    guard offset >= 0, count >= 0, count <= byteCount, offset <= byteCount - count else { throw .invalid }
    return offset..<offset + count
  }
}
