// SPDX-License-Identifier: MPL-2.0
import CLinux
import Glibc

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
