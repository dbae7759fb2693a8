// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// `slice_header()` (7.3.3), as far as access units, POC and random access need it.
  ///
  /// A plain value without references, cheap to copy. Its properties are ordered so that there is no padding between
  /// them: optimized code would read that together with its neighbors, which memory checkers report.
  public struct SliceHeader: Sendable {
    /// How far to read.
    public typealias Depth = SliceHeaderDepth

    /// `slice_type` modulo 5 (Table 7-6).
    public enum SliceType: UInt8, Sendable, CaseIterable {
      /// Predicted from one picture a block.
      case p = 0
      /// Predicted from up to two pictures a block.
      case b = 1
      /// Decoded without other pictures.
      case i = 2
      /// As P, made for switching between streams (Extended profile).
      case sp = 3
      /// As I, made for switching between streams (Extended profile).
      case si = 4

      /// Whether the slice is decoded without other pictures.
      public var isIntra: Bool { self == .i || self == .si }
    }

    /// The type of the NAL unit.
    public let nalUnitType: NALUnitType
    /// `nal_ref_idc`, 0 to 3.
    public let referenceIDC: UInt8
    /// `IdrPicFlag` (7.4.1): type 5, or by the MVC or SVC header extension.
    public let isIDR: Bool
    /// `slice_type`.
    public let sliceType: SliceType
    /// `first_mb_in_slice`.
    public let firstMacroblock: UInt32
    /// Whether `slice_type` was 5 to 9: all slices of the picture are of this type.
    public let isTypeOfWholePicture: Bool
    /// `pic_parameter_set_id`.
    public let pictureParameterSetID: PictureParameterSetID
    /// `seq_parameter_set_id` of that PPS.
    public let sequenceParameterSetID: SequenceParameterSetID
    /// `colour_plane_id`, 0 to 2; 0 when absent.
    public let colourPlaneID: UInt8
    /// `frame_num`.
    public let frameNumber: UInt32
    /// `field_pic_flag`.
    public let isField: Bool
    /// `bottom_field_flag`.
    public let isBottomField: Bool
    /// `idr_pic_id`, 0 to 65535; 0 when absent.
    public let idrPictureID: UInt16
    /// `pic_order_cnt_lsb`; 0 when absent.
    public let pictureOrderCountLSB: UInt32
    /// `delta_pic_order_cnt_bottom`; 0 when absent.
    public let deltaPictureOrderCountBottom: Int32
    /// `delta_pic_order_cnt[0]`; 0 when absent.
    public let deltaPictureOrderCount0: Int32
    /// `delta_pic_order_cnt[1]`; 0 when absent.
    public let deltaPictureOrderCount1: Int32
    /// `redundant_pic_cnt`, 0 to 127: 0 for the primary picture.
    public let redundantPictureCount: UInt8
    /// Whether the slices of the picture may come in any order, by profile or slice groups.
    public let allowsArbitraryOrder: Bool
    /// Whether there is an MMCO 5: the picture resets POC and `frame_num`. False at depth
    /// ``SliceHeaderDepth/pictureIdentity``.
    public let resetsPictureOrderCount: Bool
    /// `pic_order_cnt_type` of the SPS, 0 to 2.
    public let pictureOrderCountType: UInt8

    /// Whether other pictures may refer to this one.
    public var isReference: Bool { referenceIDC != 0 }
    /// 0: H.264 has no temporal sub-layers.
    public var temporalID: UInt8 { 0 }

    /// Reads the header of a slice NAL unit (types 1, 2, 5, 19, 20, 21), which may be truncated after the elements
    /// that `depth` needs.
    ///
    /// - Parameters:
    ///   - nalUnit: the NAL unit, header included.
    ///   - parameterSets: looked up by `pic_parameter_set_id`.
    ///   - depth: how far to read.
    /// - Throws: `.missingParameterSet` when the PPS or its SPS is not there, or any other ``BitstreamError``.
    public init(
      nalUnit: Span<UInt8>, parameterSets: borrowing ParameterSets, depth: Depth = .pictureIdentity
    ) throws(BitstreamError) {
      let header = try NALUnitHeader(nalUnit)
      var reader = BitReader(nalUnit, from: header.byteCount)
      var references: ReferenceSyntax?
      try self.init(
        &reader, header, parameterSets: parameterSets, depth: depth, references: &references, keepsWeights: false)
    }

    /// Reads the header of a slice NAL unit through `dec_ref_pic_marking()`.
    ///
    /// - Returns: the header, and its syntax about reference pictures; nil for SVC slices.
    /// - Throws: as ``init(nalUnit:parameterSets:depth:)``.
    public static func withReferences(
      nalUnit: Span<UInt8>, parameterSets: borrowing ParameterSets
    ) throws(BitstreamError) -> (header: SliceHeader, references: ReferenceSyntax?) {
      let header = try NALUnitHeader(nalUnit)
      var reader = BitReader(nalUnit, from: header.byteCount)
      var references: ReferenceSyntax?
      let slice = try SliceHeader(
        &reader, header, parameterSets: parameterSets, depth: .referenceMarking, references: &references,
        keepsWeights: true)
      return (slice, references)
    }

    /// Reads the rest after the NAL unit header.
    @inline(__always)
    init(
      _ reader: inout BitReader, _ header: NALUnitHeader, parameterSets: borrowing ParameterSets, depth: Depth,
      references: inout ReferenceSyntax?, keepsWeights: Bool
    ) throws(BitstreamError) {
      guard header.type.hasSliceHeader else {
        throw BitstreamError(.wrongNALUnitType, "nal_unit_type", bitOffset: 3)
      }
      let first = try reader.ue(in: 0...UInt32.max - 1, "first_mb_in_slice")
      let type = try reader.ue8(in: 0...9, "slice_type")
      let ppsOffset = reader.bitOffset
      let ppsID = PictureParameterSetID(try reader.ue8(in: 0...255, "pic_parameter_set_id"))
      let isExtension = header.type.hasHeaderExtension
      guard let parameters = parameterSets.sliceParameters(ppsID, forSubset: isExtension) else {
        throw BitstreamError(.missingParameterSet, "pic_parameter_set_id", bitOffset: ppsOffset)
      }
      guard first < parameters.frameSizeInMacroblocks else {
        throw BitstreamError(.valueOutOfRange, "first_mb_in_slice", bitOffset: header.byteCount * 8)
      }
      nalUnitType = header.type
      referenceIDC = header.referenceIDC
      isIDR = header.isIDR
      firstMacroblock = first
      sliceType = SliceType(rawValue: type % 5) ?? .i
      isTypeOfWholePicture = type >= 5
      pictureParameterSetID = ppsID
      sequenceParameterSetID = parameters.sequenceParameterSetID
      colourPlaneID = parameters.hasSeparateColourPlanes ? try reader.u8(2, "colour_plane_id") : 0
      frameNumber = try reader.u(Int(parameters.log2MaximumFrameNumber), "frame_num")
      isField = parameters.isFrameOnly ? false : try reader.flag("field_pic_flag")
      isBottomField = isField ? try reader.flag("bottom_field_flag") : false
      idrPictureID =
        header.isIDR ? UInt16(truncatingIfNeeded: try reader.ue(in: 0...65535, "idr_pic_id")) : 0
      pictureOrderCountType = parameters.pictureOrderCountType
      allowsArbitraryOrder = parameters.allowsArbitrarySliceOrder
      let any = Int32.min...Int32.max
      var (lsb, bottom, delta0, delta1) = (UInt32(0), Int32(0), Int32(0), Int32(0))
      if parameters.pictureOrderCountType == 0 {
        lsb = try reader.u(Int(parameters.log2MaximumPictureOrderCount), "pic_order_cnt_lsb")
        if parameters.isBottomFieldPictureOrderPresent, !isField {
          bottom = try reader.se(in: any, "delta_pic_order_cnt_bottom")
        }
      } else if parameters.pictureOrderCountType == 1, !parameters.isDeltaPictureOrderAlwaysZero {
        delta0 = try reader.se(in: any, "delta_pic_order_cnt[0]")
        if parameters.isBottomFieldPictureOrderPresent, !isField {
          delta1 = try reader.se(in: any, "delta_pic_order_cnt[1]")
        }
      }
      pictureOrderCountLSB = lsb
      deltaPictureOrderCountBottom = bottom
      deltaPictureOrderCount0 = delta0
      deltaPictureOrderCount1 = delta1
      redundantPictureCount =
        parameters.isRedundantPictureCountPresent ? try reader.ue8(in: 0...127, "redundant_pic_cnt") : 0
      guard depth == .referenceMarking, !header.isScalable else {
        resetsPictureOrderCount = false
        return
      }
      let syntax = try ReferenceSyntax(
        &reader, sliceType: sliceType, isField: isField, isReference: header.referenceIDC != 0, isIDR: header.isIDR,
        isMultiview: isExtension, parameters: parameters, keepsWeights: keepsWeights)
      resetsPictureOrderCount = syntax.marking?.hasOperation5 ?? false
      references = syntax
    }
  }
}

