// SPDX-License-Identifier: MPL-2.0
import H26x
import Slices

/// Reads the slice data of access units on the caller's thread, or keeps access units and reads them on several threads.
///
/// ```
///                 without threads, or if it must not be kept
///   NAL units ─┬────────────────────────────────────────────▶ reader ─────────────┐
///              │                                                                  ▼
///              └─▶ KeptAccessUnit ─▶ kept until there are enough ─▶ threads ─▶ results, in stream order
///                                                                   a reader each
/// ```
///
/// An access unit must not be kept if it is larger than memory should be, or if it has parameter sets between its slices.
struct SliceDataStage<Codec: CountedCodec> {
  /// The slices of an access unit that has ended.
  private enum Ended {
    case read(SliceDataResult)
    case kept(KeptAccessUnit<Codec>)
  }

  /// Whether blocks are counted, so that slices need their references.
  let countsBlocks: Bool
  private let threads: SliceThreads?
  /// Reads on the caller's thread.
  private var reader: AccessUnitDataReader<Codec>
  /// Those of the threads.
  private var readers: [ThreadReader<Codec>]

  private var index: UInt64 = 0
  /// Whether nothing of the access unit was read so far.
  private var mayKeep = false
  /// The NAL units of the access unit, if they are kept.
  private var current: KeptAccessUnit<Codec>?
  /// The access units since ``finish()``.
  private var ended: [Ended] = []
  private var keptBytes = 0
  private var keptUnits = 0

  /// Creates a stage; nil if no slice data are wanted.
  init?(_ options: ReportOptions) {
    guard options.readsSliceData || options.countedAccessUnits != nil else { return nil }
    countsBlocks = options.countedAccessUnits != nil
    // A few bytes may have a picture's blocks, whose list is a thousand times as large.
    let threads = options.listsBlocks ? nil : options.sliceThreads
    self.threads = threads
    reader = AccessUnitDataReader(options)
    readers = (0..<(threads?.count ?? 0)).map { _ in ThreadReader(options) }
  }

  mutating func beginAccessUnit(_ index: UInt64) {
    self.index = index
    mayKeep = threads != nil && reader.reads(index)
  }

  /// Takes a NAL unit of the access unit.
  ///
  /// - Parameter sets: the parameter sets before it.
  mutating func take(
    _ nalUnit: Span<UInt8>, _ context: NALUnitContext<Codec>, _ sets: borrowing Codec.ParameterSets
  ) {
    if mayKeep, let threads {
      let kept: KeptAccessUnit<Codec>
      if let current { kept = current } else { kept = KeptAccessUnit(index, sets) }
      current = kept
      if kept.keep(nalUnit, context, sets, limit: threads.batchSize) { return }
      mayKeep = false
      current = nil
      kept.replay(into: &reader)
    }
    reader.take(nalUnit, context, sets, ofAccessUnit: index)
  }

  mutating func endAccessUnit(_ sets: borrowing Codec.ParameterSets) {
    guard let kept = current else {
      ended.append(.read(reader.endAccessUnit(index, sets)))
      return
    }
    current = nil
    ended.append(.kept(kept))
    keptBytes += kept.byteCount
    keptUnits += kept.unitCount
  }

  /// Whether ``finish()`` should be called now that an access unit has ended.
  var isFull: Bool {
    guard let threads, reader.reads(index) else { return true }
    return keptBytes >= threads.batchSize || keptUnits >= SliceThreads.unitLimit
      || ended.count >= SliceThreads.accessUnitLimit
  }

  /// Reads what is kept. Returns the results of the access units that have ended since the last call.
  mutating func finish() -> [SliceDataResult] {
    let kept = ended.compactMap { if case .kept(let accessUnit) = $0 { accessUnit } else { nil } }
    threads?.perform(kept.count) { [readers] call, thread in kept[call].read(with: readers[thread]) }
    let results = ended.map {
      switch $0 {
      case .read(let result): result
      case .kept(let accessUnit): accessUnit.result
      }
    }
    ended.removeAll(keepingCapacity: true)
    (keptBytes, keptUnits) = (0, 0)
    return results
  }
}

/// The reader of a thread.
@safe private final class ThreadReader<Codec: CountedCodec>: @unchecked Sendable {
  // SliceThreads uses a reader for one call at a time.
  var reader: AccessUnitDataReader<Codec>

  init(_ options: ReportOptions) { reader = AccessUnitDataReader(options) }
}

/// The NAL units of an access unit, to be read later.
@safe private final class KeptAccessUnit<Codec: CountedCodec>: @unchecked Sendable {
  // SliceThreads reads each on one thread, while the caller waits.
  private let index: UInt64
  /// The parameter sets of its slices.
  private var sets: Codec.ParameterSets
  private var units: [(bytes: [UInt8], context: NALUnitContext<Codec>)] = []
  private var hasSlice = false
  /// Whether there are parameter sets behind a slice.
  private var mayChangeSets = false
  /// Bytes of the NAL units, including those of which only the header is kept.
  private(set) var byteCount = 0
  private(set) var result = SliceDataResult()

  var unitCount: Int { units.count }

  init(_ index: UInt64, _ sets: borrowing Codec.ParameterSets) { (self.index, self.sets) = (index, copy sets) }

  /// Keeps a NAL unit. Returns false if the access unit must be read now.
  func keep(
    _ nalUnit: Span<UInt8>, _ context: NALUnitContext<Codec>, _ sets: borrowing Codec.ParameterSets, limit: Int
  ) -> Bool {
    guard nalUnit.count <= limit - byteCount, units.count < SliceThreads.unitLimit else { return false }
    let role = Codec.role(of: nalUnit)
    var length = nalUnit.count
    switch role {
    case .slice:
      guard !mayChangeSets else { return false }
      if let header = context.slice?.header, let place = Codec.place(of: header, sets) {
        guard place.pictureSize <= SliceThreads.blockLimit else { return false }
      }
      if !hasSlice { self.sets = copy sets }
      hasSlice = true
    case .slicePart: break
    default:
      mayChangeSets = mayChangeSets || hasSlice && role.isParameterSet
      length = min(length, Self.headerLength)
    }
    units.append(([UInt8](copying: nalUnit.extracting(first: length)), context))
    byteCount += nalUnit.count
    return true
  }

  /// More bytes than a NAL unit's role depends on.
  private static var headerLength: Int { 4 }

  func replay(into reader: inout AccessUnitDataReader<Codec>) {
    for (bytes, context) in units { reader.take(bytes.span, context, sets, ofAccessUnit: index) }
    units = []
  }

  func read(with thread: ThreadReader<Codec>) {
    replay(into: &thread.reader)
    result = thread.reader.endAccessUnit(index, sets)
  }
}
