// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x

/// Parameter sets that libavcodec refuses with a message on stderr. No setting of a codec context silences the
/// message. For a scaling list out of range, libavcodec logs without a context; for a size beyond its addressing,
/// with a context of libavutil's.
///
/// Such sets reach the codec as filler data. Nothing else changes: the codec would keep its previous set anyway.
enum RefusedParameterSets {
  /// Whether libavcodec refuses an SPS or PPS in that way.
  static func isRefused(_ nalUnit: Span<UInt8>, sets: borrowing H264.ParameterSets) -> Bool {
    guard nalUnit.count > 0 else { return false }
    do throws(BitstreamError) {
      switch H264.NALUnitType(headerByte: nalUnit[0]) {
      case .sequenceParameterSet:
        return exceedsAddressing(try H264.SequenceParameterSet.usable(nalUnit).codedSize)
      case .pictureParameterSet:
        var reader = BitReader(nalUnit, from: 1)
        _ = try reader.ue(in: 0...255, "pic_parameter_set_id")
        let id = SequenceParameterSetID(UInt8(clamping: try reader.ue(in: 0...31, "seq_parameter_set_id")))
        // Without its SPS libavcodec does not read as far as the scaling lists.
        guard let sps = sets.sequenceParameterSet(id) else { return false }
        _ = try H264.PictureParameterSet(nalUnit: nalUnit, chromaFormat: sps.chromaFormat)
        return false
      default:
        return false
      }
    } catch {
      return error.part != nil
    }
  }

  /// Whether libavcodec refuses an SPS for its size, or a VPS (which gets a stand-in).
  static func isRefused(_ nalUnit: Span<UInt8>, sets: borrowing H265.ParameterSets) -> Bool {
    guard nalUnit.count > 0 else { return false }
    switch H265.NALUnitType(headerByte: nalUnit[0]) {
    case .videoParameterSet: return hasUnusualBits(nalUnit) || sets.defect(of: nalUnit) != nil
    case .sequenceParameterSet:
      do throws(BitstreamError) {
        return exceedsAddressing(try H265.SequenceParameterSet.usable(nalUnit).codedSize)
      } catch {
        return error.part == .pictureSize
      }
    default: return false
    }
  }

  /// Whether a VPS has zeros in bits that a decoder must ignore, but that libavcodec requires to be 1. These are the
  /// bits in front of the number of layers, and `vps_reserved_0xffff_16bits` (H.265 7.4.3.1).
  private static func hasUnusualBits(_ nalUnit: Span<UInt8>) -> Bool {
    var reader = BitReader(nalUnit, from: 2)
    do throws(BitstreamError) {
      _ = try reader.u(4, "vps_video_parameter_set_id")
      let flags = try reader.u(2, "vps_base_layer_internal_flag")
      _ = try reader.u(10, "vps_max_layers_minus1")
      let reserved = try reader.u(16, "vps_reserved_0xffff_16bits")
      return flags != 3 || reserved != 0xFFFF
    } catch {
      return true
    }
  }

  /// Whether libavcodec has no pixel format for such samples. It keeps the SPS that it had, and decodes with that.
  static func hasUndecodableSamples(_ format: ChromaFormat, luma: UInt8, chroma: UInt8) -> Bool {
    luma != chroma && format != .monochrome || ![8, 9, 10, 12, 14].contains(luma)
  }

  /// Whether libavutil calls the size invalid (`av_image_check_size2`): eight bytes a sample, and a margin on each
  /// side, have to fit 31 bits. Widths are rounded up as for a picture's memory, which has the same limit.
  static func exceedsAddressing(_ size: VideoSize) -> Bool {
    let sides = 0..<Int(Int32.max) / 8
    guard sides ~= size.width, sides ~= size.height else { return true }
    let width = (Int64(size.width) + 63) / 64 * 64
    return (8 * width + 1024) * (Int64(size.height) + 128) >= Int64(Int32.max)
  }
}
