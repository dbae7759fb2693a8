// SPDX-License-Identifier: MPL-2.0

import H26x

@testable import Slices

/// Writes slices of coding units that fill coding tree blocks of 16 samples: intra, or inter in P slices.
struct H265SliceWriter {
  var sps: H265.SequenceParameterSet
  var pps = H265.PictureParameterSet(id: 0, sequenceParameterSetID: 0)

  init(width: Int, height: Int) {
    sps = H265.SequenceParameterSet(
      profileTierLevel: .init(
        profile: H265.Profile(idc: 1, constraints: [.progressiveSource, .frameOnly]), levelIDC: 93),
      codedSize: VideoSize(width: width, height: height))
    sps.log2CodingBlockSizeRange = 1
    sps.log2TransformBlockSizeRange = 2
  }

  /// The sets of the stream.
  func parameterSets() throws(BitstreamError) -> H265.ParameterSets {
    var sets = H265.ParameterSets()
    try sets.insert(sps.nalUnit().span)
    try sets.insert(pps.nalUnit().span)
    return sets
  }

  /// What a slice has.
  struct Slice {
    /// `slice_segment_address`.
    var address = 0
    /// The coding tree units.
    var count: Int
    var isDependent = false
    /// `entry_point_offset_minus1` + 1 instead of the right ones.
    var entryPoints: [UInt32]?
    /// Coding tree units that are uncompressed.
    var pcm: Set<Int> = []
    /// `cu_qp_delta_abs` of units, which then have a coefficient.
    var qpDeltas: [Int: Int] = [:]
    /// The coding tree unit after which `end_of_subset_one_bit` is 0.
    var missingSubsetBit: Int?
    /// A magnitude for the coefficients of ``qpDeltas``.
    var level = 1
    /// `MvdL0` of units, and 0 of others. The slice is a P slice.
    var vectors: [Int: (x: Int, y: Int)]?
    /// Coding tree units of 16 transform blocks with 16 coefficients each, by address. The first `long` levels take
    /// about 28 bits. The last `longer` levels take one bit more than the shortest code.
    var crowded: [Int: (long: Int, longer: Int)] = [:]
  }

  /// A slice segment of an IDR picture.
  func nalUnit(_ slice: Slice) -> [UInt8] {
    let substreams = data(slice).substreams
    var writer = BitWriter()
    writer.u(16, UInt32(H265.NALUnitType.idrWithoutLeading.rawValue) << 9 | 1)
    writer.flag(slice.address == 0)
    writer.flag(false)
    writer.ue(0)
    if slice.address != 0 {
      if pps.allowsDependentSlices { writer.flag(slice.isDependent) }
      var length = 0
      while 1 << length < sps.codingTreeBlockCount { length += 1 }
      writer.u(length, UInt32(slice.address))
    }
    if !slice.isDependent {
      writer.ue(slice.vectors == nil ? 2 : 1)
      if slice.vectors != nil {
        // num_ref_idx_active_override_flag, five_minus_max_num_merge_cand.
        writer.flag(false)
        writer.ue(0)
      }
      writer.se(0)
      if pps.filtersAcrossSlices { writer.flag(false) }
    }
    if pps.tiles != nil || pps.usesWavefronts {
      let points = slice.entryPoints ?? substreams.dropLast().map { UInt32($0.count) }
      writer.ue(UInt32(points.count))
      if !points.isEmpty {
        writer.ue(31)
        for point in points { writer.u(32, point &- 1) }
      }
    }
    writer.trailingBits()
    return writer.bytes + substreams.flatMap { $0 }
  }

  /// The bits that a decoder reads for each coding tree unit, of a slice without PCM and with one substream.
  func treeUnitBits(_ slice: Slice) -> [Int] { data(slice).bits }

  /// The bins of a slice.
  func binCount(_ slice: Slice) -> Int { data(slice).binCount }

