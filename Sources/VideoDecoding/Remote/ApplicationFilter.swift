// SPDX-License-Identifier: MPL-2.0
import CLinux
import Glibc

/// The filter of system calls that the application itself is behind, as indexers of desktops are.
package enum ApplicationFilter {
  /// Whether the filter forbids the calls that a codec's process needs. Found once, by a child that tries them: a
  /// forbidden call may end its caller. Without a filter nothing is tried.
  package static let forbidsProcesses = isActive && trialIsForbidden()

  /// A child's status if a call has failed, and if the service cannot be executed.
  private static let (failure, noService): (Int32, Int32) = (3, 127)

  /// Whether there is a filter (`Seccomp` of proc_pid_status(5)). prctl(2) would return the same, unless the filter
  /// forbids it.
  private static var isActive: Bool {
    let file = unsafe open("/proc/self/status", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    var text: [UInt8] = []
    var bytes = [UInt8](repeating: 0, count: 4096)
    while text.count < 1 << 16 {
      let count = unsafe read(file, &bytes, bytes.count)
      guard count > 0 else { break }
      text += bytes.prefix(count)
    }
    return String(decoding: text, as: UTF8.self).split(separator: "\n").contains { $0 == "Seccomp:\t2" }
  }

  private static func trialIsForbidden() -> Bool {
    guard let location = try? CodecServiceLocation.find() else { return false }
    // Made here: a fork of a process with several threads must not allocate.
    let path = location.path.map { CChar(bitPattern: $0) } + [0]
    var arguments = unsafe [strdup(CodecServiceLocation.name), strdup(CodecServiceLocation.trial), nil]
    var environment: [UnsafeMutablePointer<CChar>?] = unsafe [nil]
    defer { for index in unsafe arguments.indices { unsafe free(arguments[index]) } }
    let child = clinux_fork()
    guard child != 0 else {
      guard performCalls() else { _exit(failure) }
      unsafe execve(path, &arguments, &environment)
      _exit(errno == EPERM || errno == ENOSYS ? failure : noService)
    }
    guard child > 0 else { return errno == EPERM || errno == ENOSYS }
    var status: Int32 = 0
    while unsafe waitpid(child, &status, 0) < 0 { guard errno == EINTR else { return false } }
    let signal = status & 0x7F
    return signal == SIGSYS || signal == 0 && status >> 8 & 0xFF == failure
  }

  /// Makes the calls with which the application starts a process and shares memory with it.
  private static func performCalls() -> Bool {
    signal(SIGSYS, SIG_DFL)
    var ends: (Int32, Int32) = (-1, -1)
    return unsafe withUnsafeMutablePointer(to: &ends) { ends in
      unsafe ends.withMemoryRebound(to: Int32.self, capacity: 2) { ends in
        guard unsafe socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0, ends) == 0,
          fcntl(unsafe ends[0], F_DUPFD_CLOEXEC, 5) >= 0, unsafe clinux_pipe(ends, O_CLOEXEC) == 0,
          clinux_eventfd(UInt32(O_CLOEXEC | O_NONBLOCK)) >= 0
        else { return false }
        let memory = unsafe clinux_memfd_create("h26x", UInt32(CLINUX_MFD_CLOEXEC | CLINUX_MFD_ALLOW_SEALING))
        guard memory >= 0, ftruncate(memory, 4096) == 0,
          fcntl(memory, Int32(CLINUX_F_ADD_SEALS), Int32(CLINUX_F_SEAL_SHRINK)) == 0
        else { return false }
        let process = clinux_pidfd_open(getpid())
        return process >= 0 && clinux_pidfd_send_signal(process, 0) == 0
      }
    }
  }
}
