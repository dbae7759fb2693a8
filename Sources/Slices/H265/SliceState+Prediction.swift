// SPDX-License-Identifier: MPL-2.0

internal import H26x

extension H265.SliceState {
  /// The prediction units of an inter unit that is not skipped.
  mutating func readPredictions(_ engine: inout ArithmeticDecoder, depth: Int) throws(H265.Stop) {
    let count: Int
    switch unit.partition {
    case .whole: count = 1
    case .quarters: count = 4
    default: count = 2
    }
    // 8×4 and 4×8 are not predicted from two pictures.
    let isSmall = unit.log2Size == 3 && unit.partition != .whole
    for part in 0..<count {
      // prediction_unit() (7.3.8.6).
      if engine.decision(&contexts.states[ContextIndex.mergeFlag]) {
        if part == 0 { isMerged = true }
        readMergedPrediction(&engine, part)
      } else {
        try readPrediction(&engine, part, depth: depth, isSmall: isSmall)
      }
    }
  }

  /// `merge_idx` (9.3.3).
  mutating func readMergedPrediction(_ engine: inout ArithmeticDecoder, _ part: Int) {
    var index: UInt8 = 0
    if mergeCandidateCount > 1, engine.decision(&contexts.states[ContextIndex.mergeIndex]) {
      index = 1
      while Int(index) < mergeCandidateCount &- 1, engine.bypass() { index &+= 1 }
    }
    unit.predictions[part & 3].isMerged = true
    unit.predictions[part & 3].mergeIndex = index
  }

  private mutating func readPrediction(
    _ engine: inout ArithmeticDecoder, _ part: Int, depth: Int, isSmall: Bool
  ) throws(H265.Stop) {
    var prediction = H265.CodingUnit.Prediction()
    var (usesList0, usesList1) = (true, false)
    if isB {
      // inter_pred_idc.
      if !isSmall, engine.decision(&contexts.states[ContextIndex.interPrediction &+ (depth & 3)]) {
        usesList1 = true
      } else if engine.decision(&contexts.states[ContextIndex.interPrediction &+ 4]) {
        (usesList0, usesList1) = (false, true)
      }
    }
    if usesList0 {
      prediction.references.0 = readReference(&engine, count: referenceCount0)
      prediction.difference0 = try readDifference(&engine)
      _ = engine.decision(&contexts.states[ContextIndex.vectorPredictor])
    }
    if usesList1 {
      prediction.references.1 = readReference(&engine, count: referenceCount1)
      if !(hasNoDifferencesOfBiprediction && usesList0) { prediction.difference1 = try readDifference(&engine) }
      _ = engine.decision(&contexts.states[ContextIndex.vectorPredictor])
    }
    unit.predictions[part & 3] = prediction
  }

  /// `ref_idx_l0` or `ref_idx_l1`.
  private mutating func readReference(_ engine: inout ArithmeticDecoder, count: Int) -> Int8 {
    var index = 0
    while index < count &- 1 {
      let isGreater =
        index < 2 ? engine.decision(&contexts.states[ContextIndex.referenceIndex &+ index]) : engine.bypass()
      guard isGreater else { break }
      index &+= 1
    }
    return Int8(truncatingIfNeeded: index)
  }

  /// `mvd_coding()` (7.3.8.9).
  private mutating func readDifference(_ engine: inout ArithmeticDecoder) throws(H265.Stop) -> (Int32, Int32) {
    let isXSet = engine.decision(&contexts.states[ContextIndex.differenceAboveZero])
    let isYSet = engine.decision(&contexts.states[ContextIndex.differenceAboveZero])
    let isXLarge = isXSet && engine.decision(&contexts.states[ContextIndex.differenceAboveOne])
    let isYLarge = isYSet && engine.decision(&contexts.states[ContextIndex.differenceAboveOne])
    let x = isXSet ? try readComponent(&engine, isLarge: isXLarge) : 0
    let y = isYSet ? try readComponent(&engine, isLarge: isYLarge) : 0
    return (x, y)
  }

  /// `abs_mvd_minus2` and `mvd_sign_flag`.
  private mutating func readComponent(
    _ engine: inout ArithmeticDecoder, isLarge: Bool
  ) throws(H265.Stop) -> Int32 {
    var value: Int32 = 1
    if isLarge {
      var length = 1
      var base: Int32 = 0
      while engine.bypass() {
        base &+= 1 &<< Int32(truncatingIfNeeded: length)
        length &+= 1
        // Some encoders write differences of 17 bits, which decoders reduce to 16.
        guard length < 18 else { throw damaged(.illegalCode, "abs_mvd_minus2", "9.3.3.5", at: engine) }
      }
      value = 2 &+ base &+ Int32(truncatingIfNeeded: engine.bypass(length))
    }
    return engine.bypass() ? 0 &- value : value
  }
}
