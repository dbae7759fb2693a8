// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x

/// The access units in a session, the oldest first. A decoder's capacity bounds the pending ones. The limits of a replay
/// bound the others.
struct LedgerEntries {
  private var entries: [LedgerEntry] = []
  /// All entries before this position are kept.
  private var keptCount = 0

  /// Adds the youngest one. Indices rise; gaps are allowed.
  mutating func append(_ entry: LedgerEntry) {
    assert(entries.last.map { $0.index < entry.index } ?? true, "access units out of order")
    entries.append(entry)
  }

  // MARK: Before the codec

  /// The oldest access unit that is queued.
  var queued: LedgerEntry? { first(.queued).map { entries[$0] } }

  /// Queues the access units that wait, and returns their number.
  ///
  /// - Parameter isStart: whether decoding begins with the first of them.
  mutating func queueWaiting(isStart: Bool) -> Int {
    var count = 0
    for position in keptCount..<entries.count where entries[position].state == .waiting {
      entries[position].state = .queued
      if isStart && count == 0 { entries[position].isStart = true }
      count += 1
    }
    return count
  }

  /// Takes out the access units that wait.
  mutating func removeWaiting() -> [LedgerEntry] {
    let waiting = entries[keptCount...].filter { $0.state == .waiting }
    if !waiting.isEmpty { entries.removeAll { $0.state == .waiting } }
    return waiting
  }

  // MARK: With the codec

  /// Replaces the entry of an access unit, which the codec gets now.
  mutating func send(_ entry: LedgerEntry) {
    let position = position(notBefore: entry.index)
    if position < entries.count, entries[position].index == entry.index { entries[position] = entry }
  }

  /// The oldest pending access unit.
  var first: LedgerEntry? { first(.pending).map { entries[$0] } }
  /// The youngest pending access unit.
  var last: LedgerEntry? { entries[keptCount...].last { $0.state == .pending } }
  /// No access unit is pending.
  var isEmpty: Bool { first(.pending) == nil }

  /// A pending access unit.
  subscript(index: UInt64) -> LedgerEntry? { position(of: index).map { entries[$0] } }
  /// A part of a pending one that each picture needs, without a copy of the rest.
  func hash(of index: UInt64) -> H265.DecodedPictureHash? { position(of: index).flatMap { entries[$0].summary.hash } }

  /// Changes a pending one in place, if it is there.
  mutating func update(_ index: UInt64, _ change: (inout LedgerEntry) -> Void) {
    guard let position = position(of: index) else { return }
    change(&entries[position])
  }

  /// Changes all pending ones in place that come after `index`.
  mutating func updateAll(after index: UInt64, _ change: (inout LedgerEntry) -> Void) {
    for position in position(notBefore: index)..<entries.count
    where entries[position].state == .pending && entries[position].index > index {
      change(&entries[position])
    }
  }

  /// A pending access unit gets its result. It is kept for a replay if it still has its packet.
  mutating func finish(_ index: UInt64) -> LedgerEntry? {
    guard let position = position(of: index) else { return nil }
    guard entries[position].packet != nil else { return entries.remove(at: position) }
    var entry = entries[position].kept
    swap(&entry, &entries[position])
    while keptCount < entries.count, entries[keptCount].state == .kept { keptCount += 1 }
    return entry
  }

  // MARK: Replay

  /// The first access unit of a range, and its packet.
  func packet(in range: Range<UInt64>) -> (index: UInt64, packet: Packet)? {
    let position = position(notBefore: range.lowerBound)
    guard position < entries.count, range.contains(entries[position].index) else { return nil }
    return entries[position].packet.map { (entries[position].index, $0) }
  }

  /// The youngest access unit before `end` that the codec has got.
  func lastSent(before end: UInt64) -> UInt64? {
    var position = position(notBefore: end) - 1
    while position >= 0, entries[position].state == .waiting || entries[position].state == .queued { position -= 1 }
    return position < 0 ? nil : entries[position].index
  }

  /// The codec gets no access unit before this one again.
  mutating func release(before index: UInt64) {
    let end = position(notBefore: index)
    var left = 0
    for position in 0..<end where entries[position].state != .kept {
      if entries[position].state == .pending { entries[position].packet = nil }
      if left < position { entries.swapAt(left, position) }
      left += 1
    }
    guard left < end else { return }
    entries.removeSubrange(left..<end)
    keptCount = max(0, keptCount - end)
  }

  // MARK: Search

  private func first(_ state: LedgerEntry.State) -> Int? {
    (keptCount..<entries.count).first { entries[$0].state == state }
  }

  private func position(of index: UInt64) -> Int? {
    let position = position(notBefore: index)
    guard position < entries.count, entries[position].index == index, entries[position].state == .pending else {
      return nil
    }
    return position
  }

  private func position(notBefore index: UInt64) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].index < index { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
