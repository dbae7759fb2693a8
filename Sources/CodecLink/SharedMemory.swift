// SPDX-License-Identifier: MPL-2.0
import CLinux
import Glibc
import Synchronization

/// Memory that application and codec service both map (memfd_create(2)).
///
/// The application makes it, and seals its size: a process that touches memory which has been cut off would end. The
/// other process may change its writable bytes at any time: code that decides by such bytes copies them first.
@safe package final class SharedMemory: @unchecked Sendable {
  /// The access that a process has to the bytes.
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
  /// -1 once it is closed.
  private let descriptor: Mutex<Int32>
  private let isWritable: Bool

  /// Makes memory of zeros that this process can write.
  ///
  /// - Parameter peerAccess: what those can do whom the descriptor is passed to.
  /// - Throws: `LinkError.invalid` for a size below 1, and the kernel's errors.
  package init(byteCount: Int, peerAccess: Access) throws(LinkError) {
    guard byteCount > 0 else { throw .invalid }
    let flags = UInt32(CLINUX_MFD_CLOEXEC | CLINUX_MFD_ALLOW_SEALING)
    // Kernels before 6.3 do not have the flag that forbids executing the bytes.
    var raw = unsafe clinux_memfd_create("h26x", flags | UInt32(CLINUX_MFD_NOEXEC_SEAL))
    if raw < 0, errno == EINVAL { raw = unsafe clinux_memfd_create("h26x", flags) }
    let descriptor = OwnedDescriptor(owning: try LinkError.check(raw))
    try Self.size(descriptor.rawValue, byteCount)
    unsafe base = unsafe try Self.map(descriptor.rawValue, byteCount: byteCount, access: .writable)
    self.byteCount = byteCount
    isWritable = true
    var seals = CLINUX_F_SEAL_SHRINK | CLINUX_F_SEAL_GROW | CLINUX_F_SEAL_SEAL
    // Mappings that exist may still write; the seal forbids new mappings, and punching holes.
    if peerAccess == .readable { seals |= CLINUX_F_SEAL_FUTURE_WRITE }
    let result = fcntl(descriptor.rawValue, Int32(CLINUX_F_ADD_SEALS), Int32(seals))
    self.descriptor = Mutex(descriptor.release())
    try LinkError.check(result)
  }

  /// Maps memory that the other process has made.
  ///
  /// - Throws: `LinkError.invalid` if it is not `byteCount` bytes, and the kernel's errors.
  package init(mapping descriptor: consuming OwnedDescriptor, byteCount: Int, access: Access) throws(LinkError) {
    var status = stat()
    try LinkError.check(unsafe clinux_fstat(descriptor.rawValue, &status))
    guard byteCount > 0, status.st_size == byteCount else { throw .invalid }
    unsafe base = unsafe try Self.map(descriptor.rawValue, byteCount: byteCount, access: access)
    self.byteCount = byteCount
    isWritable = access == .writable
    self.descriptor = Mutex(descriptor.release())
  }

  deinit {
    closeDescriptor()
    unsafe munmap(base, byteCount)
  }

  /// Sizes memory. The kernel does not only refuse a size beyond the limit of files: it sends this thread a signal that
  /// would end the application (SIGXFSZ). Asking for the limit takes a call that sandboxes of applications forbid.
  private static func size(_ descriptor: Int32, _ byteCount: Int) throws(LinkError) {
    var (signals, mask) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGXFSZ)
    unsafe pthread_sigmask(SIG_BLOCK, &signals, &mask)
    let result = ftruncate(descriptor, byteCount)
    let error = LinkError.last
    if result < 0, error == .system(EFBIG), unsafe sigismember(&mask, SIGXFSZ) != 1 {
      var now = timespec()
      while unsafe sigtimedwait(&signals, nil, &now) < 0, errno == EINTR {}
    }
    unsafe pthread_sigmask(SIG_SETMASK, &mask, nil)
    if result < 0 { throw error }
  }

  private static func map(
    _ descriptor: Int32, byteCount: Int, access: Access
  ) throws(LinkError) -> UnsafeMutableRawPointer {
    let protection = access == .writable ? PROT_READ | PROT_WRITE : PROT_READ
    let address = unsafe mmap(nil, byteCount, protection, MAP_SHARED, descriptor, 0)
    guard let address = unsafe address, unsafe address != UnsafeMutableRawPointer(bitPattern: -1) else { throw .last }
    return unsafe address
  }

  /// To be passed to the other process; -1 once it is closed.
  package var rawValue: Int32 { descriptor.withLock { $0 } }

  /// Closes the descriptor, if no code needs it once both processes have mapped the memory. The memory stays.
  package func closeDescriptor() {
    let number = descriptor.withLock { descriptor in exchange(&descriptor, with: -1) }
    if number >= 0 { close(number) }
  }

  /// Copies bytes starting at `offset` into `target`, as many as it takes.
  ///
  /// - Throws: `LinkError.invalid` if there are fewer bytes.
  package func read(at offset: Int, into target: inout MutableSpan<UInt8>) throws(LinkError) {
    let range = try range(at: offset, count: target.count)
    unsafe target.withUnsafeMutableBytes { target in
      // SAFETY: `range` lies within the mapping.
      unsafe target.copyMemory(from: UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count))
    }
  }

  /// Copies `source` to `offset`.
  ///
  /// - Throws: `LinkError.invalid` if there is no room for it, or if this process may not write.
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
