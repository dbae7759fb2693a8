// SPDX-License-Identifier: MPL-2.0
import CLinux
import CodecLink
import Glibc

/// The system calls that a session's process may use: those that decoding was seen to need, as a program for the kernel
/// (seccomp(2)). Every other one ends the process.
struct SeccompFilter {
  /// The processors whose calls are in the table.
  enum Architecture: UInt32, CaseIterable {
    case x86 = 0xC000_003E  // AUDIT_ARCH_X86_64
    case arm = 0xC000_00B7  // AUDIT_ARCH_AARCH64

    /// The architecture of this build.
    static let current: Architecture? = {
      #if arch(x86_64)
        .x86
      #elseif arch(arm64)
        .arm
      #else
        nil
      #endif
    }()
  }

  /// The table, with the calls of every picture in front.
  let rules: [SystemCallRule]
  /// The verdict for calls that are in no row.
  let otherwise: FilterVerdict

  /// The filter of a process.
  ///
  /// - Parameter allowsDriver: a GPU's driver has been opened in it.
  init(process: pid_t, allowsDriver: Bool = false) {
    let anonymous = UInt32(MAP_ANONYMOUS)
    let shared = UInt32(MAP_SHARED)
    otherwise = allowsDriver ? .fail(EPERM) : .kill
    rules =
      (allowsDriver ? Self.driverRules : []) + [
        SystemCallRule("futex", x86: 202, arm: 98),
        SystemCallRule("recvmsg", x86: 47, arm: 212),
        SystemCallRule("sendmsg", x86: 46, arm: 211),
        SystemCallRule("poll", x86: 7, arm: nil),
        SystemCallRule("ppoll", x86: 271, arm: 73),
        SystemCallRule("recvfrom", x86: 45, arm: 207),
        SystemCallRule("sendto", x86: 44, arm: 206),
        // RLIMIT_DATA counts neither memory that is shared nor stacks: neither can be made.
        SystemCallRule(
          "mmap", x86: 9, arm: 222,
          where: .argument(2, hasNone: UInt32(PROT_EXEC)), .argument(3, hasNone: UInt32(MAP_GROWSDOWN)),
          .argument(3, lacksOneOf: anonymous | shared)),
        SystemCallRule("mprotect", x86: 10, arm: 226, where: .argument(2, hasNone: UInt32(PROT_EXEC))),
        SystemCallRule("munmap", x86: 11, arm: 215),
        SystemCallRule("mremap", x86: 25, arm: 216),
        // MADV_REMOVE punches holes into shared memory.
        SystemCallRule(
          "madvise", x86: 28, arm: 233,
          where: .argument(
            2, isOneOf: UInt32(MADV_NORMAL), UInt32(MADV_WILLNEED), UInt32(MADV_DONTNEED), UInt32(MADV_FREE),
            UInt32(MADV_HUGEPAGE), UInt32(MADV_NOHUGEPAGE), Self.installGuard, Self.removeGuard)),
        SystemCallRule("brk", x86: 12, arm: 214),
        // The size of memory that the application shares.
        SystemCallRule("fstat", x86: 5, arm: 80),
        SystemCallRule("close", x86: 3, arm: 57),
        SystemCallRule("rt_sigaction", x86: 13, arm: 134),
        SystemCallRule("rt_sigprocmask", x86: 14, arm: 135),
        SystemCallRule("rt_sigreturn", x86: 15, arm: 139),
        SystemCallRule("set_robust_list", x86: 273, arm: 99),
        SystemCallRule("rseq", x86: 334, arm: 293),
        SystemCallRule("membarrier", x86: 324, arm: 283),
        SystemCallRule("sched_getaffinity", x86: 204, arm: 123),
        SystemCallRule("sched_yield", x86: 24, arm: 124),
        SystemCallRule("getrandom", x86: 318, arm: 278),
        SystemCallRule("gettid", x86: 186, arm: 178),
        SystemCallRule("getpid", x86: 39, arm: 172),
        SystemCallRule("clock_gettime", x86: 228, arm: 113),
        SystemCallRule("clock_nanosleep", x86: 230, arm: 115),
        SystemCallRule("nanosleep", x86: 35, arm: 101),
        SystemCallRule("restart_syscall", x86: 219, arm: 128),
        SystemCallRule("exit", x86: 60, arm: 93),
        SystemCallRule("exit_group", x86: 231, arm: 94),
        // Threads, of this process and its namespaces.
        SystemCallRule(
          "clone", x86: 56, arm: 220,
          where: .argument(0, hasAll: UInt32(CLINUX_CLONE_THREAD)), .argument(0, hasNone: Self.namespaces)),
        // Its flags are behind a pointer. The C library takes clone instead.
        SystemCallRule("clone3", x86: 435, arm: 435, .fail(ENOSYS)),
        // The C library looks for a file while libavcodec queries the number of processors.
        SystemCallRule("openat", x86: 257, arm: 56, .fail(EACCES)),
        SystemCallRule("prctl", x86: 157, arm: 167, where: .argument(0, isOneOf: UInt32(PR_SET_NAME))),
        // abort(3).
        SystemCallRule("tgkill", x86: 234, arm: 131, where: .argument(0, isOneOf: UInt32(bitPattern: process))),
        // The last messages of a process that ends, which nothing reads.
        SystemCallRule("write", x86: 1, arm: 64, where: .argument(0, isOneOf: UInt32(STDERR_FILENO))),
        SystemCallRule("writev", x86: 20, arm: 66, where: .argument(0, isOneOf: UInt32(STDERR_FILENO))),
        // Code that writes them queries whether standard error is a terminal: it is not.
        SystemCallRule("ioctl", x86: 16, arm: 29, .fail(ENOTTY)),
      ]
  }