extension H264.SliceHeader {
  /// Reads only whether `first_mb_in_slice` is 0: its code is then a single one bit. Needs no parameter set; nil for a
  /// type without slice header, or without a byte after the NAL unit header.
  public static func startsAtFirstMacroblock(_ nalUnit: Span<UInt8>) -> Bool? {
    guard nalUnit.count > 0 else { return nil }
    let type = H264.NALUnitType(headerByte: nalUnit[0])
    guard type.hasSliceHeader else { return nil }
    var offset = 1
    if type.hasHeaderExtension {
      guard nalUnit.count > 1 else { return nil }
      offset = type == .depthSliceExtension && nalUnit[1] & 0x80 != 0 ? 3 : 4
    }
    guard offset < nalUnit.count else { return nil }
    return nalUnit[offset] & 0x80 != 0
  }
}

extension H264.NALUnitHeader {
  /// `IdrPicFlag` (7.4.1, G.7.4.1.1 and F.7.4.1.1).
  public var isIDR: Bool {
    switch headerExtension {
    case .none: type == .idrSlice
    case .scalable(let scalable): scalable.isIDR
    case .multiview(let multiview): !multiview.isNonIDR
    // non_idr_flag is the tenth of the 15 bits.
    case .depth(let bits): bits >> 5 & 1 == 0
    }
  }

  /// Whether an SVC header extension is there.
  var isScalable: Bool {
    if case .scalable = headerExtension { true } else { false }
  }
}
