// SPDX-License-Identifier: MPL-2.0

public import H26x

/// Checks the blocks of a slice against limits that reading them does not need.
///
/// The checker reports only certain violations. Vector differences are checked, vectors are not, because these need
/// other pictures. Macroblocks in data partitions count with their bits in partition A. The bits of PCM macroblocks, and
/// of coding tree units with PCM, are not checked.
public struct LimitChecker: Sendable {
  private var violations: [3 of LimitViolation?] = .init(repeating: nil)
  /// Whether the last slice breaks a limit.
  public private(set) var hasViolations = false

  // Limits of the slice.
  private var horizontalLimit = Int.max
  /// Of vector differences in frame macroblocks.
  private var verticalLimit = Int.max
  private var forbidsSmallBiprediction = false
  private var bitLimit = Int.max

  // Places in H.265.
  private var log2TreeBlockSize = 6
  private var widthInTreeBlocks = 0
  private var hasPCM = false

  /// Creates a checker.
  public init() {}

  /// The way in which the last slice breaks a limit; nil if it does not.
  public func violation(of limit: LimitViolation.Limit) -> LimitViolation? { violations[Int(limit.rawValue)] }

  private mutating func begin() {
    guard hasViolations else { return }
    violations = .init(repeating: nil)
    hasViolations = false
  }

  private mutating func note(
    _ limit: LimitViolation.Limit, _ value: Int, least: Int = 0, most: Int = 0, block: Int, bitOffset: Int
  ) {
    let index = Int(limit.rawValue)
    guard violations[index] == nil else {
      violations[index]?.count &+= 1
      return
    }
    hasViolations = true
    violations[index] = LimitViolation(
      limit: limit, block: block, bitOffset: bitOffset, value: value, least: least, most: most)
  }
}

extension LimitChecker {
  /// The bits of the samples of a block with `samples` luma samples.
  static func rawBits(
    _ samples: Int, _ format: ChromaFormat, lumaBitDepth: UInt8, chromaBitDepth: UInt8
  ) -> Int {
    let chromaSamples =
      switch format {
      case .monochrome: 0
      case .yuv420: samples / 2
      case .yuv422: samples
      case .yuv444: 2 * samples
      }
    return samples * Int(lumaBitDepth) + chromaSamples * Int(chromaBitDepth)
  }
}

// MARK: - H.264

extension LimitChecker: H264.MacroblockVisitor {
  /// Differences and types are checked.
  public static var wantsValues: Bool { true }
  /// Bits by kind are not checked.
  public static var wantsBits: Bool { false }

  /// Takes the limits of the level and of the sample format.
  public mutating func beginSlice(_ sequence: borrowing H264.SequenceParameterSet) {
    begin()
    let level = sequence.level
    // A vector and its prediction are both in −4 × range to 4 × range − 1 quarter samples (A.3.1, A.3.2).
    horizontalLimit = 8 * level.horizontalVectorRange - 1
    verticalLimit = 8 * level.verticalVectorRange - 1
    forbidsSmallBiprediction = level.forbidsSmallBiprediction
    bitLimit = 128 + sequence.rawMacroblockBits
  }

  /// Checks a macroblock.
  public mutating func visit(_ macroblock: borrowing H264.Macroblock) {
    let (block, bitOffset) = (macroblock.address, macroblock.firstBit)
    // The range is one of frame samples, two of which are a field's.
    let vertical = macroblock.isField ? verticalLimit &>> 1 : verticalLimit
    if Int(macroblock.vectorDifferenceSum) > min(horizontalLimit, vertical) {
      for index in 0..<min(2 &* Int(macroblock.vectorDifferenceCount), 64) {
        let (value, most) = (Int(macroblock.vectorDifferences[index]), index & 1 == 0 ? horizontalLimit : vertical)
        guard abs(value) > most else { continue }
        note(.vectorDifference, value, least: -most, most: most, block: block, bitOffset: bitOffset)
        break
      }
    }
    if forbidsSmallBiprediction, macroblock.kind == .inter8x8 {
      for index in 0..<4 {
        let type = Int(macroblock.subTypes[index])
        // B_Bi_8x4, B_Bi_4x8 and B_Bi_4x4. P slices have 0 to 3.
        guard type == 8 || type == 9 || type == 12 else { continue }
        note(.bipredictionSize, type, block: block, bitOffset: bitOffset)
        break
      }
    }
    if macroblock.kind != .pcm, macroblock.layerBits > bitLimit {
      note(.blockBits, macroblock.layerBits, most: bitLimit, block: block, bitOffset: bitOffset)
    }
  }
}