  /// The calls that drivers were seen to make, or may make, after they have decoded a picture. These rows stand before
  /// rows of the same call below, and take their place. Drivers differ: a call that is in no row fails, and does not
  /// end the process.
  private static let driverRules: [SystemCallRule] = [
    SystemCallRule("ioctl", x86: 16, arm: 29),
    SystemCallRule(
      "mmap", x86: 9, arm: 222, where: .argument(2, hasNone: UInt32(PROT_EXEC))),
    SystemCallRule("madvise", x86: 28, arm: 233),
    // Landlock decides which files may be opened.
    SystemCallRule("openat", x86: 257, arm: 56),
    SystemCallRule("read", x86: 0, arm: 63),
    SystemCallRule("write", x86: 1, arm: 64),
    SystemCallRule("writev", x86: 20, arm: 66),
    SystemCallRule("pread64", x86: 17, arm: 67),
    SystemCallRule("lseek", x86: 8, arm: 62),
    SystemCallRule("stat", x86: 4, arm: nil),
    SystemCallRule("newfstatat", x86: 262, arm: 79),
    SystemCallRule("getdents64", x86: 217, arm: 61),
    SystemCallRule("dup", x86: 32, arm: 23),
    SystemCallRule("dup3", x86: 292, arm: 24),
    SystemCallRule("fcntl", x86: 72, arm: 25),
    SystemCallRule("memfd_create", x86: 319, arm: 279),
    SystemCallRule("ftruncate", x86: 77, arm: 46),
    SystemCallRule("eventfd2", x86: 290, arm: 19),
    SystemCallRule("pipe2", x86: 293, arm: 59),
    SystemCallRule("mlock", x86: 149, arm: 228),
    SystemCallRule("munlock", x86: 150, arm: 229),
    SystemCallRule("pause", x86: 34, arm: nil),
    SystemCallRule("execve", x86: 59, arm: 221, .kill),
    SystemCallRule("execveat", x86: 322, arm: 281, .kill),
    SystemCallRule("fork", x86: 57, arm: nil, .kill),
    SystemCallRule("vfork", x86: 58, arm: nil, .kill),
    SystemCallRule("ptrace", x86: 101, arm: 117, .kill),
    SystemCallRule("process_vm_readv", x86: 310, arm: 270, .kill),
    SystemCallRule("process_vm_writev", x86: 311, arm: 271, .kill),
  ]

  /// Guard pages of threads' stacks, from glibc 2.42 on (MADV_GUARD_INSTALL and MADV_GUARD_REMOVE of Linux 6.13).
  private static let (installGuard, removeGuard): (UInt32, UInt32) = (102, 103)

  /// The flags of clone(2) that make namespaces: CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
  /// CLONE_NEWUSER, CLONE_NEWPID and CLONE_NEWNET.
  private static let namespaces: UInt32 = 0x0002_0000 | 0x7E00_0000

