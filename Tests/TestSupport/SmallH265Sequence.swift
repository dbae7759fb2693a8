// SPDX-License-Identifier: MPL-2.0
import H26x

/// The parameter sets of `SmallH265Picture`s: an SPS of Main profile, and its PPS of the same id.
public struct SmallH265Sequence {
  public var id: UInt32
  /// 64 × 32 samples instead of 32 × 32.
  public var isWide: Bool
  /// Bits of `slice_pic_order_cnt_lsb`.
  public var bitsOfOrder: UInt32
  /// Two temporal sub-layers instead of one.
  public var hasSubLayers: Bool
  /// `sps_max_num_reorder_pics`.
  public var reorderDepth: UInt32
  /// `output_flag_present_flag`.
  public var signalsOutput: Bool

  public init(
    id: UInt32 = 0, isWide: Bool = false, bitsOfOrder: UInt32 = 8, hasSubLayers: Bool = false,
    reorderDepth: UInt32 = 2, signalsOutput: Bool = false
  ) {
    (self.id, self.isWide, self.bitsOfOrder) = (id, isWide, bitsOfOrder)
    (self.hasSubLayers, self.reorderDepth, self.signalsOutput) = (hasSubLayers, reorderDepth, signalsOutput)
  }

  private static func profileTierLevel(_ writer: inout BitWriter, hasSubLayers: Bool) {
    writer.u(32, 0x0160_0000)
    writer.u(32, 0)
    writer.u(32, 0x1E)
    if hasSubLayers { writer.u(16, 0) }
  }

  /// A VPS for all of them.
  public static let vps: [UInt8] = {
    var writer = BitWriter()
    for word: UInt32 in [0x4001, 0x0C03, 0xFFFF] { writer.u(16, word) }
    profileTierLevel(&writer, hasSubLayers: true)
    writer.flag(true)
    for _ in 0..<2 { for value: UInt32 in [4, 3, 0] { writer.ue(value) } }
    writer.u(6, 0)
    writer.ue(0)
    writer.u(2, 0)
    writer.trailingBits()
    return writer.bytes
  }()

  public var sps: [UInt8] {
    var writer = BitWriter()
    writer.u(16, 0x4201)
    writer.u(8, hasSubLayers ? 0x03 : 0x01)
    Self.profileTierLevel(&writer, hasSubLayers: hasSubLayers)
    for value: UInt32 in [id, 1, isWide ? 64 : 32, 32] { writer.ue(value) }
    writer.flag(false)
    for value: UInt32 in [0, 0, bitsOfOrder - 4] { writer.ue(value) }
    writer.flag(false)
    for value: UInt32 in [5, reorderDepth, 0] { writer.ue(value) }
    // Coding blocks of 8 to 16 samples, transform blocks of 4 to 16.
    for value: UInt32 in [0, 1, 0, 2, 0, 0] { writer.ue(value) }
    writer.u(4, 0)
    writer.ue(0)
    writer.u(5, 0)
    writer.trailingBits()
    return writer.bytes
  }

  public var pps: [UInt8] {
    var writer = BitWriter()
    writer.u(16, 0x4401)
    writer.ue(id)
    writer.ue(id)
    writer.u(7, signalsOutput ? 0b010_0000 : 0)
    for _ in 0..<2 { writer.ue(0) }
    writer.se(0)
    writer.u(3, 0)
    for _ in 0..<2 { writer.se(0) }
    writer.u(10, 0)
    writer.ue(0)
    writer.u(2, 0)
    writer.trailingBits()
    return writer.bytes
  }
}
