// SPDX-License-Identifier: MPL-2.0
import Foundation
import H26x
import TestSupport

/// A byte stream of H.264 whose frames of 32x32 samples are coded in two fields each (PAFF). It has an IDR picture
/// every eight frames, and I or P pictures between them, which no recovery point announces.
enum FieldStream {
  /// Frames from one IDR picture to the next.
  static let groupSize = 8

  /// - Parameters:
  ///   - frames: how many there are, each with samples of its own.
  ///   - isPredicted: whether the pictures between IDR pictures are P pictures. Their macroblocks are I_PCM all the same.
  ///   - depth: bits of a sample by the SPS. Slices have samples of 8 bits all the same.
  static func make(frames: Int, isPredicted: Bool = false, depth: UInt32 = 8) -> Data {
    var nalUnits: [[UInt8]] = []
    for frame in 0..<frames {
      if frame % groupSize == 0 { nalUnits += [parameterSet(depth), MinimalStream.pps()] }
      nalUnits += [false, true].map { field(of: frame, isBottom: $0, isPredicted: isPredicted) }
    }
    return Data(MinimalStream.annexB(nalUnits))
  }

  /// An SPS: Main or High 4:4:4 Predictive, `pic_order_cnt_type` 0, two macroblocks high and wide.
  private static func parameterSet(_ depth: UInt32) -> [UInt8] {
    var writer = BitWriter()
    for byte: UInt32 in [0x67, depth > 8 ? 244 : 77, 0, 30] { writer.u(8, byte) }
    writer.ue(0)
    if depth > 8 {
      // 4:2:0 and both depths; neither lossless macroblocks nor scaling lists.
      for value in [1, depth - 8, depth - 8] { writer.ue(value) }
      writer.u(2, 0)
    }
    // log2_max_frame_num_minus4, pic_order_cnt_type, log2_max_pic_order_cnt_lsb_minus4 and one reference frame.
    for value: UInt32 in [0, 0, 4, 1] { writer.ue(value) }
    writer.flag(false)
    writer.ue(1)
    writer.ue(0)
    // Neither frames only nor MBAFF; direct_8x8_inference_flag; no crop; a VUI.
    writer.u(5, 0b00101)
    // Of the VUI, the timing: 50 fields a second; no HRD, and pictures are not reordered.
    writer.u(5, 0b00001)
    for half: UInt32 in [0, 1, 0, 50] { writer.u(16, half) }
    writer.u(6, 0b100011)
    for value: UInt32 in [0, 0, 10, 10, 0, 1] { writer.ue(value) }
    writer.trailingBits()
    return writer.bytes
  }

  /// A field of I_PCM macroblocks.
  private static func field(of frame: Int, isBottom: Bool, isPredicted: Bool) -> [UInt8] {
    let place = frame % groupSize
    let isIDR = place == 0 && !isBottom
    let isPredicted = isPredicted && !isIDR
    var writer = BitWriter()
    writer.u(8, isIDR ? 0x65 : 0x41)
    writer.ue(0)
    writer.ue(isPredicted ? 5 : 7)
    writer.ue(0)
    writer.u(4, UInt32(place))
    writer.flag(true)
    writer.flag(isBottom)
    if isIDR { writer.ue(UInt32(frame / groupSize % 2)) }
    writer.u(8, UInt32(place * 2 + (isBottom ? 1 : 0)))
    // The usual references, in the usual order.
    if isPredicted { writer.u(2, 0) }
    // No reference marking of its own, and no change of QP.
    writer.u(isIDR ? 2 : 1, 0)
    writer.se(0)
    for _ in 0..<2 {
      // No macroblock is skipped. Macroblock types of P slices have five in front of those of I slices.
      if isPredicted { writer.ue(0) }
      writer.ue(isPredicted ? 30 : 25)
      while !writer.isByteAligned { writer.flag(false) }
      let samples = UInt8(16 + frame * 4 + (isBottom ? 2 : 0))
      writer.append([UInt8](repeating: samples, count: 256) + [UInt8](repeating: 128, count: 128))
    }
    writer.trailingBits()
    return writer.bytes
  }
}
