// SPDX-License-Identifier: MPL-2.0
import H26x
import TestSupport

/// A picture of one slice NAL unit or more, with `MinimalStream`'s parameter sets: as much of it as is read before
/// decoding.
struct SmallPicture {
  var isIDR = false
  var isIntra = false
  var isReference = true
  /// `frame_num`, 0 to 15.
  var frameNumber: UInt32 = 0
  /// `first_mb_in_slice` of each slice, 0 to 3.
  var firstMacroblocks: [UInt32] = [0]
  /// `pic_parameter_set_id`.
  var pps: UInt32 = 0

  /// An IDR picture.
  static var idr: SmallPicture { SmallPicture(isIDR: true, isIntra: true) }

  var slices: [[UInt8]] {
    firstMacroblocks.map { first in
      var writer = BitWriter()
      writer.u(8, (isReference ? 0x40 : 0) | (isIDR ? 5 : 1))
      writer.ue(first)
      writer.ue(isIntra ? 7 : 5)
      writer.ue(pps)
      writer.u(4, frameNumber)
      if isIDR { writer.ue(0) }
      // No override of the number of references, no modification of their list; no marking.
      if !isIntra { writer.u(2, 0) }
      if isReference { writer.u(isIDR ? 2 : 1, 0) }
      writer.se(0)
      writer.u(16, 0xABCD)
      writer.trailingBits()
      return writer.bytes
    }
  }

  /// The picture as an access unit in a byte stream, behind other NAL units.
  func accessUnit(after nalUnits: [[UInt8]] = []) -> [UInt8] { MinimalStream.annexB(nalUnits + slices) }

  /// A recovery point SEI (H.264 D.1.8).
  static func recoveryPoint(frameCount: UInt32, isExact: Bool = true) -> [UInt8] {
    var payload = BitWriter()
    payload.ue(frameCount)
    payload.u(4, isExact ? 0b1000 : 0)
    payload.trailingBits()
    return [6, 6, UInt8(payload.bytes.count)] + payload.bytes + [0x80]
  }
}
