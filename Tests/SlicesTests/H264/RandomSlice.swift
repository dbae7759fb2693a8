// SPDX-License-Identifier: MPL-2.0

import H26x
import Slices
import TestSupport

/// The parameter sets of a slice that a test writes.
struct SliceSettings {
  var sps: H264.SequenceParameterSet
  var pps: H264.PictureParameterSet
  /// `slice_type`, 0 to 4.
  var sliceType: H264.SliceHeader.SliceType = .p
  var isPartitioned = false
  var colourPlane: UInt8 = 0
  var redundantPictureCount: UInt8 = 0
  var referenceCounts = (1, 1)
  var sliceGroupChangeCycle: UInt32 = 0

  /// A Baseline picture of `width` × `height` macroblocks.
  init(width: Int, height: Int) throws {
    // x264, High 4.0, 1280×720.
    let bytes: [UInt8] = [
      0x67, 0x64, 0x00, 0x1F, 0xAC, 0xD9, 0x40, 0x50, 0x05, 0xBB, 0x01, 0x6C, 0x80, 0x00, 0x00, 0x03, 0x00, 0x80, 0x00,
      0x00, 0x1E, 0x07, 0x8C, 0x18, 0xCB,
    ]
    sps = try H264.SequenceParameterSet(nalUnit: bytes.span)
    sps.profile = H264.Profile(idc: 88, constraintFlags: 0)
    sps.vui = nil
    sps.cropping = nil
    sps.widthInMacroblocks = width
    sps.heightInMapUnits = height
    sps.pictureOrderCountType = .decodingOrder
    pps = try H264.PictureParameterSet(nalUnit: ([0x68, 0xEB, 0xE3, 0xCB, 0x22, 0xC0] as [UInt8]).span)
    pps.usesCABAC = false
    pps.usesWeightedPrediction = false
    pps.weightedBipredictionIDC = 0
    pps.isDeblockingControlPresent = false
    pps.high = nil
    pps.initialQP = 26
    pps.initialQS = 26
  }

  func parameterSets() throws -> H264.ParameterSets {
    var sets = H264.ParameterSets()
    try sets.insert(sps.nalUnit().span)
    try sets.insert(pps.nalUnit().span)
    return sets
  }

  var isMbaff: Bool { sps.isMacroblockAdaptiveFrameField }

  /// A writer behind the slice header (7.3.3).
  func writer(firstMacroblock: Int, qpDelta: Int32 = 0) -> BitWriter {
    var writer = BitWriter()
    writer.u(8, isPartitioned ? 2 : 1)
    writer.ue(UInt32(firstMacroblock))
    writer.ue(UInt32(sliceType.rawValue))
    writer.ue(UInt32(pps.id.rawValue))
    if sps.hasSeparateColourPlanes { writer.u(2, UInt32(colourPlane)) }
    writer.u(Int(sps.log2MaximumFrameNumber), 0)
    if !sps.isFrameOnly { writer.flag(false) }
    if pps.isRedundantPictureCountPresent { writer.ue(UInt32(redundantPictureCount)) }
    if sliceType == .b { writer.flag(true) }
    if !sliceType.isIntra {
      writer.flag(true)
      writer.ue(UInt32(referenceCounts.0 - 1))
      if sliceType == .b { writer.ue(UInt32(referenceCounts.1 - 1)) }
      writer.flag(false)
      if sliceType == .b { writer.flag(false) }
    }
    writer.se(qpDelta)
    if sliceType == .sp { writer.flag(true) }
    if sliceType == .sp || sliceType == .si { writer.se(3) }
    if case .evolving(_, _, let rate)? = pps.sliceGroups?.map {
      var length = 0
      while (1 << length) - 1 < (sps.widthInMacroblocks * sps.heightInMapUnits + Int(rate)) / (Int(rate) + 1) {
        length += 1
      }
      writer.u(length, sliceGroupChangeCycle)
    }
    return writer
  }
}

/// A macroblock that was written, or that was read.
struct ReadMacroblock: Equatable {
  var address = 0
  var kind = H264.Macroblock.Kind.intra4x4
  var typeNumber = 0
  var isField = false
  var qp = 0
  var references = [Int](repeating: -1, count: 8)
  var vectorDifferenceSum = 0
  var vectorDifferences: [Int] = []

  init() {}

