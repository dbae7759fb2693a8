// SPDX-License-Identifier: MPL-2.0
package import H26x

/// Distinguishes H.264 from H.265 by the NAL units that a byte stream begins with.
package enum CodecGuess {
  /// The most NAL units that are read.
  private static let limit = 256

  /// The codec; nil if it is neither.
  ///
  /// The first SPS that can be read as one codec's and not as the other's decides. Without any, the NAL units are
  /// scored as either codec's, and the higher sum decides.
  package static func codec(of bytes: Span<UInt8>) -> FormatDescription.Codec? {
    let tally = Tally(bytes)
    return tally.evident ?? tally.likely
  }

  /// The codec of the first SPS that can be read as one codec's and not as the other's; nil without any.
  package static func evidentCodec(of bytes: Span<UInt8>) -> FormatDescription.Codec? { Tally(bytes).evident }

  /// The NAL units that a stream begins with.
  private struct Tally {
    private var count = 0
    private var sequence: FormatDescription.Codec?
    private var (h264, h265) = (Votes(), Votes())
    /// Whether anything but zeros is in front of them.
    private var isBehindOthers = false

    init(_ bytes: Span<UInt8>) {
      // There may be start codes in other files too.
      guard ContainerFormat(bytes) == nil, OtherFormat.name(of: bytes) == nil else { return }
      var units = AnnexB.NALUnits(bytes)
      while let unit = units.next(), count < limit {
        if count == 0 { isBehindOthers = (0..<unit.startCodeOffset).contains { bytes[$0] != 0 } }
        count += 1
        let nalUnit = bytes.extracting(unit.range)
        if sequence == nil {
          let (is264, is265) = (isSPS264(nalUnit), isSPS265(nalUnit))
          if is264 != is265 { sequence = is264 ? .h264 : .h265 }
        }
        h264.add(weigh264(nalUnit))
        h265.add(weigh265(nalUnit))
      }
    }

    /// By an SPS. If most of the others are no NAL units of its codec, it is one by chance, or in a container.
    var evident: FormatDescription.Codec? {
      switch sequence {
      case .h264: h264.areMost(of: count) ? .h264 : nil
      case .h265: h265.areMost(of: count) ? .h265 : nil
      case nil: nil
      }
    }

    /// By the scores. Behind other bytes, a few NAL units may be a chance.
    var likely: FormatDescription.Codec? {
      let (votes, codec) = h265.score > h264.score ? (h265, FormatDescription.Codec.h265) : (h264, .h264)
      return votes.score > 0 && votes.areMost(of: count) && (!isBehindOthers || votes.valid >= 3) ? codec : nil
    }
  }

  /// How NAL units count as those of one codec.
  private struct Votes {
    var score = 0
    /// How many can be some.
    var valid = 0

    func areMost(of count: Int) -> Bool { valid * 4 >= count * 3 }

    mutating func add(_ weight: Int) {
      score += weight
      if weight >= 0 { valid += 1 }
    }
  }

  private static func isSPS264(_ nalUnit: Span<UInt8>) -> Bool {
    guard nalUnit[0] & 0x9F == 7 else { return false }
    do throws(BitstreamError) {
      _ = try H264.SequenceParameterSet.usable(nalUnit)
      return true
    } catch {
      return false
    }
  }

  private static func isSPS265(_ nalUnit: Span<UInt8>) -> Bool {
    guard nalUnit.count > 1, nalUnit[0] == 66, nalUnit[1] == 1 else { return false }
    do throws(BitstreamError) {
      _ = try H265.SequenceParameterSet.usable(nalUnit)
      return true
    } catch {
      return false
    }
  }

  private static func weigh264(_ nalUnit: Span<UInt8>) -> Int {
    let byte = nalUnit[0]
    guard byte & 0x80 == 0 else { return -10 }
    let isReference = byte & 0x60 != 0
    switch byte & 0x1F {
    case 7, 8: return isReference ? 3 : -5
    case 5: return isReference && isSlice264(nalUnit, types: [2, 4, 7, 9]) ? 3 : -5
    case 1: return isSlice264(nalUnit, types: 0...9) ? 2 : -5
    case 6, 9: return isReference ? -5 : 2
    case 13, 15: return isReference ? 0 : -5
    case 0, 24...27, 29, 31: return -2
    // 28 and 30 are Dolby Vision's.
    default: return 0
    }
  }

  /// Whether the first fields of a slice header are in their ranges (7.3.3).
  private static func isSlice264(_ nalUnit: Span<UInt8>, types: some Sequence<UInt32>) -> Bool {
    var reader = BitReader(nalUnit, from: 1)
    do throws(BitstreamError) {
      // The macroblocks of level 6.2's largest picture.
      _ = try reader.ue(in: 0...139_263, "first_mb_in_slice")
      let type = try reader.ue(in: 0...9, "slice_type")
      _ = try reader.ue(in: 0...255, "pic_parameter_set_id")
      return types.contains(type)
    } catch {
      return false
    }
  }

  private static func weigh265(_ nalUnit: Span<UInt8>) -> Int {
    guard nalUnit.count > 1, nalUnit[0] & 0x80 == 0, nalUnit[1] & 7 != 0 else { return -10 }
    let isBase = nalUnit[0] & 1 == 0 && nalUnit[1] >> 3 == 0
    switch nalUnit[0] >> 1 {
    case 0...9, 16...21: return isBase ? isSlice265(nalUnit) ? 3 : -5 : 0
    case 32...35, 39, 40: return isBase ? 3 : 0
    case 10...15, 22...31, 41...61: return -2
    // Dolby Vision's, among others.
    case 62, 63: return 0
    default: return 0
    }
  }

  /// Whether the first fields of a slice segment header are in their ranges (7.3.6.1), as far as they can be read
  /// without parameter sets.
  private static func isSlice265(_ nalUnit: Span<UInt8>) -> Bool {
    var reader = BitReader(nalUnit, from: 2)
    do throws(BitstreamError) {
      _ = try reader.flag("first_slice_segment_in_pic_flag")
      if nalUnit[0] >> 1 >= 16 { _ = try reader.flag("no_output_of_prior_pics_flag") }
      _ = try reader.ue(in: 0...63, "slice_pic_parameter_set_id")
      return true
    } catch {
      return false
    }
  }
}
