// SPDX-License-Identifier: MPL-2.0
import H26x

/// NAL units of a minimal H.264 stream, for tests of sizes, ids and order.
public enum MinimalStream {
  /// An SPS: Baseline, frames only, `pic_order_cnt_type` 2, two macroblocks high.
  public static func sps(id: UInt32 = 0, widthInMacroblocks: UInt32 = 2) -> [UInt8] {
    var writer = BitWriter()
    for byte: UInt32 in [0x67, 66, 0xC0, 30] { writer.u(8, byte) }
    writer.ue(id)
    writer.ue(0)
    writer.ue(2)
    writer.ue(1)
    writer.flag(false)
    writer.ue(widthInMacroblocks - 1)
    writer.ue(1)
    writer.u(4, 0b1100)
    writer.trailingBits()
    return writer.bytes
  }

  /// An SPS: Main, frames only, `pic_order_cnt_type` 2, with NAL and VCL HRD parameters of these numbers of buffers.
  /// Buffer n has a bit rate value of n + 1 and a size value of 1000 + n. Delays have 32, 24 and 8 bits, time offsets
  /// 31.
  public static func sps(nalBuffers: UInt32, vclBuffers: UInt32) -> [UInt8] {
    func hrd(_ writer: inout BitWriter, count: UInt32) {
      writer.ue(count - 1)
      writer.u(8, 0x35)
      for index in 0..<count {
        writer.ue(index)
        writer.ue(999 + index)
        writer.flag(index % 2 == 0)
      }
      for length: UInt32 in [31, 23, 7, 31] { writer.u(5, length) }
    }
    var writer = BitWriter()
    for byte: UInt32 in [0x67, 77, 0, 30] { writer.u(8, byte) }
    for value: UInt32 in [0, 0, 2, 1] { writer.ue(value) }
    writer.flag(false)
    writer.ue(1)
    writer.ue(1)
    writer.u(4, 0b1101)
    // No aspect ratio, overscan, video signal, chroma location and timing; both HRDs; no bitstream restriction.
    writer.u(5, 0)
    writer.flag(true)
    hrd(&writer, count: nalBuffers)
    writer.flag(true)
    hrd(&writer, count: vclBuffers)
    writer.u(3, 0b010)
    writer.trailingBits()
    return writer.bytes
  }

  /// A PPS: CAVLC, one slice group, no elements of the High profiles.
  public static func pps(id: UInt32 = 0, sps: UInt32 = 0) -> [UInt8] {
    var writer = BitWriter()
    writer.u(8, 0x68)
    writer.ue(id)
    writer.ue(sps)
    writer.u(2, 0)
    for _ in 0..<3 { writer.ue(0) }
    writer.u(3, 0)
    for _ in 0..<3 { writer.se(0) }
    writer.u(3, 0)
    writer.trailingBits()
    return writer.bytes
  }

  /// The first bytes of an I slice.
  public static func slice(isIDR: Bool, pps: UInt32 = 0) -> [UInt8] {
    var writer = BitWriter()
    writer.u(8, isIDR ? 0x65 : 0x41)
    writer.ue(0)
    writer.ue(7)
    writer.ue(pps)
    writer.u(4, 0)
    if isIDR { writer.ue(0) }
    writer.u(16, 0xABCD)
    writer.trailingBits()
    return writer.bytes
  }

  /// NAL units with start codes of four bytes.
  public static func annexB(_ nalUnits: [[UInt8]]) -> [UInt8] { nalUnits.flatMap { [0, 0, 0, 1] + $0 as [UInt8] } }

  /// NAL units with length prefixes of four bytes.
  public static func prefixed(_ nalUnits: [[UInt8]]) -> [UInt8] {
    var bytes: [UInt8] = []
    for nalUnit in nalUnits {
      for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: nalUnit.count >> shift)) }
      bytes += nalUnit
    }
    return bytes
  }
}
