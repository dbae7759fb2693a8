// SPDX-License-Identifier: MPL-2.0

/// A rule that streams are checked against. Each case is a way to break it.
///
/// A rule's name, clauses and remedy stand in `text`. It is judged in this folder, where its case is reported, and
/// `RuleCases.swift` of the tests has a stream that breaks it, under the same case.
public enum Rule: Int, Sendable, CaseIterable {
  // MARK: NAL units

  /// Bytes other than zero before the first start code of a byte stream.
  case garbage
  /// `forbidden_zero_bit` is 1.
  case forbiddenBit
  /// A reserved or unspecified NAL unit type.
  case reservedType
  /// `nal_ref_idc` has a value that the NAL unit type does not allow.
  case referenceIDC
  /// `nuh_temporal_id_plus1` has a value that the NAL unit type does not allow.
  case temporalID
  /// A byte sequence inside a NAL unit that needs an emulation prevention byte.
  case emulationPrevention
  /// A NAL unit does not end with its trailing bits.
  case trailingBits
  /// A NAL unit that is shorter than its header.
  case truncated
  /// NAL units out of order in their access unit.
  case order
  /// An access unit without a picture.
  case noPicture
  /// The picture after an end of sequence or stream is no IDR or IRAP picture.
  case endOfStream

  // MARK: Parameter sets

  /// A parameter set that cannot be read.
  case unreadableParameterSet
  /// A slice without its PPS or SPS, or an SPS without its VPS.
  case missingParameterSet
  /// Reserved bits with another value than this edition requires, or a value that it reserves or forbids.
  case reservedValue
  /// An SPS that is activated within a coded video sequence: with another id or other contents than the active one.
  case setActivation
  /// A level that the standard does not have.
  case unknownLevel
  /// A profile that the standard does not have.
  case unknownProfile

  // MARK: Slices and pictures

  /// A slice whose header cannot be read.
  case unreadableSlice
  /// Slices of a picture out of order, or missing.
  case sliceOrder
  /// Slices of a picture whose headers contradict one another.
  case sliceMismatch
  /// A quantization parameter out of range.
  case quantization
  /// Slice data that cannot be read to their end; see ``ReportOptions/readsSliceData``.
  case sliceData
  /// Blocks of a picture that no slice covers; see ``ReportOptions/readsSliceData``.
  case missingBlocks
  /// A motion vector difference out of range; see ``ReportOptions/readsSliceData``.
  case vectorDifference
  /// Biprediction of parts smaller than the level allows; see ``ReportOptions/readsSliceData``.
  case bipredictionSize
  /// A macroblock or coding tree unit with too many bits; see ``ReportOptions/readsSliceData``.
  case blockBits
  /// A picture with more bins than its bytes allow; see ``ReportOptions/readsSliceData``.
  case binCount
  /// A gap in `frame_num` that the SPS does not allow.
  case frameNumberGap
  /// `frame_num` is not incremented after a reference picture.
  case frameNumberRepeated
  /// Two IDR pictures in a row with one `idr_pic_id`.
  case idrPictureID
  /// Two pictures of a sequence with one picture order count.
  case pictureOrderRepeated
  /// A picture refers to a missing picture.
  case missingReference
  /// A memory management control operation (MMCO) names a missing picture.
  case missingMarked
  /// More reference pictures than the SPS allows.
  case tooManyReferences
  /// Leading pictures after a trailing picture, or of a type that their IRAP picture does not allow.
  case leadingPictures
  /// The stream does not begin with a keyframe.
  case startsLate

  // MARK: SEI

  /// An SEI message that cannot be read, or has a forbidden value.
  case unreadableSEI
  /// HRD parameters without the buffering period or picture timing SEI that they require.
  case missingTimingSEI
  /// The access unit delimiter or picture timing SEI contradicts the picture.
  case pictureType

  // MARK: Captions and dynamic metadata

  /// An RPU of Dolby Vision whose CRC is wrong, or that cannot be read.
  case rpuCRC
  /// A picture without RPU in a stream whose other pictures have one.
  case rpuMissing
  /// Two RPUs in a picture.
  case rpuRepeated
  /// A NAL unit of Dolby Vision after the end of a sequence.
  case rpuAfterEnd
  /// HDR10+ without the mastering display of ST 2086.
  case hdr10PlusWithoutMasteringDisplay
  /// A `cc_count` that does not fit a fixed frame rate.
  case captionCount
  /// Captions of CTA-608 in decoding order.
  case captionOrder

  // MARK: Levels and profiles

  /// Pictures larger than the level allows.
  case levelFrameSize
  /// More pictures a second than the level allows.
  case levelRate
  /// More pictures a second by the container's times than the level allows.
  case levelMeasuredRate
  /// A larger decoded picture buffer than the level allows.
  case levelBuffer
  /// A higher bit rate than the level allows.
  case levelBitRate
  /// A larger coded picture buffer than the level allows.
  case levelCodedBuffer
  /// More tiles than the level allows.
  case levelTiles
  /// A coding tool that the profile does not have.
  case profileTool
  /// A chroma format or bit depth that the profile does not have.
  case profileFormat

  // MARK: Buffers

  /// More reordered frames than signalled.
  case reorderDepth
  /// A picture is decoded after the decoded picture buffer had to output a picture that follows it.
  case outputOrder
  /// The decoded picture buffer overflows.
  case decodedBufferFull
  /// A picture that begins a coded video sequence discards pictures that wait for output.
  case discardedOutput
  /// At its removal time, a picture is not completely in the coded picture buffer that HRD parameters describe.
  case bufferUnderflow
  /// The coded picture buffer overflows at a constant bit rate.
  case bufferOverflow
  /// As ``bufferUnderflow``, for a stream without HRD parameters at the highest bit rate of its level.
  case levelUnderflow

  // MARK: Container

  /// A sync sample that is no random access point, or an IDR picture that is no sync sample.
  case containerSync
  /// The container has another picture size than the SPS.
  case containerSize
  /// Parameter sets in the stream that are not in the container's configuration record.
  case containerParameterSets
  /// avcC or hvcC cannot be read, has no SPS, or contradicts it.
  case containerConfiguration
  /// Decoding times that descend, or presentation times in another order than picture order counts.
  case containerTimestamps
  /// A sample is not one access unit.
  case containerSample
  /// A NAL unit in a sample ends with a zero byte, as muxers make them of byte streams.
  case containerTrailingZero
  /// The container has another colour description than the VUI.
  case containerColour
  /// The container's timestamps have another frame rate than the VUI.
  case containerFrameRate
  /// The container's record of Dolby Vision contradicts the RPUs or the VUI.
  case dolbyVisionRecord
  /// An edit whose media rate is not 1.
  case containerEditRate

  // MARK: Decoders

  /// A format that many hardware decoders do not support.
  case decoderFormat
  /// A level that many hardware decoders do not support.
  case decoderLevel
  /// Pictures of layers or views above the base layer, which most decoders skip.
  case decoderLayers
}
