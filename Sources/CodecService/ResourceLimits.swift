// SPDX-License-Identifier: MPL-2.0
import CLinux
import CodecLink
import Glibc

/// Limits a process's memory, files and descriptors.
enum ResourceLimits {
  /// Bytes of the stack of each of libavcodec's threads, which need less than a quarter of it.
  private static let stackSize = 1 << 20

  /// Whether the process was built with a sanitizer, whose shadow memory has no limit that makes sense.
  static var isSanitized: Bool { clinux_is_sanitized() != 0 }

  /// Closes `first` and all descriptors above it.
  static func closeDescriptors(from first: Int32) {
    guard clinux_close_range(UInt32(first), .max) != 0 else { return }
    // Kernels before 5.9.
    var limit = rlimit()
    unsafe getrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &limit)
    for descriptor in first..<max(first, Int32(clamping: min(limit.rlim_cur, 1 << 16))) { close(descriptor) }
  }

  /// Leaves no core, writes no file, and keeps the stacks of threads small, in this process and those that it forks.
  static func applyCommon() -> Protection {
    guard !isSanitized else { return [] }
    clinux_set_thread_stack_size(stackSize)
    return set(RLIMIT_CORE, 0) && set(RLIMIT_FSIZE, 0) && hide() ? .noFiles : []
  }

  /// Leaves no core. A driver needs larger stacks, makes memory that counts as files, and reads /proc/self, which
  /// `hide` would take from it.
  static func applyForDriver() {
    guard !isSanitized else { return }
    _ = set(RLIMIT_CORE, 0)
  }

  /// Keeps other processes of the user from attaching to this one. This also works if cores are piped to a program,
  /// which RLIMIT_CORE does not prevent.
  @discardableResult
  static func hide() -> Bool { isSanitized || clinux_prctl(PR_SET_DUMPABLE, 0) == 0 }

  /// Limits the memory of this process's own to `bytes`; 0 is no limit.
  static func limitMemory(to bytes: UInt64) -> Protection {
    guard !isSanitized, bytes > 0 else { return [] }
    // RLIMIT_AS would count memory that is only reserved, or shared with the application.
    return set(RLIMIT_DATA, rlim_t(bytes)) ? .memoryLimit : []
  }

  private static func set(_ resource: __rlimit_resource, _ value: rlim_t) -> Bool {
    var limit = rlimit(rlim_cur: value, rlim_max: value)
    return unsafe setrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0
  }
}
