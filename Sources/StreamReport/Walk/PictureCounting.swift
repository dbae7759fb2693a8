// SPDX-License-Identifier: MPL-2.0
import H26x
import Slices

/// Reads slices, and counts their blocks.
protocol SliceCounting: SliceDataReading {
  /// The blocks so far.
  var counter: BlockCounter { get set }
}

/// A codec whose blocks are counted.
protocol CountedCodec: SliceDataCodec {
  /// Reads slices, and counts their blocks.
  associatedtype SliceCounter: SliceCounting where SliceCounter.Codec == Self
}

/// Counts the blocks of access units.
struct PictureCounting<Codec: CountedCodec> {
  /// The access units that are counted, by index.
  let range: ClosedRange<UInt64>
  /// Whether it reads the slices of all access units for the rules too.
  let servesRules: Bool
  private var walk = SliceWalk<Codec.SliceCounter>()
  /// Slices that were not read to their end, before the access unit.
  private var unreadBefore: UInt64 = 0
  /// Slices that were not read at all, before the access unit.
  private var skippedBefore: UInt64 = 0
  /// Statistics of all access units so far.
  private(set) var total: PictureStatistics

  init(_ range: ClosedRange<UInt64>, listsBlocks: Bool, readsSliceData: Bool) {
    self.range = range
    servesRules = readsSliceData && range == 0...UInt64.max
    walk.reader.counter.keepsBlocks = listsBlocks
    total = walk.reader.counter.statistics
  }

  /// Takes a NAL unit; see ``SliceWalk/take(_:at:_:startsPicture:_:)``.
  ///
  /// - Parameters:
  ///   - references: the pictures that it may refer to, if it is a slice.
  ///   - index: of its access unit.
  mutating func take(
    _ nalUnit: Span<UInt8>, at offset: UInt64, _ slice: SliceReading<Codec>?, startsPicture: Bool,
    _ sets: borrowing Codec.ParameterSets, _ references: SliceReferences, ofAccessUnit index: UInt64
  ) {
    guard range.contains(index) else { return }
    if slice != nil {
      // Data partitions before it have the references of their own slice.
      walk.finishPartitions(sets)
      walk.reader.counter.references = references
    }
    walk.take(nalUnit, at: offset, slice, startsPicture: startsPicture, sets)
  }

  /// The defects since the last call, for the rules.
  mutating func takeDefects() -> [SliceDefect] { servesRules ? walk.take() : [] }

  /// The slices so far, for the rules.
  var totals: SliceDataTotals? { servesRules ? walk.totals : nil }

  /// Ends an access unit. Returns its statistics and its blocks, if it is counted.
  mutating func endAccessUnit(
    _ index: UInt64, _ sets: borrowing Codec.ParameterSets
  ) -> (statistics: PictureStatistics, blocks: [BlockRecord])? {
    guard range.contains(index) else { return nil }
    walk.endAccessUnit(sets)
    if !servesRules { _ = walk.take() }
    var counted = walk.reader.counter.take()
    let skipped = walk.totals.unreadableHeaders &+ walk.totals.dependentSegments
    let unread = skipped &+ walk.totals.unsupported &+ walk.totals.damaged
    counted.statistics.sliceCount &+= skipped &- skippedBefore
    counted.statistics.damagedSliceCount = unread &- unreadBefore
    (skippedBefore, unreadBefore) = (skipped, unread)
    total.add(counted.statistics)
    return counted
  }
}

extension H264: CountedCodec {
  /// Reads slices, and counts their macroblocks.
  struct SliceCounter: SliceCounting {
    typealias Codec = H264
    private var reader = SliceReader()
    var counter = BlockCounter(.h264)

    mutating func beginPicture() { reader.beginPicture() }

    mutating func read(
      _ nalUnit: Span<UInt8>, partitionB: Span<UInt8>, partitionC: Span<UInt8>, _ sets: borrowing ParameterSets
    ) throws(SliceDamage) -> SliceExtent {
      try reader.count(nalUnit, partitionB: partitionB, partitionC: partitionC, parameterSets: sets, in: &counter)
    }
  }
}

extension H265: CountedCodec {
  /// Reads slices, and counts their coding units.
  struct SliceCounter: SliceCounting {
    typealias Codec = H265
    private var reader = SliceReader()
    var counter = BlockCounter(.h265)

    mutating func beginPicture() { reader.beginPicture() }

    mutating func read(
      _ nalUnit: Span<UInt8>, partitionB: Span<UInt8>, partitionC: Span<UInt8>, _ sets: borrowing ParameterSets
    ) throws(SliceDamage) -> SliceExtent {
      try reader.count(nalUnit, parameterSets: sets, in: &counter)
    }
  }
}