  /// The substreams with emulation prevention bytes, the bits of coding tree units, and all bins.
  private func data(_ slice: Slice) -> (substreams: [[UInt8]], bits: [Int], binCount: Int) {
    let settings = H265.SliceSettings(sps, pps) ?? H265.SliceSettings()
    var walk = H265.TreeBlockWalk(settings, raster: slice.address)
    var contexts = ContextSet()
    contexts.initialize(initType: slice.vectors == nil ? 0 : 1, qp: 26)
    var encoder = ArithmeticEncoder(BitWriter())
    var substreams: [[UInt8]] = []
    var bits: [Int] = []
    for index in 0..<slice.count {
      let before = encoder.shiftCount
      if let vectors = slice.vectors {
        interUnit(vectors[index] ?? (0, 0), &encoder, &contexts)
      } else if let levels = slice.crowded[index] {
        crowdedUnit(levels, &encoder, &contexts)
      } else {
        unit(index, slice, &encoder, &contexts)
      }
      bits.append(encoder.shiftCount - before)
      let isLast = index == slice.count - 1
      encoder.terminate(isLast)
      let goesOn = walk.advance(settings)
      guard !isLast, goesOn, walk.beginsTile || (settings.usesWavefronts && walk.isFirstInTileRow) else { continue }
      guard slice.missingSubsetBit != index else {
        encoder.terminate(false)
        continue
      }
      encoder.terminate(true)
      substreams.append(encoder.writer.bytes)
      encoder = ArithmeticEncoder(BitWriter(), binCount: encoder.binCount)
      // The units before did not use two blocks of a row, or all units of a slice are the same.
      contexts.initialize(initType: 0, qp: 26)
    }
    return (substreams + [encoder.writer.bytes], bits, encoder.binCount)
  }

  /// A unit with one vector difference and without coefficients.
  private func interUnit(
    _ vector: (x: Int, y: Int), _ encoder: inout ArithmeticEncoder, _ contexts: inout ContextSet
  ) {
    encoder.decision(false, &contexts.states[ContextIndex.splitCodingUnit])
    encoder.decision(false, &contexts.states[ContextIndex.skip])
    encoder.decision(false, &contexts.states[ContextIndex.predictionMode])
    encoder.decision(true, &contexts.states[ContextIndex.partMode])
    encoder.decision(false, &contexts.states[ContextIndex.mergeFlag])
    let components = [vector.x, vector.y]
    for component in components {
      encoder.decision(component != 0, &contexts.states[ContextIndex.differenceAboveZero])
    }
    for component in components where component != 0 {
      encoder.decision(abs(component) > 1, &contexts.states[ContextIndex.differenceAboveOne])
    }
    for component in components where component != 0 {
      if abs(component) > 1 {
        // abs_mvd_minus2, Exp-Golomb of order 1.
        var (rest, order) = (abs(component) - 2, 1)
        while rest >= 1 << order {
          encoder.bypass(true)
          rest -= 1 << order
          order += 1
        }
        encoder.bypass(false)
        encoder.bypass(order, UInt32(rest))
      }
      encoder.bypass(component < 0)
    }
    encoder.decision(false, &contexts.states[ContextIndex.vectorPredictor])
    encoder.decision(false, &contexts.states[ContextIndex.rootCodedBlock])
  }

  /// Four coding units with four transform blocks each.
  private func crowdedUnit(
    _ levels: (long: Int, longer: Int), _ encoder: inout ArithmeticEncoder, _ contexts: inout ContextSet
  ) {
    encoder.decision(true, &contexts.states[ContextIndex.splitCodingUnit])
    for unit in 0..<4 {
      encoder.decision(false, &contexts.states[ContextIndex.partMode])
      for _ in 0..<4 { encoder.decision(true, &contexts.states[ContextIndex.predictedIntraMode]) }
      for _ in 0..<4 { encoder.bypass(false) }
      encoder.decision(false, &contexts.states[ContextIndex.chromaIntraMode])
      for _ in 0..<2 { encoder.decision(false, &contexts.states[ContextIndex.codedChroma]) }
      for block in 0..<4 {
        encoder.decision(true, &contexts.states[ContextIndex.codedLuma])
        crowdedBlock(4 * unit + block, levels, &encoder, &contexts)
      }
    }
  }

