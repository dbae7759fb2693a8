// SPDX-License-Identifier: MPL-2.0
import AVCodec

/// The packets that bring a new codec to the lost codec's position. They start at the last random access point of
/// which all earlier and leading pictures are output, and are limited in bytes and number.
struct ReplayBuffer {
  struct Entry {
    let packet: Packet
    let index: UInt64
  }

  /// The state that a codec needs to begin at an entry.
  struct Start {
    /// Parameter sets before it, in the stream's packaging.
    let parameterSets: [UInt8]
    /// The parameter sets in force at it, its own included.
    var parameterSetsInForce: [UInt8] = []
    /// Frames that the codec held back for reordering at that point. A codec that adapts loses a frame each time it
    /// raises this number, and the new codec has to lose the same frames.
    let reorderDepth: Int
    /// A codec that begins here drops leading pictures (a CRA picture's RASL pictures).
    var losesLeading = false
    /// An IRAP picture: a codec that begins here outputs no picture that refers to earlier ones.
    var isIRAP = false
  }

  private struct KnownStart {
    let index: UInt64
    let start: Start
    /// Its picture is output.
    var isOutput = false
    /// Its leading pictures have all come.
    var leadingPicturesAreOver: Bool
  }

  private(set) var entries: [Entry] = []
  /// The youngest packet, even if nothing can be replayed.
  private(set) var youngest: Packet?
  /// Entries at which decoding may begin.
  private var starts: [KnownStart] = []
  private var byteCount = 0
  /// A replay gives every picture that is not output. If the buffer was too small, that takes a random access point
  /// whose picture is output: its leading pictures, and all before it, are then output, too.
  private(set) var isWhole = true
  /// The codec was drained and has forgotten its references: replay before anything but an IDR picture.
  private(set) var isDue = false
  private let byteLimit: Int
  private let countLimit: Int

  init(byteLimit: Int, countLimit: Int) {
    self.byteLimit = byteLimit
    self.countLimit = countLimit
  }

  /// Whether a replay is possible: there is a random access point to begin at.
  var isUsable: Bool { !entries.isEmpty }

  /// The state that a codec needs to begin at the first entry.
  var start: Start? { starts.isEmpty ? nil : starts[0].start }

  /// Whether parameter sets are in force at a random access point inside.
  func contains(format: [UInt8]) -> Bool { starts.contains { $0.start.parameterSetsInForce == format } }

  /// The parameter sets in force at an access unit; none if unknown.
  func format(at index: UInt64) -> [UInt8] {
    starts.last { $0.index <= index }?.start.parameterSetsInForce ?? []
  }

  /// The first access unit in the buffer.
  var firstIndex: UInt64? { entries.first?.index }

  /// The first IRAP picture behind the access unit that no codec gets past; nil for none. This is never the start of
  /// this replay, even if the codec was lost with an earlier access unit: otherwise replays might not end.
  func start(behind culprit: UInt64) -> UInt64? {
    starts.dropFirst().first { $0.index > culprit && $0.start.isIRAP }?.index
  }

  /// The packets that bring a new codec to the lost codec's position; the first packet has its parameter sets in
  /// front.
  func beginning(_ packets: PacketPool) throws(AVError) -> [Entry] {
    guard let first = entries.first, let parameterSets = start?.parameterSets, !parameterSets.isEmpty else {
      return entries
    }
    var entries = entries
    let packet = try packets.packet(
      copying: first.packet.bytes, prefix: parameterSets, timestamp: first.packet.timestamp)
    entries[0] = Entry(packet: packet, index: first.index)
    return entries
  }

  /// Keeps `packet`; `start` is not nil when decoding may begin with it.
  ///
  /// - Parameter isLeading: it may be a leading picture of the last start.
  mutating func append(_ packet: Packet, index: UInt64, start: Start?, isLeading: Bool = false) {
    youngest = packet
    if !isLeading { endLeadingPictures() }
    if let start {
      starts.append(KnownStart(index: index, start: start, leadingPicturesAreOver: !start.losesLeading))
    } else if entries.isEmpty {
      return
    }
    entries.append(Entry(packet: packet, index: index))
    byteCount += packet.byteCount
    guard byteCount > byteLimit || entries.count > countLimit else { return }
    // Too long to replay. Keep a shorter run from the youngest start, or wait for the next.
    if let youngest = starts.last, youngest.index != entries.first?.index {
      discard(before: youngest.index)
    } else {
      removeAll()
    }
    isWhole = false
  }

  /// The picture of access unit `index` is output, and so are all earlier ones. If decoding may begin there, nothing
  /// before it is needed again.
  mutating func outputPicture(_ index: UInt64) {
    if index == firstIndex { isWhole = true }
    guard starts.count > 1, let place = starts.dropFirst().firstIndex(where: { $0.index == index }) else { return }
    starts[place].isOutput = true
    if starts[place].leadingPicturesAreOver { discard(before: index) }
  }

  /// All leading pictures of the last start have come.
  private mutating func endLeadingPictures() {
    guard let last = starts.indices.last, !starts[last].leadingPicturesAreOver else { return }
    starts[last].leadingPicturesAreOver = true
    if starts[last].isOutput { discard(before: starts[last].index) }
  }

  /// The codec has forgotten everything.
  mutating func codecWasDrained() { isDue = isUsable }

  /// Whether a replay has to come before the next picture. Returns true once.
  mutating func takeDue() -> Bool {
    defer { isDue = false }
    return isDue && isUsable
  }

  mutating func removeAll() {
    isWhole = true
    isDue = false
    entries.removeAll(keepingCapacity: true)
    starts.removeAll(keepingCapacity: true)
    byteCount = 0
  }

  /// Nothing before an access unit is needed again.
  mutating func discard(before index: UInt64) {
    isWhole = true
    let kept = entries.firstIndex { $0.index >= index } ?? entries.endIndex
    for entry in entries[..<kept] { byteCount -= entry.packet.byteCount }
    entries.removeSubrange(..<kept)
    starts.removeAll { $0.index < index }
  }
}