  /// Puts the filter up, for good.
  ///
  /// - Returns: whether the filter is active. It is not if the kernel has no filters, or cannot end a process by
  ///   them.
  func install() -> Bool {
    // A sanitizer makes calls that are not in the table.
    guard let architecture = Architecture.current, !ResourceLimits.isSanitized,
      clinux_seccomp_action_is_available(FilterVerdict.kill.rawValue) != 0
    else { return false }
    var program = program(for: architecture).map {
      sock_filter(code: $0.code, jt: $0.ifTrue, jf: $0.ifFalse, k: $0.operand)
    }
    return unsafe program.withUnsafeMutableBufferPointer {
      unsafe clinux_set_system_call_filter($0.baseAddress, UInt16(clamping: $0.count))
    } == 0
  }

  /// The program for an architecture. Numbers of the x32 ABI, which has the architecture of x86-64, are in no row.
  func program(for architecture: Architecture) -> [FilterInstruction] {
    var program: [FilterInstruction] = [
      // `arch` and `nr` of struct seccomp_data.
      .load(offset: 4), .skip(ifEqual: architecture.rawValue, 1, otherwise: 0), .end(.kill), .load(offset: 0),
    ]
    for rule in rules {
      guard let number = architecture == .x86 ? rule.x86 : rule.arm else { continue }
      var block = rule.conditions.flatMap(Self.test)
      block.append(.end(rule.verdict))
      program.append(.skip(ifEqual: number, 0, otherwise: UInt8(clamping: block.count)))
      program += block
    }
    program.append(.end(otherwise))
    return program
  }

  /// Instructions that end the process if a condition does not hold.
  private static func test(_ condition: SystemCallRule.Condition) -> [FilterInstruction] {
    // The lower half of an argument, whose first begins at 16.
    var test: [FilterInstruction] = [.load(offset: UInt32(16 + 8 * condition.argument))]
    if condition.mask != .max { test.append(.and(condition.mask)) }
    for (index, value) in condition.values.enumerated() {
      // If a value matches, the values behind it are skipped. If the value is an allowed value, the end of the
      // process is skipped, too.
      let rest = UInt8(clamping: condition.values.count - 1 - index)
      let isLast = rest == 0
      test.append(
        condition.isWanted
          ? .skip(ifEqual: value, rest + 1, otherwise: 0)
          : .skip(ifEqual: value, rest, otherwise: isLast ? 1 : 0))
    }
    test.append(.end(.kill))
    return test
  }
}

/// An instruction of a filter program (classic BPF, linux/filter.h), among those that filters of system calls need.
struct FilterInstruction: Hashable {
  /// The operation.
  let code: UInt16
  /// Instructions to skip if a comparison holds.
  let ifTrue: UInt8
  /// Instructions to skip if it does not.
  let ifFalse: UInt8
  /// The operand.
  let operand: UInt32

  private init(code: UInt16, ifTrue: UInt8 = 0, ifFalse: UInt8 = 0, operand: UInt32) {
    self.code = code
    self.ifTrue = ifTrue
    self.ifFalse = ifFalse
    self.operand = operand
  }

  /// Loads 32 bits of the description of a call (`struct seccomp_data`, linux/seccomp.h).
  static func load(offset: UInt32) -> FilterInstruction { FilterInstruction(code: 0x20, operand: offset) }
  /// Keeps the bits of `mask` in the loaded value.
  static func and(_ mask: UInt32) -> FilterInstruction { FilterInstruction(code: 0x54, operand: mask) }
  /// Skips `ifTrue` instructions if the loaded value is equal to `value`, and `ifFalse` instructions otherwise.
  static func skip(ifEqual value: UInt32, _ ifTrue: UInt8, otherwise ifFalse: UInt8) -> FilterInstruction {
    FilterInstruction(code: 0x15, ifTrue: ifTrue, ifFalse: ifFalse, operand: value)
  }
  /// Ends the program: what becomes of the call.
  static func end(_ verdict: FilterVerdict) -> FilterInstruction {
    FilterInstruction(code: 0x06, operand: verdict.rawValue)
  }
}

/// The filter's action for a system call (linux/seccomp.h).
struct FilterVerdict: RawRepresentable, Hashable {
  let rawValue: UInt32

  /// It is performed.
  static let allow = FilterVerdict(rawValue: 0x7FFF_0000)
  /// It ends the process, with SIGSYS.
  static let kill = FilterVerdict(rawValue: 0x8000_0000)
  /// It fails with this `errno`.
  static func fail(_ code: Int32) -> FilterVerdict { FilterVerdict(rawValue: 0x0005_0000 | UInt32(code) & 0xFFFF) }
}
