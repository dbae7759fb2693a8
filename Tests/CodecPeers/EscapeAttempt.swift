// SPDX-License-Identifier: MPL-2.0

/// An act that a codec process under an attacker's control would try. `codec-trial` tries it on request.
package enum EscapeAttempt: UInt8, Sendable, CaseIterable {
  /// Bytes of the memory that the application shares for the attempt: one that the process may write, one that it may
  /// only read. One message brings the attempt's number and their descriptors.
  package static let sharedByteCount = 1 << 16

  /// Open a file that everybody may read.
  case openFile = 1
  /// Make a socket.
  case makeSocket
  /// Execute a program.
  case execute
  /// Trace the process that it is a child of.
  case trace
  /// Signal the process that it is a child of.
  case signalParent
  /// Signal the application.
  case signalApplication
  /// Make new memory executable.
  case mapExecutable
  /// Make its memory executable.
  case protectExecutable
  /// Shrink memory that it shares with the application.
  case shrinkMemory
  /// Punch a hole into memory that it shares.
  case punchMemory
  /// The same through the mapping (MADV_REMOVE).
  case removePages
  /// Write memory that it may only read.
  case writeReadOnlyMemory
  /// Make memory that has a descriptor.
  case makeMemory
  /// Use more memory than its limit.
  case fillMemory
  /// The same with shared memory, which RLIMIT_DATA does not count.
  case fillSharedMemory
  /// The same with memory that grows downwards as a stack, which RLIMIT_DATA does not count either.
  case fillStackMemory
  /// Fork.
  case fork
  /// Fork by clone3(2), whose arguments a filter cannot read.
  case forkByClone3
  /// Write to a descriptor other than standard error.
  case writeDescriptor
  /// Outlive the application, by taking the death signal off.
  case clearDeathSignal
  /// Use a system call of the x32 ABI, whose numbers differ.
  case x32Call
  /// Use a system call of 32-bit programs, whose numbers differ too.
  case call32Bit
}
