// SPDX-License-Identifier: MPL-2.0
import Foundation
import H26x

/// Byte streams of H.264 with `pic_order_cnt_type` 1, of streams with type 0.
enum OrderCountCycle {
  /// A stream of the test media. The pictures stay the same.
  static func stream(of name: String) throws -> Data {
    let bytes = [UInt8](try Data(contentsOf: Program.media.appending(path: name)))
    let nalUnits = NALPackaging.annexB.nalUnits(of: bytes.span).map { Array(bytes[$0]) }
    var (source, target) = (H264.ParameterSets(), H264.ParameterSets())
    var made: [UInt8] = []
    // The order count of the latest picture, and the difference at which its sent bits are the same again.
    var (latest, period): (Int32, Int32) = (0, 16)
    for nalUnit in nalUnits {
      var copy = nalUnit
      switch H264.NALUnitType(headerByte: nalUnit[0]) {
      case .sequenceParameterSet:
        var sps = try H264.SequenceParameterSet(nalUnit: nalUnit.span)
        if case .leastSignificantBits(let bits) = sps.pictureOrderCountType { period = 1 << Int32(bits) }
        // Without references in the cycle, differences are from 0.
        sps.pictureOrderCountType = .cycle(
          .init(
            isDeltaAlwaysZero: false, offsetForNonReferencePicture: 0, offsetForTopToBottomField: 0,
            offsetsForReferenceFrames: []))
        copy = sps.nalUnit()
        try source.insert(nalUnit.span)
        try target.insert(copy.span)
      case .pictureParameterSet:
        try source.insert(nalUnit.span)
        try target.insert(nalUnit.span)
      case let type where type.isVCL:
        copy = try H264.SliceRewriter(from: source, to: target).rewritten(nalUnit.span) { values in
          guard case .leastSignificantBits(let order, let deltaBottom) = values.pictureOrder else { return }
          if values.isIDR { latest = 0 }
          let difference = (Int32(order) - latest) & (period - 1)
          latest += difference < period / 2 ? difference : difference - period
          values.pictureOrder = .differences(latest, deltaBottom)
        }
      default: break
      }
      made += [0, 0, 0, 1] + copy
    }
    return Data(made)
  }
}
