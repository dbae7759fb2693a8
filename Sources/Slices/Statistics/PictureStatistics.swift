// SPDX-License-Identifier: MPL-2.0

public import H26x

/// The decisions of an encoder in a picture, or in several.
///
/// Areas are in luma samples. Vectors that are not coded, because a block is skipped, direct or merged, are not counted,
/// nor are their reference indices.
public struct PictureStatistics: Sendable {
  /// The codec, which gives ``partitionAreas`` their meaning.
  public let codec: FormatDescription.Codec
  /// Slices, or slice segments, that were read.
  public var sliceCount: UInt64 = 0
  /// Those of them that could not be read to their end. Only their blocks in front of the damage are counted.
  public var damagedSliceCount: UInt64 = 0
  /// Macroblocks or coding units.
  public private(set) var blockCount: UInt64 = 0
  /// Their area.
  public private(set) var area: UInt64 = 0
  /// Bits of slice data by kind.
  public private(set) var bits = BitCounts()
  /// `QPY` of all blocks but PCM.
  public private(set) var qp = QPDistribution()
  /// `QPY` of the blocks that are neither PCM nor skipped.
  public private(set) var codedQP = QPDistribution()
  /// Areas by ``BlockKind``.
  public private(set) var kindAreas: [6 of UInt64] = .init(repeating: 0)
  /// Areas of coding units by the base 2 logarithm of their size minus 3: 8 to 64. Macroblocks have size 16.
  public private(set) var sizeAreas: [4 of UInt64] = .init(repeating: 0)
  /// Areas of inter blocks with vectors of their own, and of merged units, by the size of partitions. In H.264 16×16,
  /// 16×8, 8×16, 8×8, 8×4, 4×8 and 4×4. In H.265 `PartMode` 0 to 7.
  public private(set) var partitionAreas: [8 of UInt64] = .init(repeating: 0)
  /// Areas of intra blocks by the base 2 logarithm of the size of luma prediction minus 2: 4 to 64.
  public private(set) var intraSizeAreas: [5 of UInt64] = .init(repeating: 0)
  /// Areas of luma transforms with coefficients by the base 2 logarithm of their size minus 2: 4 to 32. In H.264 those of
  /// the 8×8 blocks of the coded block pattern, and of Intra_16x16 all.
  public private(set) var transformAreas: [4 of UInt64] = .init(repeating: 0)
  /// Coded vector differences.
  public private(set) var vectorDifferenceCount: UInt64 = 0
  /// Sum of the magnitudes of their components, in quarter samples.
  public private(set) var vectorDifferenceSum: UInt64 = 0
  /// Areas by 32 × list + coded reference index. In field macroblocks of a frame, indices count fields.
  public private(set) var referenceAreas: [64 of UInt64] = .init(repeating: 0)
  /// The part of ``referenceAreas`` in field macroblocks.
  private var fieldReferenceAreas: [64 of UInt64] = .init(repeating: 0)
  /// The areas of ``referenceAreas`` by distance, if the reference picture lists are known.
  public private(set) var referenceDistances = ReferenceDistances()
  /// Coefficients that are not 0, of all planes.
  public private(set) var coefficientCount: UInt64 = 0
  /// Sum of the coefficients' magnitudes.
  public private(set) var coefficientSum: UInt64 = 0

  /// Creates statistics of nothing.
  public init(_ codec: FormatDescription.Codec) { self.codec = codec }

  /// Bits by kind, as ``BlockBits``.
  public struct BitCounts: Sendable, Hashable {
    /// Skip flags, types, sizes, coded block patterns, transform sizes and QP differences.
    public fileprivate(set) var header: UInt64 = 0
    /// Intra prediction modes.
    public fileprivate(set) var prediction: UInt64 = 0
    /// Reference indices and vector differences.
    public fileprivate(set) var motion: UInt64 = 0
    /// Luma coefficients and samples.
    public fileprivate(set) var luma: UInt64 = 0
    /// Chroma coefficients and samples.
    public fileprivate(set) var chroma: UInt64 = 0

    fileprivate mutating func add(_ bits: BlockBits) {
      header &+= UInt64(bits.header)
      prediction &+= UInt64(bits.prediction)
      motion &+= UInt64(bits.motion)
      luma &+= UInt64(bits.luma)
      chroma &+= UInt64(bits.chroma)
    }

    fileprivate mutating func add(_ other: BitCounts) {
      header &+= other.header
      prediction &+= other.prediction
      motion &+= other.motion
      luma &+= other.luma
      chroma &+= other.chroma
    }
  }

