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

  init(_ range: ClosedRange<UInt64>, listsBlocks: Bool, readsSliceData: Bool) {
    self.range = range
    servesRules = readsSliceData && range == 0...UInt64.max
    walk.reader.counter.keepsBlocks = listsBlocks
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

  /// Ends an access unit. Adds its statistics and its blocks to the result, if it is counted, and the rest if it serves
  /// the rules.
  mutating func endAccessUnit(_ index: UInt64, _ sets: borrowing Codec.ParameterSets, _ result: inout SliceDataResult) {
    guard range.contains(index) else { return }
    let (totals, defects) = walk.endAccessUnit(sets)
    if servesRules { (result.totals, result.defects) = (totals, defects) }
    var (statistics, blocks) = walk.reader.counter.take()
    let skipped = totals.unreadableHeaders &+ totals.dependentSegments
    statistics.sliceCount &+= skipped
    statistics.damagedSliceCount = skipped &+ totals.unsupported &+ totals.damaged
    (result.statistics, result.blocks) = (statistics, blocks)
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
