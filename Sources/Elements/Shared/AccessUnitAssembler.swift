// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// Assembles access units: from each buffer with alignment=au, else by what their NAL units are.
///
/// The NAL unit that begins an access unit ends the previous access unit; prefix NAL units belong to the slice after
/// them. The MARKER flag of upstream ends an access unit immediately, and so do ``AccessUnitLimits``. A buffer that
/// holds several access units is cut.
///
/// ```
/// assembler.put(piece)
/// while try assembler.collect(judge: …, read: …) {
///   … assembler.pieces …
///   assembler.removeAccessUnit()
/// }
/// ```
struct AccessUnitAssembler<Codec: ElementCodecSyntax, Piece: AccessUnitPiece> {
  typealias Detector = Codec.AccessUnitDetector

  /// The pieces of the access unit that is being collected, or is complete and may be changed.
  var pieces: [Piece] = []
  /// Whether ``pieces`` are a whole access unit.
  private(set) var isComplete = false
  /// Upstream sets MARKER on the last NAL unit of an access unit: no need to wait for the next one.
  private(set) var seesMarkers = false

  private let alignment: StreamAlignment
  private var detector = Detector()
  private var incoming: Piece?
  /// The first NAL unit of `incoming` that is in no access unit yet.
  private var start = 0
  /// The NAL unit of `incoming` to look at next.
  private var position = 0
  /// The detector has found that the NAL unit at `position` begins an access unit.
  private var isBegun = false
  /// Prefix NAL units collected last, which belong to the next slice.
  private var trailingPrefixes = 0
  /// Bytes of ``pieces``, at most.
  private var collectedSize = 0
  /// Pieces already known to belong to the next access unit.
  private var next: [Piece] = []

  /// An assembler for buffers of this alignment.
  init(_ alignment: StreamAlignment) { self.alignment = alignment }

  /// Takes a buffer. The previous piece must be used up: ``collect(judge:read:)`` has returned false.
  mutating func put(_ piece: Piece) {
    incoming = piece
    (start, position, isBegun) = (0, 0, false)
  }

  /// Collects NAL units until an access unit is complete.
  ///
  /// - Parameters:
  ///   - judge: feeds the detector with a NAL unit, by the active parameter sets.
  ///   - read: is given each NAL unit of the access unit, in order, before the next is judged.
  /// - Returns: false when the input is used up before.
  mutating func collect(
    judge: (inout Detector, Span<UInt8>) -> AccessUnitBoundary,
    read: (Span<UInt8>, Repackager.Entry) -> Void
  ) throws(FlowError) -> Bool {
    guard !isComplete, let piece = incoming else { return isComplete }
    if alignment == .accessUnit {
      incoming = nil
      pieces.append(piece)
      try Self.read(piece, read)
      isComplete = true
      return true
    }
    while !isComplete {
      let boundary = try piece.withBytes { bytes in
        nextBoundary(in: bytes, piece.nalUnits, judge: judge, read: read)
      }
      guard let boundary else {
        try finish(piece)
        break
      }
      try cut(piece, before: boundary)
    }
    return isComplete
  }

  /// Takes a whole access unit, which the next call of ``removeAccessUnit()`` removes.
  ///
  /// - Parameters:
  ///   - accessUnit: its pieces.
  ///   - read: is given each NAL unit, in order.
  mutating func take(
    _ accessUnit: [Piece], read: (Span<UInt8>, Repackager.Entry) -> Void
  ) throws(FlowError) {
    pieces += accessUnit
    for piece in accessUnit { try Self.read(piece, read) }
    isComplete = true
  }

  private static func read(
    _ piece: Piece, _ read: (Span<UInt8>, Repackager.Entry) -> Void
  ) throws(FlowError) {
    try piece.withBytes { bytes in
      for entry in piece.nalUnits { read(bytes.extracting(entry.range), entry) }
    }
  }

  /// Ends the access unit that was begun. Returns whether there was one.
  mutating func finish() -> Bool {
    guard !pieces.isEmpty else { return false }
    isComplete = true
    detector.reset()
    trailingPrefixes = 0
    return true
  }

