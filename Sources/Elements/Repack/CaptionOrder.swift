// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// Stage: sorts closed captions that upstream attached in presentation order to buffers in decoding order.
///
/// The first buffer's captions are those of the picture that is shown first, and so on. A picture's place is known as
/// soon as more pictures wait to be shown than the stream reorders. It is also known at an IDR picture, a discontinuity,
/// a flush and the end. Until then, access units and the events among them are held.
struct CaptionOrder<Codec: RepackCodec> {
  typealias AccessUnit = [RepackPiece<Codec>]

  /// An access unit, or an event behind it.
  private struct Item {
    var accessUnit: AccessUnit
    /// The captions that came with it.
    var captions: [Buffer.ClosedCaptions] = []
    /// It may be output.
    var isPlaced = false
    var event: HeldEvent?
  }

  /// A frame that waits to be shown.
  private struct Frame {
    let order: Int32
    /// The numbers of its access units: two if it has two fields.
    var numbers: [Int]
  }

  private var assembler = AccessUnitAssembler<Codec, RepackPiece<Codec>>(.accessUnit)
  private var pictures = DecodedPictures<Codec>()
  /// Items in decoding order. An item's number is its index plus that of the first.
  private var items: [Item] = []
  private var firstNumber = 0
  /// The captions of the pictures that have no place yet, in the order in which they came.
  private var captions: [[Buffer.ClosedCaptions]] = []
  /// Frames in the order in which they are shown.
  private var waiting: [Frame] = []
  /// The frame that began last.
  private var lastFrame: Int?
  /// A second field has reset POC: the next frame begins a sequence.
  private var hasReset = false
  /// The reorder depth of the stream, or more if an access unit was held for longer: in access units.
  private(set) var delay = 0

  /// Items held at most. Encoders make groups of 64 pictures at most between references.
  static var limit: Int { 128 }

  /// Whether nothing is held.
  var isEmpty: Bool { items.isEmpty }

  /// Whether upstream marks the last NAL unit of an access unit.
  var seesMarkers: Bool { assembler.seesMarkers }

  // MARK: The stream

  /// Takes new caps; everything before was output.
  mutating func adopt(_ caps: CompressedCaps<Codec>, _ alignment: StreamAlignment) {
    assembler = AccessUnitAssembler(alignment)
    pictures.adopt(caps)
    removeAll()
  }

  /// Discards everything from before a flush, but not events.
  mutating func flush() {
    assembler.flush()
    pictures.flush()
    items.removeAll { $0.event == nil }
    forgetPictures()
  }

  private mutating func removeAll() {
    items.removeAll()
    forgetPictures()
  }

  private mutating func forgetPictures() {
    firstNumber = 0
    captions.removeAll()
    waiting.removeAll()
    lastFrame = nil
    hasReset = false
  }

  // MARK: In

  /// Takes a buffer.
  mutating func put(_ piece: RepackPiece<Codec>) throws(FlowError) {
    assembler.put(piece)
    while try assembler.collect(
      judge: { detector, nalUnit in detector.feed(nalUnit, parameterSets: pictures.parameterSets).boundary },
      read: { nalUnit, _ in pictures.take(nalUnit) })
    { add() }
  }

  /// Holds an event behind the access units.
  mutating func hold(_ event: consuming Event) {
    items.append(Item(accessUnit: [], isPlaced: true, event: HeldEvent(event)))
    if items.count > Self.limit { showAll() }
  }

  /// Ends the access unit that was begun, and shows all pictures.
  mutating func finish() {
    if assembler.finish() { add() }
    showAll()
  }

  /// Adds the assembled access unit.
  private mutating func add() {
    let accessUnit = assembler.pieces
    assembler.removeAccessUnit()
    let found = pictures.takeFound()
    guard let picture = found.picture else {
      // A picture that cannot be read keeps its captions, and nothing can be told of those around it.
      if found.hasPicture { showAll() }
      items.append(Item(accessUnit: accessUnit, isPlaced: true))
      return
    }
    let number = firstNumber + items.count
    let isSecondField = picture.isSecondField && lastFrame != nil
    if !isSecondField, picture.resetsPOC || hasReset || accessUnit.first?.isDiscontinuous == true { showAll() }
    hasReset = isSecondField && picture.resetsPOC
    let own = accessUnit.captions()
    captions.append(own)
    items.append(Item(accessUnit: accessUnit, captions: own))
    if isSecondField {
      addField(number)
    } else {
      let place = waiting.firstIndex { $0.order > picture.order } ?? waiting.count
      waiting.insert(Frame(order: picture.order, numbers: [number]), at: place)
    }
    lastFrame = isSecondField ? nil : number
    delay = max(delay, found.depth)
    while waiting.count > found.depth { show(waiting.removeFirst()) }
    if items.count > Self.limit { showAll() }
  }

  /// Adds the second field of the last frame, which is shown right behind the first.
  private mutating func addField(_ number: Int) {
    if let place = waiting.firstIndex(where: { $0.numbers.first == lastFrame }) {
      waiting[place].numbers.append(number)
    } else {
      show(Frame(order: 0, numbers: [number]))
    }
  }

  // MARK: Out

  /// Shows all pictures that wait.
  private mutating func showAll() {
    for frame in waiting { show(frame) }
    waiting.removeAll(keepingCapacity: true)
  }

  /// Gives a frame the captions that are next.
  private mutating func show(_ frame: Frame) {
    for number in frame.numbers {
      let index = number - firstNumber
      guard !captions.isEmpty, items.indices.contains(index) else { continue }
      let next = captions.removeFirst()
      items[index].isPlaced = true
      guard next != items[index].captions, !items[index].accessUnit.isEmpty else { continue }
      for piece in items[index].accessUnit.indices {
        items[index].accessUnit[piece].setCaptions(piece == 0 ? next : [])
      }
    }
  }

  /// The next access unit, with its captions; nil if there is an event before, or if it must wait.
  mutating func takeAccessUnit() -> AccessUnit? {
    guard let first = items.first, first.isPlaced, first.event == nil else { return nil }
    delay = max(delay, items.count { $0.event == nil } - 1)
    firstNumber += 1
    return items.removeFirst().accessUnit
  }

  /// The next event; nil if there is an access unit before.
  mutating func takeEvent() -> HeldEvent? {
    guard let event = items.first?.event else { return nil }
    firstNumber += 1
    items.removeFirst()
    return event
  }
}
