// SPDX-License-Identifier: MPL-2.0
import H26x
import Slices

/// Reads slice data, and does something with the blocks. Generic code of another module is not specialized, so a reader
/// calls a function of `Slices` whose visitor has a concrete type.
protocol SliceDataReading {
  associatedtype Codec: SliceDataCodec

  init()
  /// Forgets the blocks of the picture before.
  mutating func beginPicture()
  /// Reads a slice.
  ///
  /// - Parameters:
  ///   - nalUnit: a slice, a slice segment or data partition A.
  ///   - partitionB: data partition B of the slice; empty without one.
  ///   - partitionC: data partition C of the slice; empty without one.
  /// - Throws: the first damage.
  mutating func read(
    _ nalUnit: Span<UInt8>, partitionB: Span<UInt8>, partitionC: Span<UInt8>, _ sets: borrowing Codec.ParameterSets
  ) throws(SliceDamage) -> SliceExtent
  /// The limits that the last slice breaks; none if it is damaged.
  var limits: LimitChecker { get }
}

extension SliceDataReading {
  /// None.
  var limits: LimitChecker { LimitChecker() }
}

/// A codec whose slice data are read.
protocol SliceDataCodec: ReportedCodec {
  /// Reads slices to their end, and checks their limits.
  associatedtype SliceVerifier: SliceDataReading where SliceVerifier.Codec == Self

  /// The place of a slice in its picture; nil if its parameter sets are missing, or if a rule on headers makes it
  /// unreadable.
  static func place(of slice: WholeSliceHeader, _ sets: borrowing ParameterSets) -> SlicePlace?
  /// Whether a slice belongs to another picture than the slice before it, although it is not the first of a picture: that
  /// one is missing.
  static func lacksFirstSlice(_ slice: SliceHeader, after last: SliceHeader) -> Bool
  /// `slice_id` of data partition A, whose header has been read; nil for another NAL unit.
  static func partitionedSliceID(_ nalUnit: Span<UInt8>, _ slice: WholeSliceHeader) -> UInt32?
  /// The letter of data partition B or C, and its `slice_id`; nil for another NAL unit.
  static func laterPartition(_ nalUnit: Span<UInt8>) -> (isB: Bool, sliceID: UInt32?)?
}

extension SliceDataCodec {
  /// Whether `SliceQpY` is in its range. Dependent slice segments have none.
  fileprivate static func isQP(_ value: Int?, lumaBitDepth: UInt8) -> Bool {
    guard let value else { return true }
    return value >= -6 * (Int(lumaBitDepth) - 8) && value <= 51
  }
}

/// The place of a slice in its picture.
struct SlicePlace {
  /// The address of its first block, in the order in which blocks are coded.
  var first: Int
  /// Blocks of the picture.
  var pictureSize: Int
  /// Bits of the picture's samples; see ``PictureBins/rawBits``.
  var rawBits: UInt64
  /// `colour_plane_id`, 0 to 2.
  var plane = 0
  /// Color planes that are coded apart: 1 or 3.
  var planeCount = 1
  /// Whether each slice begins where the slice before it ends.
  var isInOrder = true
  /// Whether it repeats a part of the primary picture.
  var isRedundant = false
  /// Whether it needs the contexts of the slice segment before it.
  var isDependent = false
}

// MARK: - H.264

extension H264: SliceDataCodec {
  /// Reads slices to their end, and checks their limits.
  struct SliceVerifier: SliceDataReading {
    typealias Codec = H264
    private var reader = SliceReader()
    private(set) var limits = LimitChecker()

    mutating func beginPicture() { reader.beginPicture() }

    mutating func read(
      _ nalUnit: Span<UInt8>, partitionB: Span<UInt8>, partitionC: Span<UInt8>, _ sets: borrowing ParameterSets
    ) throws(SliceDamage) -> SliceExtent {
      try reader.check(nalUnit, partitionB: partitionB, partitionC: partitionC, parameterSets: sets, with: &limits)
    }
  }

