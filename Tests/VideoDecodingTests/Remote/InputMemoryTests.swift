// SPDX-License-Identifier: MPL-2.0
import CodecLink
import Testing

@testable import VideoDecoding

@Suite struct InputMemoryTests {
  @Test func placesAccessUnitsOfABatchOneAfterAnother() throws {
    var memory = try InputMemory(for: 0)
    #expect(try memory.append([1, 2, 3].span) == 0)
    #expect(try memory.append([4].span) == 3)
    memory.changeHalves()
    #expect(try memory.append([5].span) == memory.memory.byteCount / 2)
    memory.changeHalves()
    #expect(try memory.append([6].span) == 0)
    var bytes: [UInt8] = [0, 0, 0, 0]
    var target = bytes.mutableSpan
    try memory.memory.read(at: 0, into: &target)
    #expect(bytes == [6, 2, 3, 4])
  }

  @Test(arguments: [1, 1 << 16, (1 << 16) + 1, 1 << 20]) func eachHalfHoldsAnAccessUnitOfTheGivenSize(_ byteCount: Int)
    throws
  {
    var memory = try InputMemory(for: byteCount)
    let accessUnit = [UInt8](repeating: 1, count: byteCount)
    for _ in 0..<3 {
      #expect(memory.isLargeEnough(for: byteCount) && memory.hasRoom(for: byteCount))
      let offset = try memory.append(accessUnit.span)
      #expect(offset + byteCount <= memory.memory.byteCount)
      let left = memory.memory.byteCount / 2 - byteCount
      #expect(memory.hasRoom(for: left) && !memory.hasRoom(for: left + 1))
      #expect(throws: LinkError.invalid) {
        _ = try memory.append([UInt8](repeating: 0, count: left + 1).span)
      }
      memory.changeHalves()
    }
    #expect(!memory.isLargeEnough(for: memory.memory.byteCount / 2 + 1))
  }

  @Test func refusesMoreThanAPacketHolds() {
    #expect(throws: LinkError.invalid) { _ = try InputMemory(for: CodecCommand.inputLimit + 1) }
  }
}
