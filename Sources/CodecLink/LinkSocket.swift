// SPDX-License-Identifier: MPL-2.0
import CLinux
import Glibc

/// One end of a connection between two processes, in messages of bytes and descriptors.
///
/// Messages arrive whole and in order. Each end is used by one thread at a time for each direction.
package struct LinkSocket: ~Copyable, Sendable {
  /// Bytes of a message, at most.
  package static let largestMessage = 1 << 16
  /// Descriptors of a message, at most.
  package static let descriptorLimit = Int(CLINUX_DESCRIPTOR_LIMIT)

  private let descriptor: OwnedDescriptor

  /// Takes over one end of `DescriptorPair.sockets()`.
  package init(owning descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }

  /// To be polled, or passed to another process.
  package var rawValue: Int32 { descriptor.rawValue }

  /// Sends a message of 1 to `largestMessage` bytes, and copies of up to `descriptorLimit` descriptors with it.
  ///
  /// Waits while the other end has not read the earlier messages. It also waits, for a second at most, while too many
  /// descriptors are on their way. All that processes of a user have sent, and none has received, count against the
  /// limit of each process (unix(7), ETOOMANYREFS).
  ///
  /// - Throws: `LinkError.closed`, `timedOut`, `cancelled`, or `invalid` for a message that is too large or empty.
  package func send(
    _ bytes: Span<UInt8>, descriptors: [Int32] = [], until deadline: Deadline = .never,
    unless cancellation: EventDescriptor? = nil
  ) throws(LinkError) {
    guard !bytes.isEmpty, bytes.count <= Self.largestMessage, descriptors.count <= Self.descriptorLimit else {
      throw .invalid
    }
    let blocks = deadline.isNever && cancellation == nil
    let flags = blocks ? 0 : Int32(MSG_DONTWAIT)
    var crowdedMilliseconds = 0
    while true {
      let result = unsafe bytes.withUnsafeBytes { bytes in
        unsafe descriptors.withUnsafeBufferPointer { descriptors in
          unsafe clinux_send(
            rawValue, bytes.baseAddress, bytes.count, descriptors.baseAddress, descriptors.count, flags)
        }
      }
      if result >= 0 { return }
      switch LinkError.last {
      case .system(EINTR): continue
      case .system(EAGAIN): try wait(for: POLLOUT, until: deadline, unless: cancellation)
      case .system(ETOOMANYREFS) where crowdedMilliseconds < 1000 && deadline.pollTimeout != 0:
        // A sandbox may forbid other ways to sleep.
        poll(nil, 0, 1)
        crowdedMilliseconds += 1
      case let error: throw error
      }
    }
  }

  /// Sends the written message, as `send(_:descriptors:until:unless:)` of bytes does.
  package func send(
    _ message: borrowing MessageWriter, descriptors: [Int32] = [], until deadline: Deadline = .never,
    unless cancellation: EventDescriptor? = nil
  ) throws(LinkError) {
    try send(message.bytes.span, descriptors: descriptors, until: deadline, unless: cancellation)
  }

  /// Receives the next message into `message`, whose earlier content is lost; waits for it.
  ///
  /// - Throws: `LinkError.closed`, `timedOut`, `cancelled`, or `invalid` for a message that is larger than `message`
  ///   takes.
  package func receive(
    into message: inout LinkMessage, until deadline: Deadline = .never, unless cancellation: EventDescriptor? = nil
  ) throws(LinkError) {
    let blocks = deadline.isNever && cancellation == nil
    while true {
      if !blocks { try wait(for: POLLIN, until: deadline, unless: cancellation) }
      do throws(LinkError) {
        return try message.receive(from: rawValue, flags: blocks ? 0 : Int32(MSG_DONTWAIT))
      } catch .system(EINTR) {
        continue
      } catch .system(EAGAIN) where !blocks {
        continue
      }
    }
  }

  /// Waits until the socket is ready or its other end is closed.
  private func wait(
    for event: Int32, until deadline: Deadline, unless cancellation: EventDescriptor?
  ) throws(LinkError) {
    // poll(2) ignores negative descriptors.
    var states = (
      pollfd(fd: rawValue, events: Int16(event), revents: 0),
      pollfd(fd: cancellation?.rawValue ?? -1, events: Int16(POLLIN), revents: 0)
    )
    while true {
      let timeout = deadline.pollTimeout
      let result = unsafe withUnsafeMutableBytes(of: &states) {
        unsafe poll($0.baseAddress?.assumingMemoryBound(to: pollfd.self), 2, timeout)
      }
      if states.1.revents != 0, result > 0 { throw .cancelled }
      if result > 0 { return }
      if result == 0 {
        if timeout == 0 || deadline.pollTimeout == 0 { throw .timedOut }
      } else if errno != EINTR {
        throw .last
      }
    }
  }
}

/// The reason a message between application and codec service was not exchanged, or memory was not shared.
package enum LinkError: Error, Hashable, Sendable {
  /// The other end is closed, or its process has ended.
  case closed
  /// The deadline passed.
  case timedOut
  /// The wait was cancelled.
  case cancelled
  /// A message, a descriptor or a size is not what the protocol allows.
  case invalid
  /// A system call failed with this `errno`.
  case system(Int32)

  /// The error of the last system call.
  package static var last: LinkError {
    switch errno {
    case EPIPE, ECONNRESET: .closed
    case let code: .system(code)
    }
  }

  /// Whether this process or the system has no descriptor left, or too many are on their way.
  package var isDescriptorLimit: Bool {
    switch self {
    case .system(EMFILE), .system(ENFILE), .system(ETOOMANYREFS): true
    default: false
    }
  }

  /// Returns the result of a system call, or throws its error if it is negative.
  @discardableResult
  package static func check(_ result: Int32) throws(LinkError) -> Int32 {
    guard result >= 0 else { throw last }
    return result
  }
}
