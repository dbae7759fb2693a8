// SPDX-License-Identifier: MPL-2.0

/// The part of the ledger that brings a new codec to the lost codec's position. It starts at the last random access
/// point of which all earlier and leading pictures are output, and is limited in bytes and number of access units.
struct ReplayWindow {
  /// The state that a codec needs to begin at an access unit.
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

  /// A number of access units.
  private struct Size {
    var count = 0
    var byteCount = 0
  }

  private struct KnownStart {
    let index: UInt64
    let start: Start
    /// The window's total before it.
    let before: Size
    /// Its picture is output.
    var isOutput = false
    /// Its leading pictures have all come.
    var leadingPicturesAreOver: Bool
  }

  /// Access units at which decoding may begin. The window begins with the first.
  private var starts: [KnownStart] = []
  /// All access units so far, including those that have left the window.
  private var total = Size()
  /// A replay gives every picture that is not output. If the window was too small, that takes a random access point
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
  var isUsable: Bool { !starts.isEmpty }
  /// The first access unit in the window.
  var firstIndex: UInt64? { starts.first?.index }
  /// The number of access units in the window.
  var count: Int { total.count - (starts.first?.before ?? total).count }

  /// The state that a codec needs to begin at the first access unit.
  var start: Start? { starts.first?.start }

  /// Whether parameter sets are in force at a random access point inside.
  func contains(format: [UInt8]) -> Bool { starts.contains { $0.start.parameterSetsInForce == format } }

  /// The parameter sets in force at an access unit; none if unknown.
  func format(at index: UInt64) -> [UInt8] {
    starts.last { $0.index <= index }?.start.parameterSetsInForce ?? []
  }

  /// The first IRAP picture behind the access unit that no codec gets past; nil for none. This is never the start of
  /// this replay, even if the codec was lost with an earlier access unit: otherwise replays might not end.
  func start(behind culprit: UInt64) -> UInt64? {
    starts.dropFirst().first { $0.index > culprit && $0.start.isIRAP }?.index
  }

  /// Takes the next access unit; `start` is not nil when decoding may begin with it.
  ///
  /// - Parameter isLeading: it may be a leading picture of the last start.
  mutating func append(_ index: UInt64, byteCount: Int, start: Start?, isLeading: Bool = false) {
    if !isLeading { endLeadingPictures() }
    if let start {
      starts.append(
        KnownStart(index: index, start: start, before: total, leadingPicturesAreOver: !start.losesLeading))
    }
    guard let first = starts.first, let youngest = starts.last else { return }
    total.count += 1
    total.byteCount += byteCount
    guard total.byteCount - first.before.byteCount > byteLimit || count > countLimit else { return }
    // Too long to replay. Keep a shorter run from the youngest start, or wait for the next.
    if youngest.index != first.index { discard(before: youngest.index) } else { removeAll() }
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
    starts.removeAll(keepingCapacity: true)
  }

  /// Nothing before a start is needed again.
  mutating func discard(before index: UInt64) {
    isWhole = true
    starts.removeAll { $0.index < index }
  }
}
