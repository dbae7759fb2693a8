// SPDX-License-Identifier: MPL-2.0

import TestSupport

@testable import H26x

/// A random legal slice header of H.264 with random data behind it. It is written without the library's own writer of
/// headers.
struct RandomSlice {
  private(set) var sps: H264.SequenceParameterSet
  private(set) var pps: H264.PictureParameterSet
  /// The NAL unit.
  private(set) var bytes: [UInt8] = []
  /// Whether the header repeats or replaces the default reference counts, or needs none.
  private(set) var sendsReferenceCounts = true
  /// Whether the slice has fields.
  private(set) var isField = false

  /// The parameter sets.
  var sets: H264.ParameterSets {
    get throws {
      var sets = H264.ParameterSets()
      try sets.insert(bytes: sps.nalUnit())
      try sets.insert(bytes: pps.nalUnit())
      return sets
    }
  }

  init(_ random: inout SeededGenerator) throws {
    sps = try Samples.sps()
    pps = try H264.PictureParameterSet(bytes: Samples.highPPS)
    chooseParameterSets(&random)
    let usesCABAC = pps.usesCABAC
    // 0 to 4: P, B, I, SP, SI.
    var kind = random.below(usesCABAC ? 3 : 5)
    var type = random.one(of: usesCABAC ? [1, 1, 5, 19, 20] : [1, 1, 2, 5, 19, 20] as [UInt32])
    if sps.hasSeparateColourPlanes || pps.sliceGroups != nil, type == 20 { type = 1 }
    if type == 5, kind < 2 || kind == 3 { kind = 2 }
    let isIDR = type == 5 || type == 20 && kind == 2
    let isReference = isIDR || random.oneIn(2)
    isField = !sps.isFrameOnly && random.oneIn(2)
    var writer = BitWriter()
    writer.u(8, (isReference ? 1 + UInt32(random.below(3)) : 0) << 5 | type)
    if type == 20 {
      // A header extension of MVC: non_idr_flag, priority_id, view_id, and inter_view_flag with a reserved bit.
      writer.u(2, isIDR ? 0 : 1)
      for (count, value) in [(6, 5), (10, 1), (3, 0), (1, 0), (2, 3)] as [(Int, UInt32)] { writer.u(count, value) }
    }
    writer.ue(UInt32(random.below(1000)))
    writer.ue(UInt32(kind + (random.oneIn(2) ? 5 : 0)))
    writer.ue(UInt32(pps.id.rawValue))
    if sps.hasSeparateColourPlanes { writer.u(2, UInt32(random.below(3))) }
    writer.u(Int(sps.log2MaximumFrameNumber), UInt32(random.below(1 << Int(sps.log2MaximumFrameNumber))))
    if !sps.isFrameOnly {
      writer.flag(isField)
      if isField { writer.flag(random.oneIn(2)) }
    }
    if isIDR { writer.ue(UInt32(random.below(65536))) }
    writePictureOrder(to: &writer, &random)
    if pps.isRedundantPictureCountPresent { writer.ue(UInt32(random.below(128))) }
    writeReferences(to: &writer, kind, isMultiview: type == 20, &random)
    if isIDR {
      writer.u(2, UInt32(random.below(4)))
    } else if isReference {
      Self.writeMarking(to: &writer, &random)
    }
    if usesCABAC, kind < 2 { writer.ue(UInt32(random.below(3))) }
    writer.se(Int32(random.below(41)) - 20)
    if kind == 3 { writer.flag(random.oneIn(2)) }
    if kind > 2 { writer.se(Int32(random.below(41)) - 20) }
    if pps.isDeblockingControlPresent {
      let idc = random.below(3)
      writer.ue(UInt32(idc))
      if idc != 1 { for _ in 0..<2 { writer.se(Int32(random.below(13)) - 6) } }
    }
    // 80 × 45 map units, or 80 × 23, need 12 or 11 bits at a rate of one.
    if pps.sliceGroups != nil { writer.u(sps.isFrameOnly ? 12 : 11, UInt32(random.below(1000))) }
    writeData(to: &writer, &random)
  }

