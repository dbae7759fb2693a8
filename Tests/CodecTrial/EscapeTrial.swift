// SPDX-License-Identifier: MPL-2.0
import CLinux
import CodecLink
import CodecPeers
import Glibc

/// Tries an act of a process under an attacker's control, and sends the application the `errno` of its failure; 0 if
/// it worked.
enum EscapeTrial {
  @Sendable static func run(_ socket: consuming LinkSocket) -> Never {
    do throws(LinkError) {
      var message = LinkMessage(descriptorCount: 2)
      try socket.receive(into: &message)
      var reader = MessageReader(message.bytes)
      guard let attempt = EscapeAttempt(rawValue: try reader.read()), let writable = message.takeDescriptor(),
        let readable = message.takeDescriptor()
      else { _exit(1) }
      let size = EscapeAttempt.sharedByteCount
      let trial = Trial(
        writable: try SharedMemory(mapping: writable, byteCount: size, access: .writable),
        readable: try SharedMemory(mapping: readable, byteCount: size, access: .readable))
      var answer = MessageWriter()
      answer.append(Int32(trial.perform(attempt) ? 0 : errno))
      try socket.send(answer.bytes.span)
      _exit(0)
    } catch { _exit(1) }
  }

  private struct Trial {
    let writable: SharedMemory
    let readable: SharedMemory

    /// Whether it worked; `errno` has the reason why not.
    func perform(_ attempt: EscapeAttempt) -> Bool {
      let size = EscapeAttempt.sharedByteCount
      switch attempt {
      case .openFile: return unsafe open("/dev/null", O_RDONLY) >= 0
      case .makeSocket: return socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) >= 0
      case .execute:
        var arguments: [UnsafeMutablePointer<CChar>?] = unsafe [nil]
        return unsafe execv("/bin/true", &arguments) >= 0
      case .trace:
        let attach = 16
        return clinux_call(Int(SYS_ptrace), attach, Int(getppid()), 0) >= 0
      case .signalParent: return kill(getppid(), 0) == 0
      case .signalApplication: return kill(1, SIGCONT) == 0
      case .mapExecutable: return map(size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS)
      case .protectExecutable: return unsafe mprotect(writable.base, size, PROT_READ | PROT_EXEC) == 0
      case .shrinkMemory: return ftruncate(writable.rawValue, 1) == 0
      case .punchMemory: return fallocate(writable.rawValue, 3, 0, off_t(size)) == 0
      case .removePages: return unsafe madvise(writable.base, size, MADV_REMOVE) == 0
      case .writeReadOnlyMemory: return unsafe mprotect(readable.base, size, PROT_READ | PROT_WRITE) == 0
      case .makeMemory: return unsafe clinux_memfd_create("escape", 0) >= 0
      case .fillMemory: return fill(MAP_PRIVATE | MAP_ANONYMOUS)
      case .fillSharedMemory: return fill(MAP_SHARED | MAP_ANONYMOUS)
      case .fillStackMemory: return fill(MAP_PRIVATE | MAP_ANONYMOUS | Int32(MAP_GROWSDOWN))
      case .fork: return clinux_fork() >= 0
      case .forkByClone3:
        var arguments: [UInt64] = Array(repeating: 0, count: 8)
        return unsafe arguments.withUnsafeMutableBytes {
          clinux_call(435, Int(bitPattern: $0.baseAddress), $0.count, 0)
        } >= 0
      case .writeDescriptor: return unsafe write(StarterDescriptor.link, "x", 1) >= 0
      case .clearDeathSignal: return clinux_prctl(PR_SET_PDEATHSIG, 0) == 0
      case .x32Call: return clinux_call(0x4000_0000 + 39, 0, 0, 0) >= 0
      case .call32Bit: return clinux_call_32_bit() >= 0
      }
    }

    private func map(_ size: Int, _ protection: Int32, _ flags: Int32) -> Bool {
      unsafe mmap(nil, size, protection, flags, -1, 0) != UnsafeMutableRawPointer(bitPattern: -1)
    }

    /// Takes 4 GiB, more than any limit that is tried.
    private func fill(_ flags: Int32) -> Bool {
      for _ in 0..<64 { guard map(64 << 20, PROT_READ | PROT_WRITE, flags) else { return false } }
      return true
    }
  }
}
