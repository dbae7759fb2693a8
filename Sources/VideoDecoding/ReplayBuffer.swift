// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// The packets that bring a new codec to where the lost one was: from the last random access point whose earlier and
/// leading pictures are all out, bounded in bytes and number.
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
    /// A codec that begins here leaves out the pictures that lead it (a CRA picture's RASL pictures).
    var losesLeading = false
  }

  private struct KnownStart {
    let index: UInt64
    let start: Start
    /// Its picture is out.
    var isOut = false
    /// The pictures that lead it have all come.
    var leadingPicturesAreOver: Bool
  }

  private(set) var entries: [Entry] = []
  /// Entries at which decoding may begin.
  private var starts: [KnownStart] = []
  private var byteCount = 0
  /// The codec was drained and has forgotten its references: replay before anything but the start of a sequence.
  private(set) var isDue = false
  /// Frames that the codec has come to hold back for reordering, for the next one.
  var reorderDepth = 0
  private let byteLimit: Int
  private let countLimit: Int

  init(byteLimit: Int, countLimit: Int) {
    self.byteLimit = byteLimit
    self.countLimit = countLimit
  }

  /// Whether a replay leads anywhere: it begins at a random access point.
  var isUsable: Bool { !entries.isEmpty }

  /// How a codec begins at the first entry.
  var start: Start? { starts.isEmpty ? nil : starts[0].start }

  /// Keeps `packet`; `start` is there when decoding may begin with it.
  ///
  /// - Parameter isLeading: it may lead the last start in presentation order.
  mutating func append(_ packet: Packet, index: UInt64, start: Start?, isLeading: Bool = false) {
    if !isLeading { endLeadingPictures() }
    if let start {
      starts.append(KnownStart(index: index, start: start, leadingPicturesAreOver: !start.losesLeading))
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
    guard starts.count > 1, let place = starts.dropFirst().firstIndex(where: { $0.index == index }) else { return }
    starts[place].isOut = true
    if starts[place].leadingPicturesAreOver { discard(before: index) }
  }

  /// What leads the last start in presentation order has come.
  private mutating func endLeadingPictures() {
    guard let last = starts.indices.last, !starts[last].leadingPicturesAreOver else { return }
    starts[last].leadingPicturesAreOver = true
    if starts[last].isOut { discard(before: starts[last].index) }
  }

  /// The codec has forgotten everything.
  mutating func codecWasDrained() { isDue = isUsable }

  /// Whether a replay has to come before the next picture; once.
  mutating func takeDue() -> Bool {
    defer { isDue = false }
    return isDue && isUsable
  }

  mutating func removeAll() {
    isDue = false
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