  /// `residual_coding()` of 16 coefficients above 2.
  private func crowdedBlock(
    _ number: Int, _ levels: (long: Int, longer: Int), _ encoder: inout ArithmeticEncoder,
    _ contexts: inout ContextSet
  ) {
    for bin in 0..<3 { encoder.decision(true, &contexts.states[ContextIndex.lastX + bin]) }
    for bin in 0..<3 { encoder.decision(true, &contexts.states[ContextIndex.lastY + bin]) }
    for place in (0..<15).reversed() {
      encoder.decision(true, &contexts.states[ContextIndex.significant + Int(ScanTables.significance[64 + place])])
    }
    for place in 0..<8 { encoder.decision(true, &contexts.states[ContextIndex.aboveOne + (place == 0 ? 1 : 0)]) }
    encoder.decision(true, &contexts.states[ContextIndex.aboveTwo])
    encoder.bypass(16, 0)
    var rice = 0
    for place in 0..<16 {
      let rest: Int
      if 16 * number + place < levels.long {
        for _ in 0..<13 { encoder.bypass(true) }
        encoder.bypass(false)
        encoder.bypass(10 + rice, 0)
        rest = 1026 << rice
      } else {
        let isLonger = place >= 8 && 8 * (15 - number) + 15 - place < levels.longer
        if isLonger { encoder.bypass(true) }
        encoder.bypass(false)
        encoder.bypass(rice, 0)
        rest = isLonger ? 1 << rice : 0
      }
      if rest + (place == 0 ? 3 : place < 8 ? 2 : 1) > 3 << rice { rice = min(rice + 1, 4) }
    }
  }

  private func unit(
    _ index: Int, _ slice: Slice, _ encoder: inout ArithmeticEncoder, _ contexts: inout ContextSet
  ) {
    encoder.decision(false, &contexts.states[ContextIndex.splitCodingUnit])
    if sps.pcm != nil {
      let isPCM = slice.pcm.contains(index)
      encoder.terminate(isPCM)
      if isPCM {
        var writer = encoder.writer
        for _ in 0..<384 { writer.u(8, 0) }
        encoder = ArithmeticEncoder(writer, binCount: encoder.binCount)
        return
      }
    }
    encoder.decision(true, &contexts.states[ContextIndex.predictedIntraMode])
    encoder.bypass(false)
    encoder.decision(false, &contexts.states[ContextIndex.chromaIntraMode])
    encoder.decision(false, &contexts.states[ContextIndex.codedChroma])
    encoder.decision(false, &contexts.states[ContextIndex.codedChroma])
    let delta = slice.qpDeltas[index]
    encoder.decision(delta != nil, &contexts.states[ContextIndex.codedLuma + 1])
    guard let delta else { return }
    if pps.codingUnitQPDepth != nil {
      let magnitude = abs(delta)
      for bin in 0..<min(magnitude + 1, 5) {
        encoder.decision(bin < magnitude, &contexts.states[ContextIndex.qpDelta + (bin == 0 ? 0 : 1)])
      }
      if magnitude >= 5 { exponentialGolomb(UInt32(magnitude - 5), &encoder) }
      if magnitude > 0 { encoder.bypass(delta < 0) }
    }
    // The first coefficient alone.
    encoder.decision(false, &contexts.states[ContextIndex.lastX + 6])
    encoder.decision(false, &contexts.states[ContextIndex.lastY + 6])
    encoder.decision(slice.level > 1, &contexts.states[ContextIndex.aboveOne + 1])
    if slice.level > 1 { encoder.decision(slice.level > 2, &contexts.states[ContextIndex.aboveTwo]) }
    encoder.bypass(false)
    guard slice.level > 2 else { return }
    // coeff_abs_level_remaining with a Rice parameter of 0.
    let rest = UInt64(slice.level - 3)
    if rest < 3 {
      for _ in 0..<rest { encoder.bypass(true) }
      encoder.bypass(false)
    } else {
      var exponent = 0
      while (1 << UInt64(exponent + 1)) + 2 <= rest { exponent += 1 }
      for _ in 0..<exponent + 3 { encoder.bypass(true) }
      if exponent < 29 { encoder.bypass(false) }
      encoder.bypass(exponent, UInt32(truncatingIfNeeded: rest - 2 - (1 << UInt64(exponent))))
    }
  }

  private func exponentialGolomb(_ value: UInt32, _ encoder: inout ArithmeticEncoder) {
    var exponent = 0
    while (1 << UInt32(exponent + 1)) - 1 <= value { exponent += 1 }
    for _ in 0..<exponent { encoder.bypass(true) }
    encoder.bypass(false)
    encoder.bypass(exponent, value - ((1 << UInt32(exponent)) - 1))
  }
}
