// SPDX-License-Identifier: MPL-2.0
package import H26x

/// Distinguishes H.264 from H.265 by the NAL units that a byte stream begins with.
package enum CodecGuess {
  /// The most NAL units that are read.
  private static let limit = 256

  /// The codec; nil when it is neither.
  ///
  /// The first SPS that can be read as one codec's and not as the other's decides. Without any, the NAL unit headers
  /// are scored as either codec's, and the higher sum decides.
  package static func codec(of bytes: Span<UInt8>) -> FormatDescription.Codec? {
    if let evident = evidentCodec(of: bytes) { return evident }
    // There may be start codes in a container too.
    guard FileFormat(bytes) == nil else { return nil }
    var units = AnnexB.NALUnits(bytes)
    var (h264, h265) = (0, 0)
    var count = 0
    while let unit = units.next(), count < limit {
      count += 1
      let nalUnit = bytes.extracting(unit.range)
      h264 += weigh264(nalUnit)
      h265 += weigh265(nalUnit)
    }
    guard h264 > 0 || h265 > 0 else { return nil }
    return h265 > h264 ? .h265 : .h264
  }

  /// The codec of the first SPS that can be read as one codec's and not as the other's; nil without any.
  package static func evidentCodec(of bytes: Span<UInt8>) -> FormatDescription.Codec? {
    // There may be start codes in a container too.
    guard FileFormat(bytes) == nil else { return nil }
    var units = AnnexB.NALUnits(bytes)
    var count = 0
    while let unit = units.next(), count < limit {
      count += 1
      let nalUnit = bytes.extracting(unit.range)
      let (is264, is265) = (isSPS264(nalUnit), isSPS265(nalUnit))
      if is264 != is265 { return is264 ? .h264 : .h265 }
    }
    return nil
  }

  private static func isSPS264(_ nalUnit: Span<UInt8>) -> Bool {
    guard nalUnit[0] & 0x9F == 7 else { return false }
    do throws(BitstreamError) {
      _ = try H264.SequenceParameterSet(nalUnit: nalUnit)
      return true
    } catch {
      return false
    }
  }

  private static func isSPS265(_ nalUnit: Span<UInt8>) -> Bool {
    guard nalUnit.count > 1, nalUnit[0] == 66, nalUnit[1] == 1 else { return false }
    do throws(BitstreamError) {
      _ = try H265.SequenceParameterSet(nalUnit: nalUnit)
      return true
    } catch {
      return false
    }
  }

  private static func weigh264(_ nalUnit: Span<UInt8>) -> Int {
    let byte = nalUnit[0]
    guard byte & 0x80 == 0 else { return -10 }
    switch byte & 0x1F {
    case 5, 7, 8: return byte & 0x60 != 0 ? 3 : -5
    case 1: return 2
    case 6, 9: return byte & 0x60 == 0 ? 2 : -5
    case 0, 24...31: return -2
    default: return 0
    }
  }

  private static func weigh265(_ nalUnit: Span<UInt8>) -> Int {
    guard nalUnit.count > 1, nalUnit[0] & 0x80 == 0, nalUnit[1] & 7 != 0 else { return -10 }
    let isBase = nalUnit[0] & 1 == 0 && nalUnit[1] >> 3 == 0
    switch nalUnit[0] >> 1 {
    case 0...9, 16...21, 32...35, 39, 40: return isBase ? 3 : 0
    case 10...15, 22...31, 41...63: return -2
    default: return 0
    }
  }
}
