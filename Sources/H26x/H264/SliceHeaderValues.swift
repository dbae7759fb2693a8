// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// The values of a whole slice header (7.3.3), to be changed and written again under other parameter sets.
  ///
  /// Values that the slice data depends on are constant.
  package struct SliceHeaderValues: Sendable, Hashable {
    /// `first_mb_in_slice`.
    package let firstMacroblock: UInt32
    /// `slice_type` modulo 5.
    package let sliceType: SliceHeader.SliceType
    /// Whether `slice_type` is 5 to 9: all slices of the picture are of this type.
    package var isTypeOfWholePicture: Bool
    /// `pic_parameter_set_id`.
    package var pictureParameterSetID: PictureParameterSetID
    /// `colour_plane_id`, 0 to 2; 0 if absent.
    package let colourPlaneID: UInt8
    /// `frame_num`, modulo MaxFrameNum of the SPS. If the new SPS has another MaxFrameNum, numbers that have wrapped
    /// around must be set.
    package var frameNumber: UInt32
    /// `field_pic_flag`.
    package let isField: Bool
    /// `bottom_field_flag`.
    package let isBottomField: Bool
    /// Whether the picture is an IDR picture.
    package private(set) var isIDR: Bool
    /// `idr_pic_id`, which is sent for IDR pictures only.
    package var idrPictureID: UInt16
    /// The syntax of the picture order count.
    package var pictureOrder: PictureOrder
    /// `redundant_pic_cnt`, 0 to 127; 0 if absent.
    package var redundantPictureCount: UInt8
    /// The part about reference pictures.
    package var references: References
    /// `cabac_init_idc`, 0 to 2; 0 if absent.
    package let cabacInitIDC: UInt8
    /// `SliceQPY` (7.4.3).
    package let quantizationParameter: Int
    /// `sp_for_switch_flag`.
    package let isForSwitching: Bool
    /// `QSY` (7.4.3); nil outside SP and SI slices.
    package let switchingQuantizationParameter: Int?
    /// Control of the deblocking filter.
    package var deblocking: Deblocking
    /// `slice_group_change_cycle`; 0 if absent.
    package let sliceGroupChangeCycle: UInt32

    /// The syntax of the picture order count (8.2.1).
    package enum PictureOrder: Sendable, Hashable {
      /// `pic_order_cnt_type` 0: `pic_order_cnt_lsb` and `delta_pic_order_cnt_bottom`, which is 0 if absent.
      case leastSignificantBits(UInt32, deltaBottom: Int32)
      /// `pic_order_cnt_type` 1: `delta_pic_order_cnt[0]` and `delta_pic_order_cnt[1]`, which are 0 if absent.
      case differences(Int32, Int32)
      /// `pic_order_cnt_type` 2: output order is decoding order.
      case decodingOrder
    }

    /// The syntax about reference pictures (7.3.3.1 to 7.3.3.3).
    package struct References: Sendable, Hashable {
      /// The values as they were read.
      package let syntax: ReferenceSyntax
      /// `dec_ref_pic_marking()`; nil for non-reference pictures.
      package var marking: ReferenceSyntax.ReferenceMarking?
    }

    /// Control of the deblocking filter (7.4.3).
    package struct Deblocking: Sendable, Hashable {
      /// `disable_deblocking_filter_idc`, 0 to 2.
      package var disableIDC: UInt8
      /// `slice_alpha_c0_offset_div2`, −6 to 6; sent unless ``disableIDC`` is 1.
      package var alphaOffsetDiv2: Int8
      /// `slice_beta_offset_div2`, −6 to 6; sent unless ``disableIDC`` is 1.
      package var betaOffsetDiv2: Int8

      /// Creates the values that a slice without these elements has.
      package init() { (disableIDC, alphaOffsetDiv2, betaOffsetDiv2) = (0, 0, 0) }
    }

    /// Takes the values of a header.
    ///
    /// - Throws: `.unsupported` for the header of an SVC slice, which is not read to its end.
    package init(_ whole: WholeSliceHeader) throws(BitstreamError) {
      guard let references = whole.references, let quantizationParameter = whole.quantizationParameter else {
        throw BitstreamError(.unsupported, "svc_extension_flag", bitOffset: 8)
      }
      let header = whole.header
      firstMacroblock = header.firstMacroblock
      sliceType = header.sliceType
      isTypeOfWholePicture = header.isTypeOfWholePicture
      pictureParameterSetID = header.pictureParameterSetID
      colourPlaneID = header.colourPlaneID
      frameNumber = header.frameNumber
      (isField, isBottomField) = (header.isField, header.isBottomField)
      (isIDR, idrPictureID) = (header.isIDR, header.idrPictureID)
      pictureOrder =
        switch header.pictureOrderCountType {
        case 0:
          .leastSignificantBits(header.pictureOrderCountLSB, deltaBottom: header.deltaPictureOrderCountBottom)
        case 1: .differences(header.deltaPictureOrderCount0, header.deltaPictureOrderCount1)
        default: .decodingOrder
        }
      redundantPictureCount = header.redundantPictureCount
      self.references = References(syntax: references, marking: references.marking)
      cabacInitIDC = whole.cabacInitIDC
      self.quantizationParameter = quantizationParameter
      isForSwitching = whole.isForSwitching
      switchingQuantizationParameter = whole.switchingQuantizationParameter
      deblocking = Deblocking()
      deblocking.disableIDC = whole.disableDeblockingFilterIDC
      deblocking.alphaOffsetDiv2 = whole.alphaOffsetDiv2
      deblocking.betaOffsetDiv2 = whole.betaOffsetDiv2
      sliceGroupChangeCycle = whole.sliceGroupChangeCycle
    }
  }
}

extension H264.SliceHeaderValues {
  /// Makes the picture, all slices of which are intra, a short-term IDR picture (3.69). ``pictureOrder`` stays.
  ///
  /// - Parameter id: `idr_pic_id`.
  package mutating func makeIDR(id: UInt16) {
    (isIDR, idrPictureID, frameNumber) = (true, id, 0)
    references.marking = .idr(noOutputOfPriorPictures: false, isLongTerm: false)
  }
}
