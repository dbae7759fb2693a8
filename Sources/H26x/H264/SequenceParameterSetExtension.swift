// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// `seq_parameter_set_extension_rbsp()` (7.3.2.1.2): blending of auxiliary pictures, NAL unit type 13.
  public struct SequenceParameterSetExtension: Sendable, Hashable {
    /// How auxiliary samples become opacity (7.4.2.1.2).
    public struct Alpha: Sendable, Hashable {
      /// `bit_depth_aux_minus8` + 8, 8 to 12.
      public var bitDepth: UInt8
      /// `alpha_incr_flag`.
      public var isIncremented: Bool
      /// `alpha_opaque_value`.
      public var opaqueValue: UInt16
      /// `alpha_transparent_value`.
      public var transparentValue: UInt16
    }

    /// `seq_parameter_set_id` of the SPS that it extends, 0 to 31.
    public var id: SequenceParameterSetID
    /// `aux_format_idc`, 0 to 3; 0 when there are no auxiliary pictures.
    public var auxiliaryFormatIDC: UInt8
    /// The alpha blending parameters; nil if `aux_format_idc` is 0.
    public var alpha: Alpha?
    /// `additional_extension_flag`.
    public var hasAdditionalExtension: Bool

    /// Reads the NAL unit.
    ///
    /// - Parameters:
    ///   - nalUnit: the NAL unit, header included, without start code or length prefix.
    ///   - trace: records the syntax elements; nil for no record.
    /// - Throws: any ``BitstreamError``; `.wrongNALUnitType` when it is not of type 13.
    public init(nalUnit: Span<UInt8>, trace: SyntaxTrace? = nil) throws(BitstreamError) {
      let header = try NALUnitHeader(nalUnit)
      guard header.type == .sequenceParameterSetExtension else {
        throw BitstreamError(.wrongNALUnitType, "nal_unit_type", bitOffset: 3)
      }
      var reader = BitReader(nalUnit, from: header.byteCount, trace: trace)
      id = .init(try reader.ue8(in: 0...31, "seq_parameter_set_id"))
      auxiliaryFormatIDC = try reader.ue8(in: 0...3, "aux_format_idc")
      if auxiliaryFormatIDC != 0 {
        let depth = 8 + (try reader.ue8(in: 0...4, "bit_depth_aux_minus8"))
        alpha = Alpha(
          bitDepth: depth, isIncremented: try reader.flag("alpha_incr_flag"),
          opaqueValue: UInt16(truncatingIfNeeded: try reader.u(Int(depth) + 1, "alpha_opaque_value")),
          transparentValue: UInt16(truncatingIfNeeded: try reader.u(Int(depth) + 1, "alpha_transparent_value")))
      }
      hasAdditionalExtension = try reader.flag("additional_extension_flag")
    }
  }
}