  /// Adds other statistics of the same codec.
  public mutating func add(_ other: borrowing PictureStatistics) {
    sliceCount &+= other.sliceCount
    damagedSliceCount &+= other.damagedSliceCount
    blockCount &+= other.blockCount
    area &+= other.area
    bits.add(other.bits)
    qp.add(other.qp)
    codedQP.add(other.codedQP)
    for index in kindAreas.indices { kindAreas[index] &+= other.kindAreas[index] }
    for index in sizeAreas.indices { sizeAreas[index] &+= other.sizeAreas[index] }
    for index in partitionAreas.indices { partitionAreas[index] &+= other.partitionAreas[index] }
    for index in intraSizeAreas.indices { intraSizeAreas[index] &+= other.intraSizeAreas[index] }
    for index in transformAreas.indices { transformAreas[index] &+= other.transformAreas[index] }
    vectorDifferenceCount &+= other.vectorDifferenceCount
    vectorDifferenceSum &+= other.vectorDifferenceSum
    for index in referenceAreas.indices { referenceAreas[index] &+= other.referenceAreas[index] }
    for index in fieldReferenceAreas.indices { fieldReferenceAreas[index] &+= other.fieldReferenceAreas[index] }
    referenceDistances.add(other.referenceDistances)
    coefficientCount &+= other.coefficientCount
    coefficientSum &+= other.coefficientSum
  }
}

// MARK: Adding blocks

extension PictureStatistics {
  /// Adds what blocks of both codecs have.
  @inline(__always)
  private mutating func add(
    qp value: Int, isPCM: Bool, isSkipped: Bool, log2Size: Int, bits more: BlockBits, coefficients: UInt32, sum: UInt32
  ) {
    let size = UInt64(1) &<< UInt64(truncatingIfNeeded: 2 &* log2Size)
    blockCount &+= 1
    area &+= size
    bits.add(more)
    sizeAreas[(log2Size &- 3) & 3] &+= size
    coefficientCount &+= UInt64(coefficients)
    coefficientSum &+= UInt64(sum)
    guard !isPCM else { return }
    qp.add(value, area: size)
    if !isSkipped { codedQP.add(value, area: size) }
  }

  @inline(__always)
  private mutating func add(_ size: UInt64, _ kind: BlockKind) { kindAreas[Int(kind.rawValue)] &+= size }

  @inline(__always)
  private mutating func addReference(_ index: Int8, list: Int, area size: UInt64, isField: Bool = false) {
    guard index >= 0 else { return }
    let place = 32 &* list &+ Int(index) & 31
    referenceAreas[place] &+= size
    if isField { fieldReferenceAreas[place] &+= size }
  }

  /// Adds the distances of the references that were counted since an earlier state.
  mutating func addDistances(since earlier: borrowing PictureStatistics, _ references: SliceReferences) {
    for list in 0..<2 {
      let distances = list == 0 ? references.list0 : references.list1
      guard !distances.isEmpty else { continue }
      for index in 0..<32 {
        let place = 32 * list + index
        let area = referenceAreas[place] &- earlier.referenceAreas[place]
        guard area > 0 else { continue }
        let fieldArea =
          references.areFrames ? fieldReferenceAreas[place] &- earlier.fieldReferenceAreas[place] : 0
        if index < distances.count, let distance = distances[index] {
          referenceDistances.add(area &- fieldArea, at: distance)
        }
        if index / 2 < distances.count, let distance = distances[index / 2] {
          referenceDistances.add(fieldArea, at: distance)
        }
      }
    }
  }

  /// Adds a macroblock.
  public mutating func add(_ macroblock: borrowing H264.Macroblock) {
    let kind = macroblock.kind
    add(
      qp: Int(macroblock.lumaQP), isPCM: kind == .pcm, isSkipped: kind.isSkipped, log2Size: 4, bits: macroblock.bits,
      coefficients: UInt32(macroblock.coefficientCount), sum: macroblock.coefficientSum)
    switch kind {
    case .pcm: return add(256, .pcm)
    case .predictedSkip, .directSkip: return add(256, .skip)
    case .intra4x4, .switchingIntra:
      add(256, .intra)
      intraSizeAreas[0] &+= 256
    case .intra8x8:
      add(256, .intra)
      intraSizeAreas[1] &+= 256
    case .intra16x16:
      add(256, .intra)
      intraSizeAreas[2] &+= 256
    case .direct: add(256, .direct)
    case .inter16x16, .inter16x8, .inter8x16:
      add(256, .inter)
      partitionAreas[kind == .inter16x16 ? 0 : kind == .inter16x8 ? 1 : 2] &+= 256
    case .inter8x8: addQuarters(macroblock)
    }
    if kind == .intra16x16 {
      transformAreas[0] &+= 256
    } else {
      let coded = UInt64((macroblock.codedBlockPattern & 15).nonzeroBitCount)
      transformAreas[macroblock.uses8x8Transform ? 1 : 0] &+= 64 &* coded
    }
    guard !kind.isIntra else { return }
    vectorDifferenceCount &+= UInt64(macroblock.vectorDifferenceCount)
    vectorDifferenceSum &+= UInt64(macroblock.vectorDifferenceSum)
    for block in 0..<8 {
      addReference(
        macroblock.referenceIndices[block], list: block &>> 2, area: 64, isField: macroblock.isField)
    }
  }

