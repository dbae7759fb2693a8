// SPDX-License-Identifier: MPL-2.0

internal import H26x

extension H265.SliceState {
  /// The start of a quantization group: the prediction of `QpY` (8.6.1).
  mutating func beginQuantizationGroup(x: Int, y: Int) {
    isQPDeltaCoded = false
    qpDelta = 0
    let mask = (1 &<< settings.log2TreeBlockSize) &- 1
    let (inX, inY) = (x & mask, y & mask)
    // Neighbors count in the same coding tree block only.
    let left = inX > 0 ? Int(leftQP[inY &>> 3 & 7]) : lastQP
    let above = inY > 0 ? Int(aboveQP[inX &>> 3 & 7]) : lastQP
    predictedQP = (left &+ above &+ 1) &>> 1
  }

  /// `QpY` (8-283).
  var currentQP: Int {
    let offset = settings.lumaQPOffset
    return (predictedQP &+ qpDelta &+ 52 &+ 2 &* offset) % (52 &+ offset) &- offset
  }

  /// `qPCb` or `qPCr` (8.6.1), without the offset by bit depth.
  func chromaQP(_ qp: Int, offset: Int) -> Int {
    let index = max(-settings.chromaQPOffset, min(qp &+ offset, 57))
    guard settings.chromaType == 1 else { return min(index, 51) }
    if index < 30 { return index }
    if index >= 43 { return index &- 6 }
    // Table 8-10.
    switch index {
    case 30: return 29
    case 31: return 30
    case 32: return 31
    case 33: return 32
    case 34, 35: return 33
    case 36, 37: return 34
    case 38, 39: return 35
    case 40, 41: return 36
    default: return 37
    }
  }

  /// `delta_qp()` (7.3.8.14).
  mutating func readQPDelta(_ engine: inout ArithmeticDecoder) throws(H265.Stop) {
    guard settings.hasQPDelta, !isQPDeltaCoded else { return }
    isQPDeltaCoded = true
    var value = 0
    while value < 5, engine.decision(&contexts.states[ContextIndex.qpDelta &+ (value == 0 ? 0 : 1)]) { value &+= 1 }
    if value == 5 {
      var length = 0
      while engine.bypass() {
        length &+= 1
        guard length < 8 else { throw damaged(.illegalCode, "cu_qp_delta_abs", "9.3.3.10", at: engine) }
      }
      value &+= (1 &<< length) &- 1 &+ Int(engine.bypass(length))
    }
    if value != 0, engine.bypass() { value = 0 &- value }
    let half = settings.lumaQPOffset / 2
    guard -(26 &+ half)...(25 &+ half) ~= value else {
      throw damaged(.valueOutOfRange, "cu_qp_delta_abs", "7.4.9.14", at: engine)
    }
    qpDelta = value
  }

  /// `chroma_qp_offset()` (7.3.8.14).
  mutating func readChromaOffset(_ engine: inout ArithmeticDecoder) {
    guard areUnitOffsetsEnabled, !isChromaOffsetCoded else { return }
    isChromaOffsetCoded = true
    guard engine.decision(&contexts.states[ContextIndex.chromaOffsetFlag]) else {
      unitCbOffset = 0
      unitCrOffset = 0
      return
    }
    var index = 0
    while index < settings.chromaOffsetCount &- 1, engine.decision(&contexts.states[ContextIndex.chromaOffsetIndex]) {
      index &+= 1
    }
    index = max(0, min(index, 5))
    unitCbOffset = Int(settings.cbOffsets[index])
    unitCrOffset = Int(settings.crOffsets[index])
  }
}
