// SPDX-License-Identifier: MPL-2.0
import H26x

/// Tells H.264 from H.265 by the NAL units that a byte stream begins with.
enum CodecGuess {
  /// The codec, nil when it is neither.
  ///
  /// Parameter sets are read: what both might be, only one can be read as. Without them, headers are counted.
  static func codec(of bytes: Span<UInt8>) -> FormatDescription.Codec? {
    var units = AnnexB.NALUnits(bytes)
    var (h264, h265) = (0, 0)
    var count = 0
    while let unit = units.next(), count < 256 {
      count += 1
      let nalUnit = bytes.extracting(unit.range)
      h264 += weigh264(nalUnit)
      h265 += weigh265(nalUnit)
    }
    guard h264 > 0 || h265 > 0 else { return nil }
    return h265 > h264 ? .h265 : .h264
  }

  private static func weigh264(_ nalUnit: Span<UInt8>) -> Int {
    let byte = nalUnit[0]
    guard byte & 0x80 == 0 else { return -10 }
    switch byte & 0x1F {
    case 7: return reads { () throws(BitstreamError) in _ = try H264.SequenceParameterSet(nalUnit: nalUnit) } ? 100 : -5
    case 8: return reads { () throws(BitstreamError) in _ = try H264.PictureParameterSet(nalUnit: nalUnit) } ? 20 : -5
    case 5: return byte & 0x60 != 0 ? 2 : -5
    case 1, 6: return 1
    case 9: return byte == 9 && nalUnit.count == 2 ? 2 : 0
    case 0, 24...31: return -2
    default: return 0
    }
  }

  private static func weigh265(_ nalUnit: Span<UInt8>) -> Int {
    guard nalUnit.count > 1, nalUnit[0] & 0x80 == 0, nalUnit[1] & 7 != 0 else { return -10 }
    switch nalUnit[0] >> 1 {
    case 32: return reads { () throws(BitstreamError) in _ = try H265.VideoParameterSet(nalUnit: nalUnit) } ? 60 : 1
    case 33: return reads { () throws(BitstreamError) in _ = try H265.SequenceParameterSet(nalUnit: nalUnit) } ? 100 : 1
    case 34: return reads { () throws(BitstreamError) in _ = try H265.PictureParameterSet(nalUnit: nalUnit) } ? 20 : 1
    case 0...9, 16...21: return nalUnit[0] & 1 == 0 && nalUnit[1] >> 3 == 0 ? 1 : 0
    case 35, 39, 40: return 1
    case 41...63, 10...15, 22...31: return -2
    default: return 0
    }
  }

  private static func reads(_ body: () throws(BitstreamError) -> Void) -> Bool {
    do throws(BitstreamError) {
      try body()
      return true
    } catch {
      return false
    }
  }
}
