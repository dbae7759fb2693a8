// SPDX-License-Identifier: MPL-2.0
import H26x

/// H.265 streams written element by element, correct except for what a test changes.
struct H265TestStream {
  /// A slice segment.
  struct Slice {
    var type = H265.NALUnitType.trailingR
    var order: UInt32 = 0
    /// 0 B, 1 P, 2 I.
    var kind: UInt32 = 1
    /// Distances to the pictures before it that it refers to, ascending.
    var references: [UInt32] = []
    var address: UInt32 = 0
    var temporalID: UInt8 = 0
    var pps: UInt32 = 0
    /// `no_output_of_prior_pics_flag` of an IRAP picture.
    var discardsPriorPictures = false
    /// `pic_output_flag`; nil without `output_flag_present_flag` in the PPS.
    var isOutput: Bool?
    /// Whether it has `num_entry_point_offsets`, which is 0.
    var hasEntryPoints = false
    var payload = 4
  }

  /// 256 × 128 samples in 8 coding tree blocks of 64, POC LSBs of 8 bits.
  static func sps(_ change: (inout H265.SequenceParameterSet) -> Void = { _ in }) -> [UInt8] {
    let profile = H265.Profile(idc: 1, constraints: [.progressiveSource, .frameOnly])
    var sps = H265.SequenceParameterSet(
      profileTierLevel: .init(profile: profile, levelIDC: 93), codedSize: VideoSize(width: 256, height: 128))
    sps.log2MaximumPictureOrderCount = 8
    sps.log2CodingBlockSizeRange = 3
    sps.buffering = [.init(maximumDecodedPictures: 4, maximumReorderPictures: 2)]
    change(&sps)
    return sps.nalUnit()
  }

  static func vps() -> [UInt8] {
    let profile = H265.Profile(idc: 1, constraints: [.progressiveSource, .frameOnly])
    return H265.VideoParameterSet(profileTierLevel: .init(profile: profile, levelIDC: 93)).nalUnit()
  }

  static func pps(id: PictureParameterSetID = 0) -> [UInt8] {
    H265.PictureParameterSet(id: id, sequenceParameterSetID: 0).nalUnit()
  }

  static func slice(_ s: Slice) -> [UInt8] {
    var writer = BitWriter()
    writer.u(1, 0)
    writer.u(6, UInt32(s.type.rawValue))
    writer.u(6, 0)
    writer.u(3, UInt32(s.temporalID) + 1)
    writer.flag(s.address == 0)
    if s.type.isIRAP { writer.flag(s.discardsPriorPictures) }
    writer.ue(s.pps)
    if s.address != 0 { writer.u(3, s.address) }
    writer.ue(s.kind)
    if let isOutput = s.isOutput { writer.flag(isOutput) }
    if !s.type.isIDR {
      writer.u(8, s.order & 255)
      // A reference picture set of its own.
      writer.flag(false)
      writer.ue(UInt32(s.references.count))
      writer.ue(0)
      var before: UInt32 = 0
      for distance in s.references {
        writer.ue(distance - before - 1)
        writer.flag(true)
        before = distance
      }
    }
    if s.kind != 2 {
      // num_ref_idx_active_override_flag; mvd_l1_zero_flag of B.
      writer.flag(false)
      if s.kind == 0 { writer.flag(false) }
      // five_minus_max_num_merge_cand.
      writer.ue(0)
    }
    writer.se(0)
    if s.hasEntryPoints { writer.ue(0) }
    writer.trailingBits()
    for _ in 0..<s.payload { writer.u(8, 0xAB) }
    writer.trailingBits()
    return writer.bytes
  }

  static let endOfSequence: [UInt8] = [36 << 1, 1]
  static let endOfStream: [UInt8] = [37 << 1, 1]

  static let idr = Slice(type: .idrWithoutLeading, kind: 2)

  var nalUnits: [[UInt8]]
  var bytes: [UInt8] { nalUnits.flatMap { [0, 0, 0, 1] + $0 as [UInt8] } }

  /// An IRAP picture with its parameter sets.
  init(_ first: Slice = idr, sps: [UInt8] = sps()) { nalUnits = [Self.vps(), sps, Self.pps(), Self.slice(first)] }

  /// An IRAP picture with columns of tiles.
  static func tiled(columns: UInt8, sps: [UInt8] = sps()) -> Self {
    var first = idr
    first.hasEntryPoints = true
    var stream = Self(first, sps: sps)
    var pps = H265.PictureParameterSet(id: 0, sequenceParameterSetID: 0)
    pps.tiles = .init(columnCount: columns, rowCount: 1)
    stream.nalUnits[2] = pps.nalUnit()
    return stream
  }

  func adding(_ slices: Slice...) -> Self {
    var stream = self
    stream.nalUnits += slices.map(Self.slice)
    return stream
  }

  func adding(_ nalUnits: [UInt8]...) -> Self {
    var stream = self
    stream.nalUnits += nalUnits
    return stream
  }
}
