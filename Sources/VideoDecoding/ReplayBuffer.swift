// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// The packets that bring a new codec to where the lost one was: from the last random access point whose earlier
/// pictures are all out, bounded in bytes and number.
struct ReplayBuffer {
  struct Entry {
    let packet: Packet
    let index: UInt64
  }

  private(set) var entries: [Entry] = []
  /// Parameter sets in force before the first entry, in the stream's packaging.
  private(set) var parameterSets: [UInt8] = []
  /// Random access points among the entries, with the parameter sets in force before each.
  private var starts: [(index: UInt64, parameterSets: [UInt8])] = []
  private var byteCount = 0
  private let byteLimit: Int
  private let countLimit: Int

  init(byteLimit: Int, countLimit: Int) {
    self.byteLimit = byteLimit
    self.countLimit = countLimit
  }

  /// Whether a replay leads anywhere: it begins at a random access point.
  var isUsable: Bool { !entries.isEmpty }

  /// Keeps `packet`; `start` holds the parameter sets in force before it when decoding may begin there.
  mutating func append(_ packet: Packet, index: UInt64, start parameterSets: [UInt8]?) {
    if let parameterSets {
      if entries.isEmpty { self.parameterSets = parameterSets }
      starts.append((index, parameterSets))
    } else if entries.isEmpty {
      return
    }
    entries.append(Entry(packet: packet, index: index))
    byteCount += packet.byteCount
    guard byteCount > byteLimit || entries.count > countLimit else { return }
    // Too long to replay. A shorter run from the youngest start may do; else wait for the next.
    if let youngest = starts.last, youngest.index != entries.first?.index {
      discard(before: youngest.index)
    } else {
      removeAll()
    }
  }

  /// The picture of access unit `index` is out, and with it all that precede it: if decoding may begin there, nothing
  /// before it is needed again.
  mutating func pictureCameOut(_ index: UInt64) {
    guard starts.count > 1, starts.dropFirst().contains(where: { $0.index == index }) else { return }
    discard(before: index)
  }

  mutating func removeAll() {
    entries.removeAll(keepingCapacity: true)
    starts.removeAll(keepingCapacity: true)
    parameterSets = []
    byteCount = 0
  }

  private mutating func discard(before index: UInt64) {
    let kept = entries.firstIndex { $0.index >= index } ?? entries.endIndex
    for entry in entries[..<kept] { byteCount -= entry.packet.byteCount }
    entries.removeSubrange(..<kept)
    starts.removeAll { $0.index < index }
    parameterSets = starts.first?.parameterSets ?? []
  }
}