  private mutating func chooseParameterSets(_ random: inout SeededGenerator) {
    sps.profile = H264.Profile(idc: 244, constraintFlags: 0)
    sps.chromaFormat = random.one(of: ChromaFormat.allCases)
    sps.hasSeparateColourPlanes = sps.chromaFormat == .yuv444 && random.oneIn(2)
    sps.log2MaximumFrameNumber = UInt8(4 + random.below(13))
    sps.isFrameOnly = random.oneIn(2)
    if !sps.isFrameOnly {
      sps.heightInMapUnits = 23
      sps.isMacroblockAdaptiveFrameField = random.oneIn(2)
    }
    switch random.below(3) {
    case 0: sps.pictureOrderCountType = .leastSignificantBits(log2Maximum: UInt8(4 + random.below(13)))
    case 1:
      sps.pictureOrderCountType = .cycle(
        .init(
          isDeltaAlwaysZero: random.oneIn(2), offsetForNonReferencePicture: -1, offsetForTopToBottomField: 1,
          offsetsForReferenceFrames: [2]))
    default: sps.pictureOrderCountType = .decodingOrder
    }
    pps.usesCABAC = random.oneIn(2)
    pps.isBottomFieldPictureOrderPresent = random.oneIn(2)
    pps.isRedundantPictureCountPresent = random.oneIn(2)
    pps.isDeblockingControlPresent = random.oneIn(2)
    pps.usesWeightedPrediction = random.oneIn(2)
    pps.weightedBipredictionIDC = UInt8(random.below(3))
    pps.defaultReferenceCountList0 = UInt8(1 + random.below(4))
    pps.defaultReferenceCountList1 = UInt8(1 + random.below(4))
    pps.initialQP = Int8(20 + random.below(12))
    pps.initialQS = Int32(20 + random.below(12))
    if random.oneIn(4) {
      let type = UInt8(3 + random.below(3))
      pps.sliceGroups = .init(count: 2, map: .evolving(type: type, isDirectionReversed: true, changeRateMinus1: 0))
    }
  }

  private func writePictureOrder(to writer: inout BitWriter, _ random: inout SeededGenerator) {
    let hasBottom = pps.isBottomFieldPictureOrderPresent && !isField
    switch sps.pictureOrderCountType {
    case .leastSignificantBits(let count):
      writer.u(Int(count), UInt32(random.below(1 << Int(count))))
      if hasBottom { writer.se(Int32(random.below(9)) - 4) }
    case .cycle(let cycle) where !cycle.isDeltaAlwaysZero:
      for _ in 0..<(hasBottom ? 2 : 1) { writer.se(Int32(random.below(1 << 20)) - 1 << 19) }
    default: break
    }
  }

  private mutating func writeReferences(
    to writer: inout BitWriter, _ kind: Int, isMultiview: Bool, _ random: inout SeededGenerator
  ) {
    let isB = kind == 1
    if isB { writer.flag(random.oneIn(2)) }
    guard kind < 2 || kind == 3 else { return }
    var counts = [Int(pps.defaultReferenceCountList0), isB ? Int(pps.defaultReferenceCountList1) : 0]
    sendsReferenceCounts = random.oneIn(2)
    writer.flag(sendsReferenceCounts)
    if sendsReferenceCounts {
      for list in 0...(isB ? 1 : 0) {
        counts[list] = 1 + random.below(isField ? 32 : 16)
        writer.ue(UInt32(counts[list] - 1))
      }
    }
    for list in 0...(isB ? 1 : 0) {
      let steps = random.oneIn(2) ? 1 + random.below(counts[list]) : 0
      writer.flag(steps > 0)
      for _ in 0..<steps {
        let operation = random.one(of: isMultiview ? [0, 1, 2, 4, 5] : [0, 1, 2])
        writer.ue(UInt32(operation))
        let limit = operation < 2 ? 1 << (Int(sps.log2MaximumFrameNumber) + (isField ? 1 : 0)) : 16
        writer.ue(UInt32(random.oneIn(4) ? limit - 1 : random.below(limit)))
      }
      if steps > 0 { writer.ue(3) }
    }
    guard isB ? pps.weightedBipredictionIDC == 1 : pps.usesWeightedPrediction else { return }
    let isMonochrome = sps.chromaArrayType == .monochrome
    for _ in 0..<(isMonochrome ? 1 : 2) { writer.ue(UInt32(random.below(8))) }
    for _ in 0..<counts[0] + counts[1] {
      for count in isMonochrome ? [2] : [2, 4] {
        let isSent = random.oneIn(2)
        writer.flag(isSent)
        for _ in 0..<(isSent ? count : 0) { writer.se(Int32(random.below(256)) - 128) }
      }
    }
  }

  private static func writeMarking(to writer: inout BitWriter, _ random: inout SeededGenerator) {
    let isAdaptive = random.oneIn(2)
    writer.flag(isAdaptive)
    guard isAdaptive else { return }
    for _ in 0..<random.below(5) {
      let code = 1 + random.below(6)
      writer.ue(UInt32(code))
      for _ in 0..<(code == 5 ? 0 : code == 3 ? 2 : 1) { writer.ue(UInt32(random.below(16))) }
    }
    writer.ue(0)
  }

  /// Writes random bits, in which emulation prevention is needed often.
  private mutating func writeData(to writer: inout BitWriter, _ random: inout SeededGenerator) {
    if pps.usesCABAC { while !writer.isByteAligned { writer.flag(true) } }
    for _ in 0..<random.below(40) { writer.u(8, random.one(of: [0, 0, 0, 0, 1, 2, 3, 4, 0x80, 0xFF])) }
    if !pps.usesCABAC { writer.u(random.below(8), UInt32(random.below(256))) }
    writer.trailingBits()
    bytes = writer.bytes
    // cabac_zero_words (7.3.2.8).
    if pps.usesCABAC { for _ in 0..<random.below(3) { bytes += [0, 0, 3] } }
  }
}
