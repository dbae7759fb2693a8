// SPDX-License-Identifier: MPL-2.0
import H26x

/// H.265 NAL units with one value out of range, on which other parsers read out of bounds, looped or allocated too
/// much.
public struct MalformedH265: Sendable {
  /// The fault.
  public var name: String
  /// The syntax element that the error must name.
  public var element: String
  public var nalUnit: [UInt8]

  private init(_ name: String, _ element: String, _ nalUnit: [UInt8]) {
    (self.name, self.element, self.nalUnit) = (name, element, nalUnit)
  }

  /// Parameter sets of id 0, as in the streams that they are inserted into.
  public static let parameterSets: [MalformedH265] = videoParameterSets + sequenceParameterSets + pictureParameterSets

  private static let videoParameterSets = [
    MalformedH265("1025 layer sets", "vps_num_layer_sets_minus1", vps { $0.ue(1024) }),
    MalformedH265("2^28 HRD parameters", "vps_num_hrd_parameters", timedVPS { $0.ue(1 << 28) }),
    MalformedH265(
      "33 buffers", "cpb_cnt_minus1",
      timedVPS { writer in
        writer.ue(1)
        writer.ue(0)
        writer.u(2, 0b10)
        writer.flag(false)
        writer.u(23, 0)
        writer.flag(true)
        writer.ue(0)
        writer.ue(32)
      }),
  ]

  private static let sequenceParameterSets = [
    MalformedH265("chroma format 4", "chroma_format_idc", sps(chroma: 4)),
    MalformedH265("no width", "pic_width_in_luma_samples", sps(width: 0)),
    MalformedH265("65,537 wide", "pic_width_in_luma_samples", sps(width: 65_537)),
    MalformedH265("2^32 wide", "pic_width_in_luma_samples", sps(width: UInt32.max - 1)),
    MalformedH265("nothing left of the width", "conf_win_offset", sps(window: [64, 64, 0, 0])),
    MalformedH265("65,536 rows cropped", "conf_win_top_offset", sps(window: [0, 0, 65_536, 0])),
    MalformedH265("17 bits", "bit_depth_luma_minus8", sps(depth: 9)),
    MalformedH265("17 pictures in the buffer", "sps_max_dec_pic_buffering_minus1", sps(dpb: 16)),
    MalformedH265("blocks of 128", "log2_diff_max_min_luma_coding_block_size", sps(block: 4)),
    MalformedH265("65 reference picture sets", "num_short_term_ref_pic_sets", sps { $0.ue(65) }),
    MalformedH265(
      "17 pictures before", "num_negative_pics",
      sps { writer in
        writer.ue(1)
        writer.ue(17)
      }),
    MalformedH265(
      "17 pictures before and after", "num_positive_pics",
      sps { writer in
        writer.ue(1)
        writer.ue(9)
        writer.ue(8)
      }),
    MalformedH265(
      "33 long-term pictures", "num_long_term_ref_pics_sps",
      sps { writer in
        writer.ue(0)
        writer.flag(true)
        writer.ue(33)
      }),
    // Each set is predicted from the one before, keeps all its pictures and adds one.
    MalformedH265(
      "predicted sets that grow", "use_delta_flag",
      sps { writer in
        writer.ue(64)
        writer.ue(0)
        writer.ue(0)
        for count in 0..<63 {
          writer.flag(true)
          writer.flag(true)
          writer.ue(0)
          for _ in 0...count { writer.flag(true) }
        }
      }),
    MalformedH265(
      "a code of 64 zeros", "num_short_term_ref_pic_sets",
      sps { writer in
        writer.u(32, 0)
        writer.u(32, 1)
      }),
    MalformedH265(
      "eight sub-layers", "sps_max_sub_layers_minus1",
      nalUnit(.sequenceParameterSet) { writer in
        writer.u(8, 0x0F)
        writer.append([UInt8](repeating: 0xFF, count: 200))
      }),
  ]

