// SPDX-License-Identifier: MPL-2.0
import CLinux
import Glibc

/// The memory that messages are received into, used again for each: no message allocates.
package struct LinkMessage: ~Copyable {
  private var storage: [UInt8]
  private var byteCount = 0
  /// Those that came with the message and have not been taken; `-1` at `descriptorCount` and later.
  private var descriptors: [Int32] = Array(repeating: -1, count: LinkSocket.descriptorLimit)
  private var descriptorCount = 0
  private let acceptedDescriptorCount: Int

  /// Memory for messages of up to `capacity` bytes that carry up to `descriptorCount` descriptors; larger messages
  /// are `LinkError.invalid`.
  package init(capacity: Int = LinkSocket.largestMessage, descriptorCount: Int = 0) {
    storage = Array(repeating: 0, count: max(1, min(capacity, LinkSocket.largestMessage)))
    acceptedDescriptorCount = max(0, min(descriptorCount, LinkSocket.descriptorLimit))
  }

  deinit { for descriptor in descriptors.prefix(descriptorCount) { close(descriptor) } }

  /// The bytes of the message that was received last.
  package var bytes: Span<UInt8> {
    @_lifetime(borrow self) get { storage.span.extracting(first: byteCount) }
  }

  /// Takes the first of the descriptors that are left; `nil` if there is none.
  package mutating func takeDescriptor() -> OwnedDescriptor? {
    guard descriptorCount > 0 else { return nil }
    let first = descriptors.removeFirst()
    descriptors.append(-1)
    descriptorCount -= 1
    return OwnedDescriptor(owning: first)
  }

  /// Takes all descriptors that are left; `nil` if there is none.
  package mutating func takeDescriptors() -> DescriptorSet? {
    guard descriptorCount > 0 else { return nil }
    let set = DescriptorSet(owning: Array(descriptors.prefix(descriptorCount)))
    descriptorCount = 0
    return set
  }

  /// Closes the descriptors that were not taken.
  private mutating func clear() {
    for descriptor in descriptors.prefix(descriptorCount) { close(descriptor) }
    descriptorCount = 0
    byteCount = 0
  }

  /// Receives a message from a socket.
  mutating func receive(from socket: Int32, flags: Int32) throws(LinkError) {
    clear()
    var (count, messageFlags) = (0, Int32(0))
    let result = unsafe storage.withUnsafeMutableBytes { bytes in
      unsafe descriptors.withUnsafeMutableBufferPointer { descriptors in
        unsafe clinux_receive(
          socket, bytes.baseAddress, bytes.count, descriptors.baseAddress, &count, flags, &messageFlags)
      }
    }
    guard result >= 0 else { throw .last }
    // The kernel fills at most what the shim has room for.
    descriptorCount = min(count, LinkSocket.descriptorLimit)
    // A message is never empty, so that no bytes mean the end.
    guard result > 0 else {
      clear()
      throw .closed
    }
    let truncation = Int32(MSG_TRUNC) | Int32(MSG_CTRUNC)
    guard messageFlags & truncation == 0, descriptorCount <= acceptedDescriptorCount else {
      clear()
      throw .invalid
    }
    byteCount = min(result, storage.count)
  }
}
