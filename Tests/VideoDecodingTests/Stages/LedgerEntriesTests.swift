// SPDX-License-Identifier: MPL-2.0
import AVCodec
import Testing

@testable import VideoDecoding

@Suite struct LedgerEntriesTests: StageBuilders {
  @Test func findsPendingAccessUnitsByIndex() {
    var entries = LedgerEntries()
    for index in [UInt64(5), 6, 9] { entries.append(record(index)) }
    #expect(entries.first?.index == 5 && entries.last?.index == 9 && entries[6]?.index == 6)
    #expect(entries[4] == nil && entries[7] == nil && entries[10] == nil)
    entries.update(6) { $0.isConcealed = true }
    entries.updateAll(after: 5) { $0.hasBothFields = true }
    #expect(entries[6]?.isConcealed == true && entries[9]?.isConcealed == false)
    #expect(
      entries[5]?.hasBothFields == false && entries[6]?.hasBothFields == true && entries[9]?.hasBothFields == true)
    for index in [UInt64(9), 5, 6] {
      let (finished, again) = (entries.finish(index), entries.finish(index))
      #expect(finished?.index == index && again == nil)
    }
    #expect(entries.isEmpty && entries.first == nil && entries.last == nil)
    entries.append(record(20))
    #expect(entries.first?.index == 20 && entries[20]?.index == 20 && !entries.isEmpty)
  }

  /// Access units wait at the gate, are queued, and go to the codec one by one.
  @Test func queuesWaitingAccessUnits() throws {
    var entries = LedgerEntries()
    for index in [UInt64(0), 1, 2] { entries.append(try waiting(index)) }
    #expect(entries.isEmpty && entries.queued == nil && entries[0] == nil && entries.lastSent(before: .max) == nil)
    let count = entries.queueWaiting(isStart: true)
    #expect(count == 3 && entries.queued?.index == 0 && entries.queued?.isStart == true)
    try send(0, in: &entries)
    #expect(entries.queued?.index == 1 && entries.queued?.isStart == false && entries.first?.index == 0)
    #expect(entries.lastSent(before: .max) == 0)
    entries.append(try waiting(4))
    let dropped = [entries.removeWaiting().map(\.index), entries.removeWaiting().map(\.index)]
    #expect(dropped == [[4], []] && entries.queued?.index == 1)
  }

  /// An access unit with its result is kept until no replay needs it.
  @Test func keepsPacketsForAReplay() throws {
    var entries = LedgerEntries()
    for index in [UInt64(0), 1, 3, 4] { entries.append(try waiting(index)) }
    _ = entries.queueWaiting(isStart: false)
    for index in [UInt64(0), 1, 3] { try send(index, in: &entries) }
    let finished = [entries.finish(0)?.index, entries.finish(3)?.index]
    #expect(
      finished == [0, 3] && entries[0] == nil && entries[3] == nil && entries.first?.index == 1
        && entries.last?.index == 1)
    #expect(packets(in: 0..<10, of: entries) == [0, 1, 3])
    #expect(entries.lastSent(before: 3) == 1 && entries.lastSent(before: .max) == 3)
    entries.release(before: 1)
    #expect(packets(in: 0..<10, of: entries) == [1, 3])
    // The pending one stays without its packet.
    entries.release(before: 3)
    #expect(packets(in: 1..<10, of: entries) == [] && packets(in: 2..<10, of: entries) == [3])
    let oldest = entries.first?.index
    let last = entries.finish(1)?.index
    #expect(oldest == 1 && last == 1 && entries.isEmpty)
    entries.release(before: .max)
    #expect(entries.lastSent(before: .max) == nil && entries.queued?.index == 4)
  }

  private func send(_ index: UInt64, in entries: inout LedgerEntries) throws {
    var entry = try #require(entries.queued)
    #expect(entry.index == index)
    entry.state = .pending
    entries.send(entry)
  }

  /// The access units that the codec would get of a range.
  private func packets(in range: Range<UInt64>, of entries: LedgerEntries) -> [UInt64] {
    var (indices, rest): ([UInt64], Range<UInt64>) = ([], range)
    while let (index, _) = entries.packet(in: rest), index < 4 {
      indices.append(index)
      rest = index + 1..<range.upperBound
    }
    return indices
  }
}
