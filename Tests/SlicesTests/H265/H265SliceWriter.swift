// SPDX-License-Identifier: MPL-2.0

import H26x

@testable import Slices

/// Writes slices of intra coding units that fill coding tree blocks of 16 samples.
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
  }

  /// A slice segment of an IDR picture.
  func nalUnit(_ slice: Slice) -> [UInt8] {
    let substreams = data(slice)
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
      writer.ue(2)
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

  /// The substreams with emulation prevention bytes.
  private func data(_ slice: Slice) -> [[UInt8]] {
    let settings = H265.SliceSettings(sps, pps) ?? H265.SliceSettings()
    var walk = H265.TreeBlockWalk(settings, raster: slice.address)
    var contexts = ContextSet()
    contexts.initialize(initType: 0, qp: 26)
    var encoder = ArithmeticEncoder(BitWriter())
    var substreams: [[UInt8]] = []
    for index in 0..<slice.count {
      unit(index, slice, &encoder, &contexts)
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
      encoder = ArithmeticEncoder(BitWriter())
      // The units before did not use two blocks of a row, or all units of a slice are the same.
      contexts.initialize(initType: 0, qp: 26)
    }
    return substreams + [encoder.writer.bytes]
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
        encoder = ArithmeticEncoder(writer)
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