  /// Adds the quarters of an 8×8 macroblock.
  private mutating func addQuarters(_ macroblock: borrowing H264.Macroblock) {
    for block in 0..<4 {
      guard let size = macroblock.partitionSize(ofQuarter: block) else {
        add(64, .direct)
        continue
      }
      add(64, .inter)
      partitionAreas[size & 7] &+= 64
    }
  }

  /// Adds a coding unit.
  public mutating func add(_ unit: borrowing H265.CodingUnit) {
    let log2Size = unit.log2Size
    let size = UInt64(1) &<< UInt64(truncatingIfNeeded: 2 &* log2Size)
    add(
      qp: unit.qpY, isPCM: unit.isPCM, isSkipped: unit.mode == .skip, log2Size: log2Size, bits: unit.bits,
      coefficients: unit.coefficientCount, sum: unit.coefficientSum)
    switch unit.mode {
    case .skip: return add(size, .skip)
    case .inter: addPredictions(unit, size)
    case .intra:
      if unit.isPCM { return add(size, .pcm) }
      if unit.isPalette { return add(size, .palette) }
      add(size, .intra)
      intraSizeAreas[max(0, min(4, log2Size &- 2 &- (unit.partition == .quarters ? 1 : 0)))] &+= size
    }
    for index in 0..<4 {
      transformAreas[index] &+= UInt64(unit.codedBlocks[index]) &<< UInt64(truncatingIfNeeded: 2 &* index &+ 4)
    }
  }

  /// Adds the prediction units of an inter unit.
  private mutating func addPredictions(_ unit: borrowing H265.CodingUnit, _ size: UInt64) {
    partitionAreas[Int(unit.partition.rawValue) & 7] &+= size
    for part in 0..<unit.partition.count {
      let prediction = unit.predictions[part & 3]
      let share = size &* unit.partition.quarters(part) / 4
      guard !prediction.isMerged else {
        add(share, .direct)
        continue
      }
      add(share, .inter)
      addReference(prediction.references.0, list: 0, area: share)
      addReference(prediction.references.1, list: 1, area: share)
      let (count, sum) = prediction.differences
      vectorDifferenceCount &+= UInt64(count)
      vectorDifferenceSum &+= UInt64(sum)
    }
  }
}

extension H264.Macroblock {
  /// The size of the partitions of a quarter of an 8×8 macroblock: 3 for 8×8, 4 for 8×4, 5 for 4×8, 6 for 4×4; nil for
  /// direct prediction (Tables 7-17 and 7-18).
  func partitionSize(ofQuarter block: Int) -> Int? {
    let type = Int(subTypes[block & 3])
    // In P slices `mb_type` is 3 or 4.
    guard typeNumber == 22 else { return 3 &+ type & 3 }
    switch type {
    case 0: return nil
    case 1, 2, 3: return 3
    case 4, 6, 8: return 4
    case 5, 7, 9: return 5
    default: return 6
    }
  }
}

extension H265.CodingUnit.Partition {
  /// How many prediction units there are.
  var count: Int { self == .whole ? 1 : self == .quarters ? 4 : 2 }

  /// The area of a prediction unit, in quarters of the coding unit.
  func quarters(_ part: Int) -> UInt64 {
    switch self {
    case .whole: 4
    case .rows, .columns: 2
    case .quarters: 1
    case .upperQuarter, .leftQuarter: part == 0 ? 1 : 3
    case .lowerQuarter, .rightQuarter: part == 0 ? 3 : 1
    }
  }
}

extension H265.CodingUnit.Prediction {
  /// The number of coded vector differences, and the sum of the magnitudes of their components.
  var differences: (count: UInt8, sum: UInt32) {
    guard !isMerged else { return (0, 0) }
    var (count, sum): (UInt8, UInt32) = (0, 0)
    if references.0 >= 0 {
      count &+= 1
      sum &+= difference0.0.magnitude &+ difference0.1.magnitude
    }
    if references.1 >= 0 {
      count &+= 1
      sum &+= difference1.0.magnitude &+ difference1.1.magnitude
    }
    return (count, sum)
  }
}
