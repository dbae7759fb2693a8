// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// H.264's name for the same; H.265 divides slices into segments.
  public typealias SliceHeader = SliceSegmentHeader

  /// `slice_segment_header()` (7.3.6.1), as far as access units, POC and random access need it.
  ///
  /// A plain value without references, cheap to copy.
  public struct SliceSegmentHeader: Sendable {
    /// `slice_type` (Table 7-7).
    public enum SliceType: UInt8, Sendable, CaseIterable {
      /// Predicted from up to two pictures a block.
      case b = 0
      /// Predicted from one picture a block.
      case p = 1
      /// Decoded without other pictures.
      case i = 2

      /// Whether the slice is decoded without other pictures.
      public var isIntra: Bool { self == .i }
    }

    /// The type of the NAL unit, which all slice segments of a picture share.
    public let nalUnitType: NALUnitType
    /// The temporal sub-layer, 0 to 6.
    public let temporalID: UInt8
    /// `first_slice_segment_in_pic_flag`.
    public let isFirstInPicture: Bool
    /// `no_output_of_prior_pics_flag`; false except for IRAP pictures.
    public let discardsPriorPictures: Bool
    /// `slice_pic_parameter_set_id`, 0 to 63.
    public let pictureParameterSetID: PictureParameterSetID
    /// `pps_seq_parameter_set_id` of that PPS.
    public let sequenceParameterSetID: SequenceParameterSetID
    /// `dependent_slice_segment_flag`: the fields below come from the slice segment before, and are not known here.
    public let isDependent: Bool
    /// `slice_segment_address`: address of the first coding tree block, in raster scan of the picture.
    public let segmentAddress: UInt32
    /// Whether each picture of the sequence is a field (`field_seq_flag` of the VUI).
    public let isField: Bool
    /// `slice_type`; nil for a dependent slice segment.
    public let sliceType: SliceType?
    /// `pic_output_flag`: whether the picture is for output; true when absent.
    public let isOutput: Bool
    /// `colour_plane_id`, 0 to 2; 0 when absent.
    public let colourPlaneID: UInt8
    /// `slice_pic_order_cnt_lsb`; 0 for IDR pictures, nil for a dependent slice segment.
    public let pictureOrderCountLSB: UInt32?

    /// Whether other pictures may refer to this one; those of higher temporal sub-layers may refer to any.
    public let isReference: Bool

    /// Whether the picture is an IDR picture.
    public var isIDR: Bool { nalUnitType.isIDR }

    /// Reads the header of a slice segment NAL unit (types 0 to 9 and 16 to 21) of the base layer. It may be
    /// truncated after the elements that `depth` needs.
    ///
    /// - Parameters:
    ///   - nalUnit: the NAL unit, header included.
    ///   - parameterSets: looked up by `slice_pic_parameter_set_id`.
    ///   - depth: how far to read: through `slice_pic_order_cnt_lsb`, or through the reference picture sets, which must
    ///     then be readable (``ReferenceSyntax``).
    /// - Throws: `.missingParameterSet` when the PPS or its SPS is missing, `.unsupported` for other layers, or any
    ///   other ``BitstreamError``.
    public init(
      nalUnit: Span<UInt8>, parameterSets: borrowing ParameterSets, depth: SliceHeaderDepth = .pictureIdentity
    ) throws(BitstreamError) {
      var reader = BitReader(nalUnit, from: NALUnitHeader.byteCount)
      try self.init(&reader, nalUnit: nalUnit, parameterSets: parameterSets)
      if depth == .referenceMarking, !isDependent {
        _ = try ReferenceSyntax(&reader, self, parameterSets: parameterSets)
      }
    }

    /// Reads the header of a slice segment NAL unit through its reference picture sets.
    ///
    /// - Returns: the header, and its syntax about reference pictures; nil for a dependent slice segment.
    /// - Throws: as ``init(nalUnit:parameterSets:depth:)``.
    public static func withReferences(
      nalUnit: Span<UInt8>, parameterSets: borrowing ParameterSets
    ) throws(BitstreamError) -> (header: SliceSegmentHeader, references: ReferenceSyntax?) {
      var reader = BitReader(nalUnit, from: NALUnitHeader.byteCount)
      let header = try SliceSegmentHeader(&reader, nalUnit: nalUnit, parameterSets: parameterSets)
      guard !header.isDependent else { return (header, nil) }
      return (header, try ReferenceSyntax(&reader, header, parameterSets: parameterSets))
    }

    init(
      _ reader: inout BitReader, nalUnit: Span<UInt8>, parameterSets: borrowing ParameterSets
    ) throws(BitstreamError) {
      let header = try NALUnitHeader(nalUnit)
      guard header.type.isSlice else { throw BitstreamError(.wrongNALUnitType, "nal_unit_type", bitOffset: 1) }
      guard header.layerID == 0 else { throw BitstreamError(.unsupported, "nuh_layer_id", bitOffset: 7) }
      nalUnitType = header.type
      temporalID = header.temporalID
      isFirstInPicture = try reader.flag("first_slice_segment_in_pic_flag")
      discardsPriorPictures = header.type.isIRAP ? try reader.flag("no_output_of_prior_pics_flag") : false
      let ppsOffset = reader.bitOffset
      pictureParameterSetID = .init(try reader.ue8(in: 0...63, "slice_pic_parameter_set_id"))
      guard let parameters = parameterSets.sliceParameters(pictureParameterSetID) else {
        throw BitstreamError(.missingParameterSet, "slice_pic_parameter_set_id", bitOffset: ppsOffset)
      }
      sequenceParameterSetID = parameters.sequenceParameterSetID
      isField = parameters.isFieldSequence
      isReference = !header.type.isSubLayerNonReference || header.temporalID < parameters.highestTemporalID
      if isFirstInPicture {
        isDependent = false
        segmentAddress = 0
      } else {
        isDependent = parameters.allowsDependentSlices ? try reader.flag("dependent_slice_segment_flag") : false
        let start = reader.bitOffset
        segmentAddress = try reader.u(Int(parameters.segmentAddressLength), "slice_segment_address")
        guard segmentAddress < parameters.codingTreeBlockCount else {
          throw BitstreamError(.valueOutOfRange, "slice_segment_address", bitOffset: start)
        }
      }
      guard !isDependent else {
        (sliceType, isOutput, colourPlaneID, pictureOrderCountLSB) = (nil, true, 0, nil)
        return
      }
      for _ in 0..<parameters.extraSliceHeaderBits { _ = try reader.flag("slice_reserved_flag") }
      sliceType = SliceType(rawValue: try reader.ue8(in: 0...2, "slice_type")) ?? .i
      isOutput = parameters.isOutputFlagPresent ? try reader.flag("pic_output_flag") : true
      colourPlaneID = parameters.hasSeparateColourPlanes ? try reader.u8(2, "colour_plane_id") : 0
      pictureOrderCountLSB =
        header.type.isIDR ? 0 : try reader.u(Int(parameters.log2MaximumPictureOrderCount), "slice_pic_order_cnt_lsb")
    }

    /// Reads only `first_slice_segment_in_pic_flag`, which needs no parameter set; nil for a type without slice segment
    /// header, or without a byte after the NAL unit header.
    public static func startsPicture(_ nalUnit: Span<UInt8>) -> Bool? {
      guard nalUnit.count > NALUnitHeader.byteCount, NALUnitType(headerByte: nalUnit[0]).isVCL else { return nil }
      return nalUnit[NALUnitHeader.byteCount] & 0x80 != 0
    }
  }
}