extension H264.SliceReader {
  /// Reads a slice to its end, and checks its macroblocks against limits.
  ///
  /// - Parameters:
  ///   - nalUnit: the NAL unit, header included, of type 1, 2 or 5.
  ///   - partitionB: data partition B with the same `slice_id`; empty without one.
  ///   - partitionC: data partition C with the same `slice_id`; empty without one.
  ///   - parameterSets: looked up by `pic_parameter_set_id`.
  ///   - checker: has the violations of the slice then; none if it is damaged.
  /// - Returns: the macroblocks that it covers.
  /// - Throws: the first damage.
  @discardableResult
  public mutating func check(
    _ nalUnit: Span<UInt8>, partitionB: Span<UInt8>, partitionC: Span<UInt8>,
    parameterSets: borrowing H264.ParameterSets, with checker: inout LimitChecker
  ) throws(SliceDamage) -> SliceExtent {
    do throws(SliceDamage) {
      return try read(
        nalUnit, partitionB: partitionB, partitionC: partitionC, parameterSets: parameterSets, visitor: &checker)
    } catch {
      // Values in front of damage are wrong, too.
      checker = LimitChecker()
      throw error
    }
  }
}

// MARK: - H.265

extension LimitChecker: H265.CodingUnitVisitor {
  /// Takes the limits of the sample format.
  public mutating func beginSlice(_ sequence: borrowing H265.SequenceParameterSet) {
    begin()
    hasPCM = false
    log2TreeBlockSize = Int(sequence.log2CodingTreeBlockSize)
    widthInTreeBlocks = sequence.widthInCodingTreeBlocks
    bitLimit = Int.max
    // A.3.2 to A.3.5: the version 1 profiles and the format range extensions.
    guard 1...4 ~= sequence.profile.idc, 3...6 ~= log2TreeBlockSize, !sequence.hasSeparateColourPlanes else { return }
    // RawCtuBits.
    let raw = Self.rawBits(
      1 << (2 * log2TreeBlockSize), sequence.chromaArrayType, lumaBitDepth: sequence.lumaBitDepth,
      chromaBitDepth: sequence.chromaBitDepth)
    bitLimit = 5 * raw / 3
  }

  /// Checks a coding unit.
  public mutating func visit(_ unit: borrowing H265.CodingUnit) {
    if unit.isPCM { hasPCM = true }
    guard unit.mode == .inter else { return }
    for part in 0..<unit.partition.count {
      let prediction = unit.predictions[part & 3]
      guard !prediction.isMerged, let value = Self.outOfRange(prediction) else { continue }
      let block = (unit.y &>> log2TreeBlockSize) &* widthInTreeBlocks &+ unit.x &>> log2TreeBlockSize
      note(.vectorDifference, Int(value), least: -32768, most: 32767, block: block, bitOffset: unit.firstBit)
      break
    }
  }

  /// A component of `MvdL0` or `MvdL1` that has more than 16 bits.
  @inline(__always)
  private static func outOfRange(_ prediction: H265.CodingUnit.Prediction) -> Int32? {
    let (list0, list1) = (prediction.difference0, prediction.difference1)
    if Int16(exactly: list0.0) == nil { return list0.0 }
    if Int16(exactly: list0.1) == nil { return list0.1 }
    if Int16(exactly: list1.0) == nil { return list1.0 }
    return Int16(exactly: list1.1) == nil ? list1.1 : nil
  }

  /// Checks the bits of a coding tree unit.
  public mutating func endTreeUnit(at address: Int, firstBit: Int, bitCount: Int) {
    if !hasPCM, bitCount > bitLimit {
      note(.blockBits, bitCount, most: bitLimit, block: address, bitOffset: firstBit)
    }
    hasPCM = false
  }
}

extension H265.SliceReader {
  /// Reads a slice segment of the base layer to its end, and checks its coding units against limits.
  ///
  /// - Parameters:
  ///   - nalUnit: the NAL unit, header included.
  ///   - parameterSets: the parameter sets in force.
  ///   - checker: has the violations of the segment then; none if it is damaged.
  /// - Returns: what the segment covers.
  /// - Throws: the first damage.
  @discardableResult
  public mutating func check(
    _ nalUnit: Span<UInt8>, parameterSets: borrowing H265.ParameterSets, with checker: inout LimitChecker
  ) throws(SliceDamage) -> SliceExtent {
    do throws(SliceDamage) {
      return try read(nalUnit, parameterSets: parameterSets, visitor: &checker)
    } catch {
      checker = LimitChecker()
      throw error
    }
  }
}