  private static let pictureParameterSets = [
    MalformedH265("21 columns of tiles", "num_tile_columns_minus1", tiles { $0.ue(20) }),
    MalformedH265("2^32 columns of tiles", "num_tile_columns_minus1", tiles { $0.ue(UInt32.max - 1) }),
    MalformedH265(
      "23 rows of tiles", "num_tile_rows_minus1",
      tiles { writer in
        writer.ue(0)
        writer.ue(22)
      }),
    MalformedH265(
      "a tile of 65,537 blocks", "column_width_minus1",
      tiles { writer in
        writer.ue(1)
        writer.ue(1)
        writer.flag(false)
        writer.ue(0x10000)
      }),
    MalformedH265(
      "129 palette entries", "pps_num_palette_predictor_initializers",
      nalUnit(.pictureParameterSet) { writer in
        writer.ue(0)
        writer.ue(0)
        writer.u(7, 0)
        writer.ue(0)
        writer.ue(0)
        writer.se(0)
        writer.u(3, 0)
        writer.se(0)
        writer.se(0)
        writer.u(6, 0)
        writer.u(4, 0)
        writer.ue(0)
        writer.flag(false)
        writer.flag(true)
        writer.u(8, 0b0001_0000)
        writer.u(3, 0b001)
        writer.ue(129)
      }),
  ]

  /// A NAL unit of what `write` writes and 4000 more bytes, so that no error is one of missing bits.
  private static func nalUnit(_ type: H265.NALUnitType, _ write: (inout BitWriter) -> Void) -> [UInt8] {
    var writer = BitWriter()
    H265.NALUnitHeader(type: type).write(to: &writer)
    write(&writer)
    writer.append([UInt8](repeating: 0x55, count: 4000))
    writer.trailingBits()
    return writer.bytes
  }

  private static func profileTierLevel(_ writer: inout BitWriter) {
    writer.u(32, 0x0160_0000)
    writer.u(32, 0)
    writer.u(32, 0x1E)
  }

  /// A VPS up to `vps_num_layer_sets_minus1`.
  private static func vps(_ write: (inout BitWriter) -> Void) -> [UInt8] {
    nalUnit(.videoParameterSet) { writer in
      writer.u(16, 0x0C01)
      writer.u(16, 0xFFFF)
      profileTierLevel(&writer)
      writer.flag(true)
      for _ in 0..<3 { writer.ue(0) }
      writer.u(6, 0)
      write(&writer)
    }
  }

  /// A VPS with timing, up to `vps_num_hrd_parameters`.
  private static func timedVPS(_ write: (inout BitWriter) -> Void) -> [UInt8] {
    vps { writer in
      writer.ue(0)
      writer.flag(true)
      writer.u(32, 1)
      writer.u(32, 25)
      writer.flag(false)
      write(&writer)
    }
  }

  /// An SPS up to its reference picture sets.
  private static func sps(
    chroma: UInt32 = 1, width: UInt32 = 256, window: [UInt32]? = nil, depth: UInt32 = 0, dpb: UInt32 = 4,
    block: UInt32 = 2, sets: (inout BitWriter) -> Void = { $0.ue(0) }
  ) -> [UInt8] {
    nalUnit(.sequenceParameterSet) { writer in
      writer.u(8, 0x01)
      profileTierLevel(&writer)
      writer.ue(0)
      writer.ue(chroma)
      writer.ue(width)
      writer.ue(128)
      writer.flag(window != nil)
      for offset in window ?? [] { writer.ue(offset) }
      writer.ue(depth)
      writer.ue(0)
      writer.ue(4)
      writer.flag(true)
      writer.ue(dpb)
      writer.ue(0)
      writer.ue(0)
      writer.ue(0)
      writer.ue(block)
      for value: UInt32 in [0, 3, 0, 0] { writer.ue(value) }
      writer.u(4, 0)
      sets(&writer)
    }
  }

  /// A PPS up to its tiles.
  private static func tiles(_ write: (inout BitWriter) -> Void) -> [UInt8] {
    nalUnit(.pictureParameterSet) { writer in
      writer.ue(0)
      writer.ue(0)
      writer.u(7, 0)
      writer.ue(0)
      writer.ue(0)
      writer.se(0)
      writer.u(3, 0)
      writer.se(0)
      writer.se(0)
      writer.u(4, 0)
      writer.flag(true)
      writer.flag(false)
      write(&writer)
    }
  }
}
