// SPDX-License-Identifier: MPL-2.0

public import H26x

/// Counts the blocks of slices, and lists them on request.
public struct BlockCounter: Sendable {
  /// The statistics of the slices so far.
  public var statistics: PictureStatistics
  /// The blocks of the slices so far, if they are kept.
  public var blocks: [BlockRecord] = []
  /// Whether ``blocks`` are kept.
  public var keepsBlocks: Bool
  /// The pictures that the next slice may refer to. Without them, ``PictureStatistics/referenceDistances`` lack its blocks.
  public var references = SliceReferences()

  /// Creates a counter of nothing.
  public init(_ codec: FormatDescription.Codec, keepsBlocks: Bool = false) {
    statistics = PictureStatistics(codec)
    self.keepsBlocks = keepsBlocks
  }

  /// Returns what was counted, and begins anew.
  public mutating func take() -> (statistics: PictureStatistics, blocks: [BlockRecord]) {
    let taken = (statistics, blocks)
    statistics = PictureStatistics(statistics.codec)
    blocks = []
    return taken
  }
}

extension BlockCounter: H264.MacroblockVisitor, H265.CodingUnitVisitor {
  /// All values are counted.
  public static var wantsValues: Bool { true }
  /// Bits are counted.
  public static var wantsBits: Bool { true }

  /// Counts a macroblock.
  public mutating func visit(_ macroblock: borrowing H264.Macroblock) {
    statistics.add(macroblock)
    if keepsBlocks { blocks.append(BlockRecord(macroblock)) }
  }

  /// Counts a coding unit.
  public mutating func visit(_ unit: borrowing H265.CodingUnit) {
    statistics.add(unit)
    if keepsBlocks { blocks.append(BlockRecord(unit)) }
  }
}

extension H264.SliceReader {
  /// Reads a slice to its end, and counts its macroblocks.
  ///
  /// - Parameters:
  ///   - nalUnit: the NAL unit, header included, of type 1, 2 or 5.
  ///   - partitionB: data partition B with the same `slice_id`; empty without one.
  ///   - partitionC: data partition C with the same `slice_id`; empty without one.
  ///   - parameterSets: looked up by `pic_parameter_set_id`.
  ///   - counter: counts the macroblocks in front of the first damage.
  /// - Returns: the macroblocks that it covers.
  /// - Throws: the first damage.
  @discardableResult
  public mutating func count(
    _ nalUnit: Span<UInt8>, partitionB: Span<UInt8>, partitionC: Span<UInt8>,
    parameterSets: borrowing H264.ParameterSets, in counter: inout BlockCounter
  ) throws(SliceDamage) -> SliceExtent {
    let earlier = counter.statistics
    counter.statistics.sliceCount &+= 1
    defer { counter.statistics.addDistances(since: earlier, counter.references) }
    do throws(SliceDamage) {
      return try read(
        nalUnit, partitionB: partitionB, partitionC: partitionC, parameterSets: parameterSets, visitor: &counter)
    } catch {
      counter.statistics.damagedSliceCount &+= 1
      throw error
    }
  }
}

extension H265.SliceReader {
  /// Reads a slice segment of the base layer to its end, and counts its coding units.
  ///
  /// - Parameters:
  ///   - nalUnit: the NAL unit, header included.
  ///   - parameterSets: the parameter sets in force.
  ///   - counter: counts the coding units in front of the first damage.
  /// - Returns: what the segment covers.
  /// - Throws: the first damage.
  @discardableResult
  public mutating func count(
    _ nalUnit: Span<UInt8>, parameterSets: borrowing H265.ParameterSets, in counter: inout BlockCounter
  ) throws(SliceDamage) -> SliceExtent {
    let earlier = counter.statistics
    counter.statistics.sliceCount &+= 1
    defer { counter.statistics.addDistances(since: earlier, counter.references) }
    do throws(SliceDamage) {
      return try read(nalUnit, parameterSets: parameterSets, visitor: &counter)
    } catch {
      counter.statistics.damagedSliceCount &+= 1
      throw error
    }
  }
}
