// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// The header of a NAL unit (7.3.1): one byte, or three or four with an extension.
  public struct NALUnitHeader: Sendable, Hashable {
    /// `nal_unit_type`.
    public let type: NALUnitType

    /// `nal_ref_idc`, 0 to 3: 0 when no other picture refers to this one.
    public let referenceIDC: UInt8

    /// Bytes of the header: 1, 3 or 4.
    public let byteCount: Int

    /// The header extension (SVC, MVC, 3D-AVC); nil without one.
    public let headerExtension: Extension?

    /// The header's extension.
    public enum Extension: Sendable, Hashable {
      /// Of SVC (types 14 and 20).
      case scalable(ScalableExtension)
      /// Of MVC (types 14, 20 and 21).
      case multiview(MultiviewExtension)
      /// `nal_unit_header_3davc_extension()` (I.7.3.1.1; J.7.3.1.1 in earlier editions), its 15 bits.
      case depth(UInt16)
    }

    /// `nal_unit_header_svc_extension()` (F.7.3.1.1; G.7.3.1.1 in earlier editions).
    public struct ScalableExtension: Sendable, Hashable {
      /// `idr_flag`.
      public let isIDR: Bool
      /// `priority_id`, 0 to 63.
      public let priorityID: UInt8
      /// `no_inter_layer_pred_flag`.
      public let noInterLayerPrediction: Bool
      /// `dependency_id`, 0 to 7.
      public let dependencyID: UInt8
      /// `quality_id`, 0 to 15.
      public let qualityID: UInt8
      /// `temporal_id`, 0 to 7.
      public let temporalID: UInt8
      /// `use_ref_base_pic_flag`.
      public let useReferenceBasePicture: Bool
      /// `discardable_flag`.
      public let isDiscardable: Bool
      /// `output_flag`.
      public let isOutput: Bool
    }

    /// `nal_unit_header_mvc_extension()` (G.7.3.1.1; H.7.3.1.1 in earlier editions).
    public struct MultiviewExtension: Sendable, Hashable {
      /// `non_idr_flag`.
      public let isNonIDR: Bool
      /// `priority_id`, 0 to 63.
      public let priorityID: UInt8
      /// `view_id`, 0 to 1023.
      public let viewID: UInt16
      /// `temporal_id`, 0 to 7.
      public let temporalID: UInt8
      /// `anchor_pic_flag`.
      public let isAnchorPicture: Bool
      /// `inter_view_flag`.
      public let isInterView: Bool
    }

    /// Reads the header at the front of a NAL unit.
    ///
    /// - Throws: `.truncated`, `.forbiddenBitSet`.
    @inline(__always)
    public init(_ nalUnit: Span<UInt8>) throws(BitstreamError) {
      guard nalUnit.count > 0 else { throw BitstreamError(.truncated, "nal_unit_header", bitOffset: 0) }
      let first = nalUnit[0]
      guard first & 0x80 == 0 else { throw BitstreamError(.forbiddenBitSet, "forbidden_zero_bit", bitOffset: 0) }
      type = NALUnitType(rawValue: first)
      referenceIDC = first >> 5 & 3
      if type.hasHeaderExtension {
        (headerExtension, byteCount) = try NALUnitHeader.readExtension(nalUnit, type: type)
      } else {
        headerExtension = nil
        byteCount = 1
      }
    }

    private static func readExtension(
      _ nalUnit: Span<UInt8>, type: NALUnitType
    ) throws(BitstreamError) -> (Extension, Int) {
      var reader = BitReader(nalUnit, from: 1, removesEmulationPrevention: false)
      let isSelected = try reader.flag(type == .depthSliceExtension ? "avc_3d_extension_flag" : "svc_extension_flag")
      if type == .depthSliceExtension, isSelected {
        return (.depth(UInt16(truncatingIfNeeded: try reader.u(15, "nal_unit_header_3davc_extension"))), 3)
      }
      if type != .depthSliceExtension, isSelected {
        let value = try ScalableExtension(&reader)
        return (.scalable(value), 4)
      }
      return (.multiview(try MultiviewExtension(&reader)), 4)
    }
  }
}

extension H264.NALUnitHeader.ScalableExtension {
  fileprivate init(_ reader: inout BitReader) throws(BitstreamError) {
    isIDR = try reader.flag("idr_flag")
    priorityID = UInt8(truncatingIfNeeded: try reader.u(6, "priority_id"))
    noInterLayerPrediction = try reader.flag("no_inter_layer_pred_flag")
    dependencyID = UInt8(truncatingIfNeeded: try reader.u(3, "dependency_id"))
    qualityID = UInt8(truncatingIfNeeded: try reader.u(4, "quality_id"))
    temporalID = UInt8(truncatingIfNeeded: try reader.u(3, "temporal_id"))
    useReferenceBasePicture = try reader.flag("use_ref_base_pic_flag")
    isDiscardable = try reader.flag("discardable_flag")
    isOutput = try reader.flag("output_flag")
    _ = try reader.u(2, "reserved_three_2bits")
  }
}

extension H264.NALUnitHeader.MultiviewExtension {
  fileprivate init(_ reader: inout BitReader) throws(BitstreamError) {
    isNonIDR = try reader.flag("non_idr_flag")
    priorityID = UInt8(truncatingIfNeeded: try reader.u(6, "priority_id"))
    viewID = UInt16(truncatingIfNeeded: try reader.u(10, "view_id"))
    temporalID = UInt8(truncatingIfNeeded: try reader.u(3, "temporal_id"))
    isAnchorPicture = try reader.flag("anchor_pic_flag")
    isInterView = try reader.flag("inter_view_flag")
    _ = try reader.u(1, "reserved_one_bit")
  }
}