  init(_ macroblock: borrowing H264.Macroblock) {
    address = macroblock.address
    kind = macroblock.kind
    typeNumber = Int(macroblock.typeNumber)
    isField = macroblock.isField
    qp = Int(macroblock.lumaQP)
    for index in 0..<8 { references[index] = Int(macroblock.referenceIndices[index]) }
    vectorDifferenceSum = Int(macroblock.vectorDifferenceSum)
    for index in 0..<(2 * Int(macroblock.vectorDifferenceCount)) {
      vectorDifferences.append(Int(macroblock.vectorDifferences[index]))
    }
  }
}

/// Collects all macroblocks.
struct CollectingVisitor: H264.MacroblockVisitor {
  static var wantsValues: Bool { true }
  static var wantsBits: Bool { true }
  var macroblocks: [ReadMacroblock] = []
  /// The bits of each macroblock.
  var kinds: [BlockBits] = []
  var bits = 0

  mutating func visit(_ macroblock: borrowing H264.Macroblock) {
    macroblocks.append(ReadMacroblock(macroblock))
    kinds.append(macroblock.bits)
    bits += Int(macroblock.bits.total)
  }
}

/// Writes a slice of random macroblocks without coefficients (7.3.4 and 7.3.5), by other code than that which reads it.
struct RandomSlice {
  /// The NAL units: the slice, or its data partitions A, B and C.
  private(set) var nalUnits: [[UInt8]] = []
  private(set) var macroblocks: [ReadMacroblock] = []

  private let settings: SliceSettings
  private var main: BitWriter
  private var intra: BitWriter
  private var inter: BitWriter
  private var qp: Int
  private var generator: SeededGenerator
  /// Coefficients of a 4×4 block of each macroblock of the slice: 16 in PCM.
  private var counts: [Int: Int] = [:]
  /// Whether pairs of the slice have field macroblocks.
  private var fieldPairs: [Int: Bool] = [:]
  private var skipRun: UInt32 = 0

  /// Writes a slice that covers `addresses` in this order.
  init(_ settings: SliceSettings, addresses: [Int], seed: UInt64) {
    self.settings = settings
    generator = SeededGenerator(state: seed)
    let delta = Int.random(in: -10...10, using: &generator)
    qp = 26 + delta
    main = settings.writer(
      firstMacroblock: settings.isMbaff ? addresses[0] / 2 : addresses[0], qpDelta: Int32(delta))
    (intra, inter) = (BitWriter(), BitWriter())
    if settings.isPartitioned {
      main.ue(7)  // slice_id
      for partition in [3, 4] {
        var writer = BitWriter()
        writer.u(8, UInt32(partition))
        writer.ue(7)
        if settings.pps.isRedundantPictureCountPresent { writer.ue(UInt32(settings.redundantPictureCount)) }
        if partition == 3 { intra = writer } else { inter = writer }
      }
    }
    var isSkippedTop = false
    for address in addresses {
      let isTop = settings.isMbaff && address % 2 == 0
      if isTop { fieldPairs[address / 2] = inferredField(address / 2) }
      if !settings.sliceType.isIntra, Int.random(in: 0..<3, using: &generator) == 0 {
        writeSkipped(address)
        isSkippedTop = isTop
        continue
      }
      if !settings.sliceType.isIntra { main.ue(skipRun) }
      skipRun = 0
      if settings.isMbaff, isTop || isSkippedTop {
        let isField = Bool.random(using: &generator)
        fieldPairs[address / 2] = isField
        main.flag(isField)
      }
      isSkippedTop = false
      writeMacroblock(address)
    }
    if skipRun > 0 { main.ue(skipRun) }
    main.trailingBits()
    nalUnits = [main.bytes]
    if settings.isPartitioned {
      intra.trailingBits()
      inter.trailingBits()
      nalUnits += [intra.bytes, inter.bytes]
    }
    // A field flag at the bottom holds for a skipped macroblock at the top, too.
    for index in macroblocks.indices where settings.isMbaff {
      macroblocks[index].isField = fieldPairs[macroblocks[index].address / 2] ?? false
    }
  }

  private func inferredField(_ pair: Int) -> Bool {
    let width = settings.sps.widthInMacroblocks
    if pair % width > 0, let left = fieldPairs[pair - 1] { return left }
    return fieldPairs[pair - width] ?? false
  }

  private mutating func writeSkipped(_ address: Int) {
    skipRun += 1
    counts[address] = 0
    var macroblock = ReadMacroblock()
    macroblock.address = address
    macroblock.kind = settings.sliceType == .b ? .directSkip : .predictedSkip
    macroblock.qp = qp
    macroblocks.append(macroblock)
  }

