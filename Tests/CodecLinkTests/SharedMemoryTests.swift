// SPDX-License-Identifier: MPL-2.0
import CodecLink
import Glibc
import Testing

@Suite struct SharedMemoryTests {
  private func copy(of memory: SharedMemory) throws(LinkError) -> OwnedDescriptor {
    let number = fcntl(memory.rawValue, F_DUPFD_CLOEXEC, 0)
    guard number >= 0 else { throw .system(errno) }
    return OwnedDescriptor(owning: number)
  }

  private func bytes(of memory: SharedMemory, at offset: Int, count: Int) throws(LinkError) -> [UInt8] {
    var result = Array(repeating: UInt8(0xFF), count: count)
    var span = result.mutableSpan
    try memory.read(at: offset, into: &span)
    return result
  }

  @Test("each side reads the bytes that the other writes")
  func bothSidesSeeEachOthersWrites() throws {
    let memory = try SharedMemory(byteCount: 10_000, peerAccess: .writable)
    let peer = try SharedMemory(mapping: copy(of: memory), byteCount: 10_000, access: .writable)
    try memory.write([1, 2, 3].span, at: 9_997)
    #expect(try bytes(of: peer, at: 9_996, count: 4) == [0, 1, 2, 3])
    try peer.write([9].span, at: 0)
    #expect(try bytes(of: memory, at: 0, count: 2) == [9, 0])
  }

  @Test("the peer of readable memory can neither map it for writing nor write through its mapping")
  func readOnlyMemoryCannotBeWrittenByThePeer() throws {
    let memory = try SharedMemory(byteCount: 4_096, peerAccess: .readable)
    #expect(throws: LinkError.system(EPERM)) {
      try SharedMemory(mapping: copy(of: memory), byteCount: 4_096, access: .writable)
    }
    let peer = try SharedMemory(mapping: copy(of: memory), byteCount: 4_096, access: .readable)
    #expect(throws: LinkError.invalid) { try peer.write([1].span, at: 0) }
    #expect(unsafe mprotect(peer.base, 4_096, PROT_READ | PROT_WRITE) != 0)
    try memory.write([5].span, at: 4_095)
    #expect(try bytes(of: peer, at: 4_095, count: 1) == [5])
    #expect(unsafe madvise(peer.base, 4_096, MADV_REMOVE) != 0)
  }

  @Test("memory keeps its size, whoever has the descriptor", arguments: [SharedMemory.Access.readable, .writable])
  func memoryKeepsItsSize(peerAccess: SharedMemory.Access) throws {
    let memory = try SharedMemory(byteCount: 8_192, peerAccess: peerAccess)
    #expect(ftruncate(memory.rawValue, 4_096) != 0)
    #expect(ftruncate(memory.rawValue, 16_384) != 0)
    let (addSeals, sealWrite): (Int32, Int32) = (1_033, 8)
    #expect(fcntl(memory.rawValue, addSeals, sealWrite) != 0)
  }

  @Test("copies outside the memory are refused")
  func refusesCopiesOutsideTheMemory() throws {
    let memory = try SharedMemory(byteCount: 100, peerAccess: .writable)
    for (offset, count) in [(100, 1), (99, 2), (-1, 1), (Int.max, 1), (Int.max, 100), (0, 101)] {
      #expect(throws: LinkError.invalid) { try bytes(of: memory, at: offset, count: count) }
      let source = Array(repeating: UInt8(1), count: count)
      #expect(throws: LinkError.invalid) { try memory.write(source.span, at: offset) }
    }
    #expect(try bytes(of: memory, at: 100, count: 0) == [])
    #expect(try bytes(of: memory, at: 0, count: 100) == Array(repeating: 0, count: 100))
  }

  @Test("a size that is not the memory's is refused", arguments: [0, -1, 99, 101, 4_096, .max])
  func refusesAWrongSize(byteCount: Int) throws {
    let memory = try SharedMemory(byteCount: 100, peerAccess: .writable)
    #expect(throws: LinkError.invalid) {
      try SharedMemory(mapping: copy(of: memory), byteCount: byteCount, access: .writable)
    }
    if byteCount < 1 {
      #expect(throws: LinkError.invalid) { try SharedMemory(byteCount: byteCount, peerAccess: .writable) }
    }
  }

  @Test("a size that no machine has is an error, not a trap")
  func anImpossibleSizeIsAnError() {
    #expect(throws: LinkError.self) { try SharedMemory(byteCount: .max, peerAccess: .writable) }
  }

  @Test("a descriptor that is no memory is refused")
  func refusesADescriptorThatIsNoMemory() throws {
    let pipe = try DescriptorPair.pipe()
    let end = fcntl(pipe.first.rawValue, F_DUPFD_CLOEXEC, 0)
    #expect(throws: LinkError.invalid) {
      try SharedMemory(mapping: OwnedDescriptor(owning: end), byteCount: 100, access: .readable)
    }
  }
}
