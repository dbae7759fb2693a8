// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import H26x
import Slices

/// Reads the slice data of a byte stream with its parameter sets.
///
/// Two rules hold for every input. Reading with a visitor finds the same damage as reading without one, and the work for
/// a picture is bounded by its size and its bytes: a thousand slices of five bytes must not cover it a thousand times.
public enum SliceDataSubject {
  /// Reads the slices of H.264 whose PPS has an entropy coding.
  public static func readH264(_ bytes: Span<UInt8>, isArithmetic: Bool) {
    var sets = H264.ParameterSets()
    var (verifier, reader) = (H264.SliceReader(), H264.SliceReader())
    var work = PictureWork()
    var last: H264.SliceHeader?
    let units = nalUnits(bytes)
    for (index, range) in units.enumerated() {
      let nalUnit = bytes.extracting(range)
      if (try? sets.insert(nalUnit)) != nil { continue }
      guard let header = try? H264.SliceHeader(nalUnit: nalUnit, parameterSets: sets),
        let sps = sets.sequenceParameterSet(header.sequenceParameterSetID),
        let pps = sets.pictureParameterSet(header.pictureParameterSetID), pps.usesCABAC == isArithmetic
      else { continue }
      if last.map({ H264.AccessUnitDetector.isFirstOfPicture(header, after: $0) }) ?? true {
        verifier.beginPicture()
        reader.beginPicture()
        work = PictureWork()
      }
      last = header
      // Data partitions B and C follow A.
      var (partitionB, partitionC) = (0..<0, 0..<0)
      if header.nalUnitType == .slicePartitionA {
        for later in units[(index + 1)...].prefix(2) {
          switch H264.NALUnitType(headerByte: bytes[later.lowerBound]) {
          case .slicePartitionB: partitionB = later
          case .slicePartitionC: partitionC = later
          default: break
          }
        }
      }
      let blocks = sps.widthInMacroblocks * sps.heightInMacroblocks * (sps.hasSeparateColourPlanes ? 3 : 1)
      // A picture of this size takes longer than other inputs together.
      guard blocks <= 1 << 16 else { continue }
      let (b, c) = (bytes.extracting(partitionB), bytes.extracting(partitionC))
      var visitor = MacroblockCount()
      var (verified, read) = (SliceOutcome(), SliceOutcome())
      do throws(SliceDamage) {
        verified.extent = try verifier.verify(nalUnit, partitionB: b, partitionC: c, parameterSets: sets)
      } catch { verified.damage = error }
      do throws(SliceDamage) {
        read.extent = try reader.read(
          nalUnit, partitionB: b, partitionC: c, parameterSets: sets, visitor: &visitor)
      } catch { read.damage = error }
      require(verified == read, "slice data: another result if macroblocks are wanted")
      read.check(byteCount: max(nalUnit.count, b.count, c.count))
      if let extent = read.extent {
        require(extent.blockCount == visitor.count, "slice data: \(visitor.count) macroblocks of \(extent.blockCount)")
      }
      work.add(blocks: visitor.count, bytes: nalUnit.count + b.count + c.count, pictureSize: blocks)
    }
  }

  /// Reads the slice segments of H.265.
  public static func readH265(_ bytes: Span<UInt8>) {
    var sets = H265.ParameterSets()
    var (verifier, reader) = (H265.SliceReader(), H265.SliceReader())
    var work = PictureWork()
    for range in nalUnits(bytes) {
      let nalUnit = bytes.extracting(range)
      if (try? sets.insert(nalUnit)) != nil { continue }
      guard let header = try? H265.SliceSegmentHeader(nalUnit: nalUnit, parameterSets: sets),
        let sps = sets.sequenceParameterSet(header.sequenceParameterSetID)
      else { continue }
      if header.isFirstInPicture, header.colourPlaneID == 0 { work = PictureWork() }
      let blocks = sps.codingTreeBlockCount * (sps.hasSeparateColourPlanes ? 3 : 1)
      guard blocks <= 1 << 14 else { continue }
      var visitor = UnitArea()
      var (verified, read) = (SliceOutcome(), SliceOutcome())
      do throws(SliceDamage) {
        verified.extent = try verifier.verify(nalUnit, parameterSets: sets)
      } catch { verified.damage = error }
      do throws(SliceDamage) {
        read.extent = try reader.read(nalUnit, parameterSets: sets, visitor: &visitor)
      } catch { read.damage = error }
      require(verified == read, "slice data: another result if coding units are wanted")
      read.check(byteCount: nalUnit.count)
      // The smallest coding unit has 8 × 8 samples, the largest coding tree block 64 × 64.
      if let extent = read.extent {
        require(visitor.area <= extent.blockCount * 4096, "slice data: coding units are larger than their blocks")
      }
      work.add(blocks: visitor.area / 64, bytes: nalUnit.count, pictureSize: 64 * blocks)
    }
  }

  private static func nalUnits(_ bytes: Span<UInt8>) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var units = AnnexB.NALUnits(bytes)
    while let unit = units.next() { if !unit.range.isEmpty { ranges.append(unit.range) } }
    return ranges
  }
}

/// The result of a slice.
private struct SliceOutcome: Equatable {
  var extent: SliceExtent?
  var damage: SliceDamage?

  func check(byteCount: Int) {
    if let damage {
      require(0...8 * byteCount ~= damage.bitOffset, "slice data: damage at bit \(damage.bitOffset)")
    }
    if let extent {
      require(extent.dataBits <= 8 * byteCount, "slice data: \(extent.dataBits) bits of \(byteCount) bytes")
      require(extent.firstBlock + extent.blockCount <= extent.endBlock, "slice data: an end in front of the blocks")
    }
  }
}

/// The blocks that were read of a picture.
private struct PictureWork {
  private var blockCount = 0
  private var byteCount = 0
  /// Parameter sets may change within a picture, by mistake.
  private var largestSize = 0

  mutating func add(blocks: Int, bytes: Int, pictureSize: Int) {
    blockCount += blocks
    byteCount += bytes
    largestSize = max(largestSize, pictureSize)
    // Once, five times in damaged slices and five times in redundant ones.
    require(
      blockCount <= 16 * (byteCount + largestSize),
      "slice data: \(blockCount) blocks of \(byteCount) bytes, in a picture of \(largestSize)")
  }
}

private struct MacroblockCount: H264.MacroblockVisitor {
  static var wantsValues: Bool { true }
  static var wantsBits: Bool { true }
  var count = 0

  mutating func visit(_ macroblock: borrowing H264.Macroblock) { count += 1 }
}

private struct UnitArea: H265.CodingUnitVisitor {
  static var wantsBits: Bool { true }
  /// Luma samples.
  var area = 0

  mutating func visit(_ unit: borrowing H265.CodingUnit) { area += unit.size * unit.size }
}
