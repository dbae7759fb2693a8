// SPDX-License-Identifier: MPL-2.0
import CLinux
import Glibc

/// A file descriptor, closed at the end of its owner's life.
package struct OwnedDescriptor: ~Copyable, Sendable {
  /// The number, valid as long as the owner lives.
  package let rawValue: Int32

  /// Takes over a descriptor that nothing else closes.
  package init(owning rawValue: Int32) { self.rawValue = rawValue }

  deinit { close(rawValue) }

  /// Gives the descriptor up: the code that gets the number closes it.
  package consuming func release() -> Int32 {
    let rawValue = rawValue
    discard self
    return rawValue
  }
}

/// The two ends of a pipe or of a pair of sockets; neither is inherited by a program that is executed.
@frozen package struct DescriptorPair: ~Copyable, Sendable {
  /// The first end; of a pipe, the read end.
  package let first: OwnedDescriptor
  /// The second end; of a pipe, the write end.
  package let second: OwnedDescriptor

  private init(_ make: (UnsafeMutablePointer<Int32>?) -> Int32) throws(LinkError) {
    var ends: [Int32] = [-1, -1]
    let result = unsafe ends.withUnsafeMutableBufferPointer { unsafe make($0.baseAddress) }
    try LinkError.check(result)
    first = OwnedDescriptor(owning: ends[0])
    second = OwnedDescriptor(owning: ends[1])
  }

  /// A pipe.
  package static func pipe() throws(LinkError) -> DescriptorPair {
    try unsafe DescriptorPair { unsafe clinux_pipe($0, O_CLOEXEC) }
  }

  /// Two connected sockets that keep the bounds of messages.
  package static func sockets() throws(LinkError) -> DescriptorPair {
    let type = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue)
    return try unsafe DescriptorPair { unsafe socketpair(AF_UNIX, type, 0, $0) }
  }
}

/// Descriptors that came with one message, closed with the last reference.
package final class DescriptorSet: Sendable {
  /// Their numbers, valid as long as the set lives.
  package let numbers: [Int32]

  /// Takes over descriptors that nothing else closes.
  package init(owning numbers: [Int32]) { self.numbers = numbers }

  deinit { for number in numbers { close(number) } }
}

/// A flag that wakes waiting threads (eventfd(2)): polls report it until it is cleared. Any thread may use it.
package final class EventDescriptor: Sendable {
  private let descriptor: OwnedDescriptor

  /// A flag that is not set.
  package init() throws(LinkError) {
    let flags = UInt32(O_CLOEXEC | O_NONBLOCK)
    descriptor = OwnedDescriptor(owning: try LinkError.check(clinux_eventfd(flags)))
  }

  /// To be polled for POLLIN.
  package var rawValue: Int32 { descriptor.rawValue }

  /// Sets the flag.
  package func signal() {
    var one: UInt64 = 1
    // Fails only if the counter is full, and then the flag is set.
    _ = unsafe write(rawValue, &one, MemoryLayout<UInt64>.size)
  }

  /// Clears the flag.
  package func clear() {
    var count: UInt64 = 0
    // Fails only if the flag is not set.
    _ = unsafe read(rawValue, &count, MemoryLayout<UInt64>.size)
  }

  /// Whether the flag is set.
  package var isSignalled: Bool {
    var state = pollfd(fd: rawValue, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&state, 1, 0) > 0
  }
}
