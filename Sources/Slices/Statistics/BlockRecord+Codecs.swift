// SPDX-License-Identifier: MPL-2.0

internal import H26x

extension BlockRecord {
  /// The record of a macroblock.
  init(_ macroblock: borrowing H264.Macroblock) {
    x = UInt32(truncatingIfNeeded: macroblock.column &* 16)
    y = UInt32(truncatingIfNeeded: macroblock.row &* 16)
    isField = macroblock.isField
    lumaQP = macroblock.lumaQP
    cbQP = macroblock.cbQP
    crQP = macroblock.crQP
    references = macroblock.referenceIndices
    vectorDifferenceCount = macroblock.vectorDifferenceCount
    vectorDifferenceSum = macroblock.vectorDifferenceSum
    coefficientCount = UInt32(macroblock.coefficientCount)
    coefficientSum = macroblock.coefficientSum
    firstBit = macroblock.firstBit
    bits = macroblock.bits
    switch macroblock.kind {
    case .intra4x4, .switchingIntra: partition = .sixteenths
    case .intra8x8: partition = .quarters
    case .intra16x16: transformSize = 4
    case .pcm: kind = .pcm
    case .predictedSkip, .directSkip: kind = .skip
    case .direct: kind = .direct
    case .inter16x16: kind = .inter
    case .inter16x8: (kind, partition) = (.inter, .rows)
    case .inter8x16: (kind, partition) = (.inter, .columns)
    case .inter8x8: (kind, partition) = (.inter, .quarters)
    }
    if macroblock.codedBlockPattern & 15 != 0 { transformSize = macroblock.uses8x8Transform ? 8 : 4 }
  }

  /// The record of a coding unit.
  init(_ unit: borrowing H265.CodingUnit) {
    x = UInt32(truncatingIfNeeded: unit.x)
    y = UInt32(truncatingIfNeeded: unit.y)
    size = UInt8(truncatingIfNeeded: unit.size)
    partition = BlockPartition(rawValue: unit.partition.rawValue) ?? .whole
    lumaQP = Int8(truncatingIfNeeded: unit.qpY)
    cbQP = Int8(truncatingIfNeeded: unit.qpCb)
    crQP = Int8(truncatingIfNeeded: unit.qpCr)
    coefficientCount = unit.coefficientCount
    coefficientSum = unit.coefficientSum
    firstBit = unit.firstBit
    bits = unit.bits
    for index in 0..<4 where unit.codedBlocks[index] > 0 {
      transformSize = 4 &<< UInt8(truncatingIfNeeded: index)
    }
    switch unit.mode {
    case .skip: kind = .skip
    case .intra: kind = unit.isPCM ? .pcm : unit.isPalette ? .palette : .intra
    case .inter:
      kind = .direct
      for part in 0..<unit.partition.count {
        let prediction = unit.predictions[part & 3]
        guard !prediction.isMerged else { continue }
        kind = .inter
        let (count, sum) = prediction.differences
        vectorDifferenceCount &+= count
        vectorDifferenceSum &+= sum
        for quarter in 0..<4 where unit.partition.part(atQuarter: quarter) == part {
          references[quarter] = prediction.references.0
          references[4 &+ quarter] = prediction.references.1
        }
      }
    }
  }
}

extension H265.CodingUnit.Partition {
  /// The prediction unit that covers most of a quarter of the coding unit.
  fileprivate func part(atQuarter quarter: Int) -> Int {
    switch self {
    case .whole: 0
    case .quarters: quarter
    case .rows, .upperQuarter, .lowerQuarter: quarter &>> 1
    case .columns, .leftQuarter, .rightQuarter: quarter & 1
    }
  }
}
