// SPDX-License-Identifier: MPL-2.0
import CLinux
import Glibc

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