  private mutating func writeMacroblock(_ address: Int) {
    var macroblock = ReadMacroblock()
    macroblock.address = address
    let isInter = !settings.sliceType.isIntra && Int.random(in: 0..<4, using: &generator) > 0
    // The first number of intra types, without SI.
    let offset =
      switch settings.sliceType {
      case .i: 0
      case .si: 1
      case .p, .sp: 5
      case .b: 23
      }
    counts[address] = 0
    if isInter {
      writeInter(&macroblock)
    } else {
      switch Int.random(in: 0..<4, using: &generator) {
      // In MBAFF frames it would take the neighbors of Table 6-4 to write the blocks beside PCM.
      case 0 where !settings.isMbaff:
        main.ue(UInt32(offset + 25))
        macroblock.kind = .pcm
        macroblock.typeNumber = 25
        writePCM()
        counts[address] = 16
      case 1 where settings.sliceType == .si:
        main.ue(0)
        macroblock.kind = .switchingIntra
        writeNxN()
      case 1, 2:
        main.ue(UInt32(offset))
        macroblock.kind = .intra4x4
        writeNxN()
      default: writeIntra16x16(&macroblock, offset: offset)
      }
    }
    macroblock.qp = macroblock.kind == .pcm ? 0 : qp
    macroblocks.append(macroblock)
  }

  private var chromaIsSubsampled: Bool {
    settings.sps.chromaArrayType == .yuv420 || settings.sps.chromaArrayType == .yuv422
  }

  private mutating func writePCM() {
    let samples =
      switch settings.sps.chromaArrayType {
      case .monochrome: 256
      case .yuv420: 384
      case .yuv422: 512
      case .yuv444: 768
      }
    for index in 0..<samples {
      let sample = UInt32.random(in: 0...3, using: &generator)
      if settings.isPartitioned {
        if index == 0 { intra.align() }
        intra.u(8, sample)
      } else {
        if index == 0 { main.align() }
        main.u(8, sample)
      }
    }
  }

  private mutating func writeNxN() {
    for _ in 0..<16 {
      let isPredicted = Bool.random(using: &generator)
      main.flag(isPredicted)
      if !isPredicted { main.u(3, UInt32.random(in: 0...7, using: &generator)) }
    }
    if chromaIsSubsampled { main.ue(UInt32.random(in: 0...3, using: &generator)) }
    // A coded_block_pattern of 0 for intra macroblocks (Table 9-4).
    main.ue(chromaIsSubsampled ? 3 : 1)
  }

  /// DC blocks without coefficients: the code depends on the neighbors.
  private mutating func writeIntra16x16(_ macroblock: inout ReadMacroblock, offset: Int) {
    let mode = Int.random(in: 0...3, using: &generator)
    main.ue(UInt32(offset + 1 + mode))
    macroblock.kind = .intra16x16
    macroblock.typeNumber = 1 + mode
    if chromaIsSubsampled { main.ue(UInt32.random(in: 0...3, using: &generator)) }
    let delta = Int.random(in: -26...25, using: &generator)
    main.se(Int32(delta))
    qp = (qp + delta + 52) % 52
    for _ in 0..<(settings.sps.chromaArrayType == .yuv444 ? 3 : 1) {
      let token = emptyBlock(macroblock.address)
      if settings.isPartitioned { intra.u(token.length, token.code) } else { main.u(token.length, token.code) }
    }
  }

  /// `coeff_token` of a block without coefficients (Table 9-5).
  private func emptyBlock(_ address: Int) -> (length: Int, code: UInt32) {
    let width = settings.sps.widthInMacroblocks
    let left = address % width > 0 ? counts[address - 1] : nil
    let above = counts[address - width]
    let expected: Int
    if let left, let above { expected = (left + above + 1) / 2 } else { expected = left ?? above ?? 0 }
    switch expected {
    case 0, 1: return (1, 1)
    case 2, 3: return (2, 3)
    case 4...7: return (4, 15)
    default: return (6, 3)
    }
  }

  // MARK: Inter

