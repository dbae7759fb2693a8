// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// The packets that bring a new codec to where the lost one was: from the last random access point whose earlier
/// pictures are all out, bounded in bytes and number.
struct ReplayBuffer {
  struct Entry {
    let packet: Packet
    let index: UInt64
  }

  /// What a codec has to know that begins at an entry.
  struct Start {
    /// Parameter sets in force before it, in the stream's packaging.
    let parameterSets: [UInt8]
    /// Frames that the codec held back for reordering when it came there. A codec that finds out as it goes loses a
    /// frame each time it learns of more: the next one is to lose the same.
    let reorderDepth: Int
  }

  private(set) var entries: [Entry] = []
  /// Entries at which decoding may begin.
  private var starts: [(index: UInt64, start: Start)] = []
  private var byteCount = 0
  private let byteLimit: Int
  private let countLimit: Int

  init(byteLimit: Int, countLimit: Int) {
    self.byteLimit = byteLimit
    self.countLimit = countLimit
  }

  /// Whether a replay leads anywhere: it begins at a random access point.
  var isUsable: Bool { !entries.isEmpty }

  /// How a codec begins at the first entry.
  var start: Start? { starts.first?.start }

  /// Keeps `packet`; `start` is there when decoding may begin with it.
  mutating func append(_ packet: Packet, index: UInt64, start: Start?) {
    if let start {
      starts.append((index, start))
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
    byteCount = 0
  }

  private mutating func discard(before index: UInt64) {
    let kept = entries.firstIndex { $0.index >= index } ?? entries.endIndex
    for entry in entries[..<kept] { byteCount -= entry.packet.byteCount }
    entries.removeSubrange(..<kept)
    starts.removeAll { $0.index < index }
  }
}