  static func place(of slice: WholeSliceHeader, _ sets: borrowing ParameterSets) -> SlicePlace? {
    let header = slice.header
    guard let sps = sets.sequenceParameterSet(header.sequenceParameterSetID),
      let pps = sets.pictureParameterSet(header.pictureParameterSetID)
    else { return nil }
    guard slice.endsWithOnes, isQP(slice.quantizationParameter, lumaBitDepth: sps.lumaBitDepth) else { return nil }
    let frameSize = sps.widthInMacroblocks * sps.heightInMacroblocks
    let isInPairs = sps.isMacroblockAdaptiveFrameField && !header.isField
    let pictureSize = header.isField ? frameSize / 2 : frameSize
    let planeCount = sps.hasSeparateColourPlanes ? 3 : 1
    return SlicePlace(
      first: Int(clamping: header.firstMacroblock) &* (isInPairs ? 2 : 1), pictureSize: pictureSize,
      rawBits: UInt64(clamping: pictureSize) &* UInt64(clamping: planeCount * sps.rawMacroblockBits),
      plane: Int(min(header.colourPlaneID, 2)), planeCount: planeCount,
      isInOrder: !header.allowsArbitraryOrder && pps.sliceGroups == nil,
      isRedundant: header.redundantPictureCount > 0)
  }

  /// Headers tell the pictures of H.264 apart.
  static func lacksFirstSlice(_ slice: SliceHeader, after last: SliceHeader) -> Bool { false }

  static func partitionedSliceID(_ nalUnit: Span<UInt8>, _ slice: WholeSliceHeader) -> UInt32? {
    guard slice.header.nalUnitType == .slicePartitionA else { return nil }
    return sliceID(nalUnit, at: slice.dataBitOffset)
  }

  static func laterPartition(_ nalUnit: Span<UInt8>) -> (isB: Bool, sliceID: UInt32?)? {
    guard nalUnit.count > 0 else { return nil }
    switch NALUnitType(headerByte: nalUnit[0]) {
    case .slicePartitionB: return (true, sliceID(nalUnit, at: 8))
    case .slicePartitionC: return (false, sliceID(nalUnit, at: 8))
    default: return nil
    }
  }

  /// `slice_id` at a bit behind the first byte; nil if it cannot be read.
  private static func sliceID(_ nalUnit: Span<UInt8>, at bitOffset: Int) -> UInt32? {
    var reader = BitReader(nalUnit, from: 1)
    do throws(BitstreamError) {
      try reader.skip(max(0, bitOffset - 8), "slice_header")
      return try reader.ue(in: 0...UInt32(SliceReader.maximumMacroblocks), "slice_id")
    } catch {
      return nil
    }
  }
}

// MARK: - H.265

extension H265: SliceDataCodec {
  /// Reads slices to their end, and checks their limits.
  struct SliceVerifier: SliceDataReading {
    typealias Codec = H265
    private var reader = SliceReader()
    private(set) var limits = LimitChecker()

    mutating func beginPicture() { reader.beginPicture() }

    mutating func read(
      _ nalUnit: Span<UInt8>, partitionB: Span<UInt8>, partitionC: Span<UInt8>, _ sets: borrowing ParameterSets
    ) throws(SliceDamage) -> SliceExtent {
      try reader.check(nalUnit, parameterSets: sets, with: &limits)
    }
  }

  static func place(of slice: WholeSliceHeader, _ sets: borrowing ParameterSets) -> SlicePlace? {
    let header = slice.header
    guard let sps = sets.sequenceParameterSet(header.sequenceParameterSetID),
      isQP(slice.quantizationParameter, lumaBitDepth: sps.lumaBitDepth)
    else { return nil }
    return SlicePlace(
      first: Int(clamping: decodingAddress(of: header, parameterSets: sets)), pictureSize: sps.codingTreeBlockCount,
      rawBits: sps.rawPictureBits, plane: Int(min(header.colourPlaneID, 2)),
      planeCount: sps.hasSeparateColourPlanes ? 3 : 1, isDependent: header.isDependent)
  }

  static func lacksFirstSlice(_ slice: SliceSegmentHeader, after last: SliceSegmentHeader) -> Bool {
    !slice.isFirstInPicture && isFirstOfPicture(slice, after: last)
  }

  static func partitionedSliceID(_ nalUnit: Span<UInt8>, _ slice: WholeSliceHeader) -> UInt32? { nil }

  static func laterPartition(_ nalUnit: Span<UInt8>) -> (isB: Bool, sliceID: UInt32?)? { nil }
}