  private mutating func writeInter(_ macroblock: inout ReadMacroblock) {
    let isB = settings.sliceType == .b
    let number = Int.random(in: isB ? 0...22 : 0...3, using: &generator)
    main.ue(UInt32(number))
    macroblock.typeNumber = number
    if isB, number == 0 {
      macroblock.kind = .direct
    } else if number == (isB ? 22 : 3) {
      macroblock.kind = .inter8x8
      writeQuarters(&macroblock, isB: isB)
    } else {
      let names = isB ? Self.bidirectional[number - 1] : Self.predicted[number]
      macroblock.kind = names.kind
      writeParts(&macroblock, names.parts)
    }
    // A coded_block_pattern of 0 for inter macroblocks.
    main.ue(0)
  }

  private typealias InterType = (kind: H264.Macroblock.Kind, parts: [[Int]])

  /// Table 7-13: the lists of each part.
  private static let predicted: [InterType] = [
    (.inter16x16, [[0]]), (.inter16x8, [[0], [0]]), (.inter8x16, [[0], [0]]),
  ]

  /// Table 7-14 from B_L0_16x16 on.
  private static let bidirectional: [InterType] = {
    let pairs: [[[Int]]] = [
      [[0], [0]], [[1], [1]], [[0], [1]], [[1], [0]], [[0], [0, 1]], [[1], [0, 1]], [[0, 1], [0]], [[0, 1], [1]],
      [[0, 1], [0, 1]],
    ]
    return [(.inter16x16, [[0]]), (.inter16x16, [[1]]), (.inter16x16, [[0, 1]])]
      + pairs.flatMap { [(.inter16x8, $0), (.inter8x16, $0)] as [InterType] }
  }()

  /// Table 7-18 from B_L0_8x8 on: lists and number of vectors.
  private static let bidirectionalQuarters: [(lists: [Int], vectors: Int)] = [
    ([0], 1), ([1], 1), ([0, 1], 1), ([0], 2), ([0], 2), ([1], 2), ([1], 2), ([0, 1], 2), ([0, 1], 2), ([0], 4),
    ([1], 4), ([0, 1], 4),
  ]

  private func referenceCount(_ list: Int, _ address: Int) -> Int {
    let count = list == 0 ? settings.referenceCounts.0 : settings.referenceCounts.1
    return settings.isMbaff && fieldPairs[address / 2] == true ? 2 * count : count
  }

  private mutating func writeReference(_ list: Int, _ address: Int) -> Int {
    let count = referenceCount(list, address)
    guard count > 1 else { return 0 }
    let index = Int.random(in: 0..<count, using: &generator)
    if count == 2 { main.flag(index == 0) } else { main.ue(UInt32(index)) }
    return index
  }

  private mutating func writeVector(_ macroblock: inout ReadMacroblock) {
    for _ in 0..<2 {
      let value = Int32.random(in: Bool.random(using: &generator) ? -3...3 : -32768...32767, using: &generator)
      main.se(value)
      macroblock.vectorDifferenceSum += Int(abs(value))
      macroblock.vectorDifferences.append(Int(value))
    }
  }

  private mutating func writeParts(_ macroblock: inout ReadMacroblock, _ parts: [[Int]]) {
    for list in 0..<2 {
      for (part, lists) in parts.enumerated() where lists.contains(list) {
        let index = writeReference(list, macroblock.address)
        for block in 0..<4 {
          let isInPart =
            switch macroblock.kind {
            case .inter16x8: block / 2 == part
            case .inter8x16: block % 2 == part
            default: true
            }
          if isInPart { macroblock.references[4 * list + block] = index }
        }
      }
    }
    for list in 0..<2 {
      for lists in parts where lists.contains(list) { writeVector(&macroblock) }
    }
  }

  private mutating func writeQuarters(_ macroblock: inout ReadMacroblock, isB: Bool) {
    var quarters: [(lists: [Int], vectors: Int)] = []
    for _ in 0..<4 {
      let type = Int.random(in: isB ? 0...12 : 0...3, using: &generator)
      main.ue(UInt32(type))
      if isB {
        quarters.append(type == 0 ? ([], 0) : Self.bidirectionalQuarters[type - 1])
      } else {
        quarters.append(([0], [1, 2, 2, 4][type]))
      }
    }
    for list in 0..<2 {
      for block in 0..<4 where quarters[block].lists.contains(list) {
        macroblock.references[4 * list + block] = writeReference(list, macroblock.address)
      }
    }
    for list in 0..<2 {
      for block in 0..<4 where quarters[block].lists.contains(list) {
        for _ in 0..<quarters[block].vectors { writeVector(&macroblock) }
      }
    }
  }
}