  /// Removes the complete access unit: the next one can be collected.
  mutating func removeAccessUnit() {
    pieces.removeAll(keepingCapacity: true)
    collectedSize = 0
    swap(&pieces, &next)
    isComplete = false
  }

  /// All pieces inside, of complete access units or not.
  var held: [Piece] { pieces + next + (incoming.map { [$0] } ?? []) }

  /// Discards the collected pieces, as after a seek.
  mutating func flush() {
    let seesMarkers = seesMarkers
    self = AccessUnitAssembler(alignment)
    self.seesMarkers = seesMarkers
  }

  /// The NAL unit that begins the next access unit; nil when none of this buffer does.
  private mutating func nextBoundary(
    in bytes: Span<UInt8>, _ nalUnits: [Repackager.Entry],
    judge: (inout Detector, Span<UInt8>) -> AccessUnitBoundary,
    read: (Span<UInt8>, Repackager.Entry) -> Void
  ) -> Int? {
    while position < nalUnits.count {
      let entry = nalUnits[position]
      let nalUnit = bytes.extracting(entry.range)
      if !isBegun {
        let boundary = judge(&detector, nalUnit)
        if boundary == .begins, !pieces.isEmpty || position > start {
          isBegun = true
          return position
        }
        trailingPrefixes = boundary == .followsNext ? trailingPrefixes + 1 : 0
      }
      isBegun = false
      read(nalUnit, entry)
      position += 1
    }
    return nil
  }

  /// The buffer is used up, and the access unit may continue in the next one.
  private mutating func finish(_ piece: Piece) throws(FlowError) {
    incoming = nil
    if start == 0 {
      pieces.append(piece)
    } else if let rest = try piece.part(start..<piece.nalUnits.count) {
      pieces.append(rest)
    }
    collectedSize += piece.size
    if piece.isMarked, detector.hasPrimaryPicture {
      seesMarkers = true
      _ = finish()
    } else if collectedSize > AccessUnitLimits.size || pieces.count >= AccessUnitLimits.pieces {
      _ = finish()
    }
  }

  /// Leaves the NAL units starting at `boundary`, and prefix NAL units just before, for the next access unit.
  private mutating func cut(_ piece: Piece, before boundary: Int) throws(FlowError) {
    let prefixes = min(trailingPrefixes, boundary - start)
    let earlierPrefixes = trailingPrefixes - prefixes
    trailingPrefixes = 0
    let end = boundary - prefixes
    if end > start {
      if let head = try piece.part(start..<end) {
        pieces.append(head)
        start = end
      }
      // A buffer that cannot be cut is handed on whole, with its last access unit.
    } else {
      try moveToNext(earlierPrefixes)
    }
    isComplete = !pieces.isEmpty
    if !isComplete { swap(&pieces, &next) }
  }

  /// Moves this many NAL units from the end of the access unit to the front of the next.
  private mutating func moveToNext(_ count: Int) throws(FlowError) {
    var count = count
    while count > 0, let last = pieces.last {
      let held = last.nalUnits.count
      guard held > count else {
        next.insert(pieces.removeLast(), at: 0)
        count -= held
        continue
      }
      if let head = try last.part(0..<held - count), let tail = try last.part(held - count..<held) {
        pieces[pieces.count - 1] = head
        next.insert(tail, at: 0)
      }
      return
    }
  }
}

/// A buffer of the input with its NAL units found: an access unit or a part of one.
protocol AccessUnitPiece {
  /// Bytes of the buffer.
  var size: Int { get }

  /// The NAL units, in order.
  var nalUnits: [Repackager.Entry] { get }

  /// Upstream has set MARKER: it is the last piece of an access unit.
  var isMarked: Bool { get }

  /// Lends the bytes that the ranges of ``nalUnits`` are offsets into.
  func withBytes<Result>(_ body: (Span<UInt8>) throws(FlowError) -> Result) throws(FlowError) -> Result

  /// A piece of these NAL units alone, with its share of timestamps, flags and metas; nil if the buffer cannot be cut.
  func part(_ range: Range<Int>) throws(FlowError) -> Self?
}

extension AccessUnitLimits {
  /// Buffers. A picture of level 5.2 with one slice for each macroblock row has 270, and with one for each macroblock
  /// more than any encoder makes.
  static var pieces: Int { 16_384 }
}
