// SPDX-License-Identifier: MPL-2.0
import AVCodec
import CodecLink
import Testing

@testable import VideoDecoding

@Suite struct SlotTableTests {
  private static func request(_ number: UInt32) -> SlotRequest {
    SlotRequest(
      number: number,
      picture: PictureRequest(
        pixelFormat: .yuv420p, codedWidth: 64, codedHeight: 64, crop: PictureCrop(), alignedWidth: 64,
        alignedHeight: 64, strideAlignment: 64))
  }

  /// What a process gets for a request that is outdated it gives back without looking at the memory.
  @Test func sendsMemoryUntilAPictureUsesIt() throws {
    let table = SlotTable(holdLimit: 4)
    for number in 1...2 as ClosedRange<UInt32> {
      let grant = table.grant(Self.request(number), count: 2)
      #expect(grant.grant.slots.map(\.isNew) == [true, true] && grant.newMemory.count == 2)
      for slot in grant.grant.slots { try table.release(slot.number) }
    }
    let used = table.grant(Self.request(2), count: 1).grant.slots
    #expect(used.map(\.number) == [0] && used.map(\.isNew) == [true])
    _ = try table.memory(of: PictureDescription(index: 0, width: 64, height: 64), slot: 0)
    try table.release(0)
    let again = table.grant(Self.request(2), count: 2)
    #expect(again.grant.slots.map(\.number) == [0, 1] && again.grant.slots.map(\.isNew) == [false, true])
    #expect(again.newMemory.count == 1)
  }
}
