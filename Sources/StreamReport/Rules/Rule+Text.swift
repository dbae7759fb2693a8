// SPDX-License-Identifier: MPL-2.0

extension Rule {
  /// The texts of a rule: its name, the clauses of H.264 and H.265, and the remedy.
  struct Text {
    let name: StaticString
    let severity: Finding.Severity
    let h264: StaticString
    let h265: StaticString
    let remedy: StaticString

    init(
      _ name: StaticString, _ severity: Finding.Severity, _ h264: StaticString, _ h265: StaticString,
      _ remedy: StaticString
    ) {
      (self.name, self.severity, self.h264, self.h265, self.remedy) = (name, severity, h264, h265, remedy)
    }
  }

  /// Its name, such as `level-frame-size`, which is the same in all versions of this library.
  public var name: StaticString { text.name }
  /// How serious it is to break it.
  public var severity: Finding.Severity { text.severity }
  /// How to mend a stream that breaks it.
  public var remedy: StaticString { text.remedy }

  // Clauses refer to H.264 (2021-08) and H.265 (2021-08).
  var text: Text {
    switch self {
    case .garbage:
      .init(
        "garbage", .error, "B.1.1", "B.2.1",
        "Remove the bytes, or find the place at which the stream was cut or joined.")
    case .forbiddenBit:
      .init("forbidden-bit", .error, "7.4.1", "7.4.2.2", "The NAL unit is damaged, or the stream is of another codec.")
    case .reservedType:
      .init(
        "reserved-type", .warning, "Table 7-1", "Table 7-1",
        "Decoders ignore the NAL unit; remove it if no application needs it.")
    case .referenceIDC:
      .init("nal-ref-idc", .error, "7.4.1", "-", "Set nal_ref_idc as the NAL unit type requires.")
    case .temporalID:
      .init("temporal-id", .error, "-", "7.4.2.2", "Set nuh_temporal_id_plus1 as the NAL unit type requires.")
    case .emulationPrevention:
      .init(
        "emulation-prevention", .error, "7.4.1", "7.4.2",
        "Write an emulation prevention byte (03) between two zero bytes and a byte below 4.")
    case .trailingBits:
      .init(
        "trailing-bits", .error, "7.3.2.11, 7.4.1", "7.3.2.11, 7.4.2",
        "End the NAL unit with a one bit and zero bits; its last byte must not be zero.")
    case .truncated:
      .init("truncated", .error, "7.3.1", "7.3.1.1", "The file or the NAL unit is cut off.")
    case .order:
      .init("nal-order", .error, "7.4.1.2.3", "7.4.2.4.4", "Put NAL units in the order of the standard.")
    case .noPicture:
      .init(
        "no-picture", .error, "7.4.1.2.3", "7.4.2.4.4",
        "Every access unit needs a picture; drop an access unit that has none.")
    case .endOfStream:
      .init(
        "after-end", .error, "7.4.1.2.2", "7.4.2.4.3",
        "Begin with an IDR or IRAP picture after the end of a sequence or stream.")
    case .unreadableParameterSet:
      .init("parameter-set", .error, "7.4.2", "7.4.3", "Rewrite the parameter set.")
    case .missingParameterSet:
      .init(
        "missing-parameter-set", .error, "7.4.1.2.1", "7.4.2.4.2",
        "Send parameter sets before the pictures that need them.")
    case .reservedValue:
      .init(
        "reserved-value", .error, "7.4.2.1.1", "7.4.4",
        "Set a value that the standard allows; some decoders refuse others.")
    case .setActivation:
      .init(
        "set-activation", .error, "7.4.1.2.1", "7.4.2.4.2",
        "Change the SPS only at an IDR picture, or in H.265 at an IRAP picture that begins a coded video sequence.")
    case .unknownLevel: .init("unknown-level", .error, "A.3", "A.4", "Set a level of the standard.")
    case .unknownProfile:
      .init("unknown-profile", .warning, "A.2", "A.3", "Set a profile of the standard; decoders may refuse others.")
    case .unreadableSlice:
      .init(
        "slice-header", .error, "7.4.3", "7.4.7.1",
        "The slice is damaged, or its parameter sets belong to another stream.")
    case .sliceOrder:
      .init(
        "slice-order", .error, "7.4.3", "7.4.7.1", "Slices were lost or reordered; send the whole picture in order.")
    case .sliceMismatch:
      .init("slice-mismatch", .error, "7.4.1.2.4", "7.4.2.2", "All slices of a picture must agree.")
    case .quantization:
      .init(
        "qp-range", .error, "7.4.3", "7.4.7.1", "Keep the quantization parameter within the range of the bit depth.")
    case .sliceData:
      .init(
        "slice-data", .error, "7.3.4", "7.3.8",
        "The slice is damaged, or its encoder is faulty; decoders show other pictures than the encoder's.")
    case .missingBlocks:
      .init(
        "missing-blocks", .error, "7.4.3", "7.4.7.1", "Slices were lost, or end too early; send the whole picture.")
    case .vectorDifference:
      .init(
        "mvd-range", .error, "A.3.1, A.3.2", "7.4.9.9",
        "Limit the encoder's motion vectors; hardware decoders may show wrong pictures.")
    case .bipredictionSize:
      .init(
        "bipred-size", .error, "A.3.3", "-",
        "Predict parts below 8x8 from one picture, or signal a level below 3.1; hardware decoders may fail.")
    case .blockBits:
      .init(
        "block-bits", .error, "A.3.1, A.3.2", "A.3",
        "Code the block as PCM or with a higher QP; hardware decoders may fail.")
    case .binCount:
      .init(
        "bin-count", .error, "7.4.2.10", "7.4.3.10",
        "Append cabac_zero_words to the picture's last slice; hardware decoders may be too slow for it.")
    case .frameNumberGap:
      .init(
        "frame-num-gap", .error, "7.4.3", "-",
        "Reference pictures were lost. To allow gaps, set gaps_in_frame_num_value_allowed_flag in the SPS."
      )
    case .frameNumberRepeated:
      .init("frame-num-repeated", .error, "7.4.3", "-", "Increment frame_num after each reference picture.")
    case .idrPictureID:
      .init("idr-pic-id", .error, "7.4.3", "-", "Give consecutive IDR pictures different values of idr_pic_id.")
    case .pictureOrderRepeated:
      .init("poc-repeated", .error, "8.2.1", "8.3.1", "Give each picture of a sequence a POC of its own.")
    case .missingReference:
      .init(
        "missing-reference", .error, "8.2.4", "8.3.2",
        "A picture that this one refers to was lost or never sent; request a keyframe.")
    case .missingMarked:
      .init("marking-of-missing", .error, "8.2.5.4", "-", "A picture that this one marks was lost or never sent.")
    case .tooManyReferences:
      .init(
        "too-many-references", .error, "8.2.5.3, E.2.1", "8.3.2",
        "Mark fewer pictures as references, or signal more in the SPS.")
    case .leadingPictures:
      .init(
        "leading-pictures", .error, "-", "7.4.2.2",
        "Send leading pictures directly after their IRAP picture, and only with types that it allows.")
    case .startsLate:
      .init(
        "no-keyframe-first", .warning, "7.4.1.2.2", "7.4.2.4.3",
        "Begin with an IDR picture; decoders show nothing or broken pictures up to the first keyframe.")
    case .unreadableSEI: .init("sei", .warning, "D.2", "D.3", "Drop or rewrite the message.")
    case .missingTimingSEI:
      .init(
        "missing-timing-sei", .warning, "D.2", "D.3",
        "Send buffering period SEI with keyframes and picture timing SEI with all pictures, or no HRD parameters.")
    case .pictureType:
      .init(
        "picture-type", .error, "7.4.2.4, D.2", "7.4.3.5, D.3",
        "Signal the picture's own type: its slice types in the delimiter, frame or field in pic_struct.")
    case .rpuCRC:
      .init(
        "rpu-crc", .error, "ETSI GS CCM 001, 5.3.1", "ETSI GS CCM 001, 5.3.1",
        "The metadata of Dolby Vision is damaged; take it from the source again.")
    case .rpuMissing:
      .init(
        "rpu-missing", .warning, "ETSI GS CCM 001, 5.3.1", "ETSI GS CCM 001, 5.3.1",
        "Send an RPU with each picture; players may flicker or leave Dolby Vision.")
    case .rpuRepeated:
      .init(
        "rpu-repeated", .warning, "ETSI GS CCM 001, 5.3.1", "ETSI GS CCM 001, 5.3.1",
        "Send one RPU with each picture; the stream may have got them twice.")
    case .rpuAfterEnd:
      .init(
        "rpu-after-end", .warning, "7.4.1.2.3", "7.4.2.4.4",
        "Put metadata of Dolby Vision before the end of sequence; some decoders lose it behind.")
    case .hdr10PlusWithoutMasteringDisplay:
      .init(
        "hdr10plus-without-st2086", .warning, "SMPTE ST 2094-40", "SMPTE ST 2094-40",
        "Add mastering display SEI; displays may ignore HDR10+ without it.")
    case .captionCount:
      .init(
        "cc-count", .warning, "ATSC A/53-4, 6.2.3.1", "ATSC A/53-4, 6.2.3.1",
        "Pad cc_data to the count of the frame rate; strict decoders lose captions.")
    case .captionOrder:
      .init(
        "captions-order", .warning, "ATSC A/53-4, 6.2.3", "ATSC A/53-4, 6.2.3",
        "Attach captions in presentation order; players show garbled text.")
    case .levelFrameSize:
      .init("level-frame-size", .error, "A.3.1, Table A-1", "A.4.1, Table A.8", "Signal a higher level.")
    case .levelRate:
      .init(
        "level-rate", .error, "A.3.1, Table A-1", "A.4.2, Table A.9", "Signal a higher level, or a lower frame rate.")
    case .levelMeasuredRate:
      .init(
        "level-measured-rate", .warning, "A.3.1, Table A-1", "A.4.2, Table A.9",
        "Signal a higher level, or a lower frame rate.")
    case .levelBuffer:
      .init("level-dpb", .error, "A.3.1, Table A-1", "A.4.2", "Use fewer reference pictures or signal a higher level.")
    case .levelBitRate:
      .init(
        "level-bitrate", .error, "A.3.1, Table A-1", "A.4.2, Table A.9", "Lower the bit rate or signal a higher level.")
    case .levelCodedBuffer:
      .init(
        "level-cpb", .error, "A.3.1, Table A-1", "A.4.1, Table A.8", "Lower the buffer size or signal a higher level.")
    case .levelTiles:
      .init("level-tiles", .error, "-", "A.4.1, Table A.8", "Use fewer tiles or signal a higher level.")
    case .profileTool:
      .init("profile-tool", .error, "A.2", "A.3", "Signal a profile that has the tool, or do without it.")
    case .profileFormat:
      .init("profile-format", .error, "A.2", "A.3", "Signal a profile that has the chroma format and bit depth.")
    case .reorderDepth:
      .init(
        "reorder-depth", .error, "E.2.1", "C.5.2",
        "Signal the actual reorder depth (h26x edit --latency auto), or players may show pictures too late.")
    case .outputOrder:
      .init("output-order", .error, "C.4.5.3", "C.5.2.4", "Signal a larger decoded picture buffer or reorder less.")
    case .decodedBufferFull:
      .init("dpb-full", .error, "C.4.5.3", "C.5.2.2", "Keep fewer pictures, or signal a larger decoded picture buffer.")
    case .discardedOutput:
      .init(
        "discarded-output", .warning, "C.4.4", "C.5.2.2",
        "Begin the sequence with an IDR or BLA picture whose no_output_of_prior_pics_flag is 0; decoders drop pictures."
      )
    case .bufferUnderflow:
      .init(
        "cpb-underflow", .error, "C.3", "C.4",
        "The picture is too large to arrive in time; make it smaller, or signal another rate or buffer.")
    case .bufferOverflow:
      .init(
        "cpb-overflow", .error, "C.3", "C.4", "Pictures are too small for the bit rate; add filler or lower the rate.")
    case .levelUnderflow:
      .init(
        "level-underflow", .warning, "A.3.1, C.1", "A.4.1, C.1",
        "At the highest bit rate of its level, the picture arrives too late; signal a higher level.")
    case .containerSync:
      .init(
        "container-sync", .warning, "ISO/IEC 14496-15, 5.4.3", "ISO/IEC 14496-15, 8.4.3",
        "Mux again: seeking relies on the container's sync samples.")
    case .containerSize:
      .init(
        "container-size", .warning, "ISO/IEC 14496-15, 5.4.2", "ISO/IEC 14496-15, 8.4.1",
        "Write the cropped size of the SPS into the sample description.")
    case .containerParameterSets:
      .init(
        "container-parameter-sets", .warning, "ISO/IEC 14496-15, 5.4.2", "ISO/IEC 14496-15, 8.4.1",
        "Parameter sets in the stream differ from the container's: use sample entry avc3 or hev1, or mux again.")
    case .containerConfiguration:
      .init(
        "container-configuration", .error, "ISO/IEC 14496-15, 5.3.3", "ISO/IEC 14496-15, 8.3.3",
        "Rewrite avcC or hvcC from the stream's parameter sets.")
    case .containerTimestamps:
      .init(
        "container-timestamps", .warning, "ISO/IEC 14496-12, 8.6", "ISO/IEC 14496-12, 8.6",
        "Give samples the presentation order of their POCs.")
    case .containerSample:
      .init(
        "container-sample", .error, "ISO/IEC 14496-15, 5.2.2", "ISO/IEC 14496-15, 8.2",
        "A sample must be one access unit whose NAL units fill it.")
    case .containerTrailingZero:
      .init(
        "container-trailing-zero", .warning, "7.4.1; ISO/IEC 14496-15, 5.2.2", "7.4.2; ISO/IEC 14496-15, 8.2",
        "Mux again without the zero byte that belongs to the next start code of a byte stream.")
    case .containerColour:
      .init(
        "container-colour", .warning, "ISO/IEC 14496-12, 12.1.5", "ISO/IEC 14496-12, 12.1.5",
        "Make colr and the VUI equal: players use one or the other.")
    case .containerFrameRate:
      .init(
        "container-frame-rate", .warning, "E.2.1", "E.3.1",
        "Mux again with the right frame rate, or encode with the frame rate of playback.")
    case .dolbyVisionRecord:
      .init(
        "dolby-vision-record", .warning, "Dolby Vision in ISOBMFF, 3.1", "Dolby Vision in ISOBMFF, 3.1",
        "Write the record that the stream calls for: players choose their decoder by it.")
    case .containerEditRate:
      .init(
        "container-edit-rate", .warning, "ISO/IEC 14496-12, 8.6.6", "ISO/IEC 14496-12, 8.6.6",
        "Write edits with a media_rate of 1: few players support others.")
    case .decoderFormat:
      .init(
        "decoder-format", .note, "-", "-",
        "For information: many hardware decoders and browsers support only 8-bit 4:2:0 progressive, or 10-bit for HDR.")
    case .decoderLevel:
      .init("decoder-level", .note, "-", "-", "Many hardware decoders support only levels up to 5.1 or 5.2.")
    case .decoderLayers:
      .init(
        "decoder-layers", .note, "-", "-",
        "For information: most decoders show only the base layer; h26x edit --remove-layers removes the others.")
    }
  }
}
