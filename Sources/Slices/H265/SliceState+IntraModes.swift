// SPDX-License-Identifier: MPL-2.0

internal import H26x

extension H265.SliceState {
  /// `prev_intra_luma_pred_flag` to `intra_chroma_pred_mode`, and the modes that they mean (8.4.2, 8.4.3). The scan of
  /// coefficients depends on them.
  mutating func readIntraModes(_ engine: inout ArithmeticDecoder) {
    let count = unit.partition == .quarters ? 4 : 1
    let size = unit.partition == .quarters ? unit.size &>> 1 : unit.size
    var flags = 0
    for part in 0..<count where engine.decision(&contexts.states[ContextIndex.predictedIntraMode]) {
      flags |= 1 &<< part
    }
    let mask = (1 &<< settings.log2TreeBlockSize) &- 1
    for part in 0..<count {
      let x = (unit.x & mask) &+ (part & 1) &* size
      let y = (unit.y & mask) &+ (part &>> 1) &* size
      let candidates = Self.candidates(leftModes[(y &>> 2) & 15], aboveModes[(x &>> 2) & 15])
      let mode: UInt8
      if flags &>> part & 1 != 0 {
        // mpm_idx.
        if !engine.bypass() {
          mode = candidates.0
        } else {
          mode = engine.bypass() ? candidates.2 : candidates.1
        }
      } else {
        mode = Self.remainingMode(UInt8(truncatingIfNeeded: engine.bypass(5)), candidates)
      }
      unit.intraModes[part] = mode
      setModes(mode, x: x, y: y, size: size)
    }
    guard settings.chromaType != 0 else { return }
    for part in 0..<(settings.chromaType == 3 ? count : 1) {
      let code: UInt8 =
        engine.decision(&contexts.states[ContextIndex.chromaIntraMode])
        ? UInt8(truncatingIfNeeded: engine.bypass(2)) : 4
      chromaModeCodes[part] = code
      unit.chromaModes[part] = chromaMode(code, luma: unit.intraModes[part])
    }
    if settings.chromaType != 3 || count == 1 {
      for part in 1..<4 {
        chromaModeCodes[part] = chromaModeCodes[0]
        unit.chromaModes[part] = unit.chromaModes[0]
      }
    }
    if count == 1 { unit.intraModes = .init(repeating: unit.intraModes[0]) }
  }

  /// `candModeList` (8.4.2).
  private static func candidates(_ left: UInt8, _ above: UInt8) -> (UInt8, UInt8, UInt8) {
    if left == above {
      if left < 2 { return (0, 1, 26) }
      return (left, 2 &+ (left &+ 29) % 32, 2 &+ (left &- 2 &+ 1) % 32)
    }
    if left != 0, above != 0 { return (left, above, 0) }
    if left != 1, above != 1 { return (left, above, 1) }
    return (left, above, 26)
  }

  /// The mode for `rem_intra_luma_pred_mode`: candidates do not count.
  private static func remainingMode(_ code: UInt8, _ candidates: (UInt8, UInt8, UInt8)) -> UInt8 {
    var (first, second, third) = candidates
    if first > second { (first, second) = (second, first) }
    if first > third { (first, third) = (third, first) }
    if second > third { (second, third) = (third, second) }
    var mode = code
    if mode >= first { mode &+= 1 }
    if mode >= second { mode &+= 1 }
    if mode >= third { mode &+= 1 }
    return mode
  }

  /// `IntraPredModeC` (8.4.3).
  private func chromaMode(_ code: UInt8, luma: UInt8) -> UInt8 {
    let mode: UInt8
    switch code {
    case 0: mode = luma == 0 ? 34 : 0
    case 1: mode = luma == 26 ? 34 : 26
    case 2: mode = luma == 10 ? 34 : 10
    case 3: mode = luma == 1 ? 34 : 1
    default: mode = luma
    }
    return settings.chromaType == 2 ? Self.narrowModes[Int(min(mode, 34))] : mode
  }

  /// The modes for chroma of half width (Table 8-3).
  private static let narrowModes: [35 of UInt8] = [
    0, 1, 2, 2, 2, 2, 3, 5, 7, 8, 10, 11, 13, 15, 16, 18, 19, 20, 21, 22, 23, 23, 24, 24, 25, 25, 26, 27, 27, 28, 28,
    29, 29, 30, 31,
  ]
}
