// SPDX-License-Identifier: MPL-2.0

/// A codec: everything that differs between H.264 and H.265, and nothing else.
///
/// Code that they share is written once over this protocol. A conforming type is a namespace (``H264``) whose
/// associated types are the syntax structures of its Recommendation, and the concrete types that other modules call:
/// ``Scanner`` and ``Inspector``. These wrap generic implementations, because other modules cannot specialize a
/// generic type.
public protocol VideoCodecSyntax: Sendable {
  // MARK: Names

  /// The codec.
  static var codec: FormatDescription.Codec { get }
  /// The Recommendation's name for people: "H.264".
  static var name: String { get }

  // MARK: NAL units

  /// `nal_unit_type`.
  associatedtype NALUnitType: NALUnitTypeSyntax
  /// Length of the NAL unit header in bytes, without extensions: 1 or 2.
  static var nalUnitHeaderLength: Int { get }
  /// An access unit delimiter that allows every slice type, header included.
  ///
  /// - Parameter temporalID: the temporal sub-layer of the next picture, and therefore of H.265's delimiter
  ///   (7.4.2.2).
  static func accessUnitDelimiter(temporalID: UInt8) -> [UInt8]
  /// The temporal sub-layer of a NAL unit, by its header; 0 if the codec has none.
  ///
  /// - Parameter nalUnit: the NAL unit, header included.
  static func temporalID(of nalUnit: Span<UInt8>) -> UInt8
  /// The types that a configuration record takes out of the stream; all parameter sets by default.
  static var typesInConfigurationRecord: NALUnitTypeSet { get }
  /// Returns the role of a NAL unit in its access unit, by its header.
  ///
  /// - Parameter nalUnit: the NAL unit, header included; an empty one is ``NALUnitRole/other``.
  static func role(of nalUnit: Span<UInt8>) -> NALUnitRole
  /// Whether other pictures may refer to the picture of this slice, by the NAL unit's header:
  /// ``SliceHeaderSyntax/isReference`` is more precise.
  ///
  /// - Parameter nalUnit: a slice, header included.
  static func isReference(_ nalUnit: Span<UInt8>) -> Bool
  /// Whether the slice begins its picture (`first_mb_in_slice` 0, `first_slice_segment_in_pic_flag`). Needs no
  /// parameter set; nil if it is truncated or the type has no slice header.
  static func startsPicture(_ nalUnit: Span<UInt8>) -> Bool?

  // MARK: Syntax structures

  /// The sequence parameter set.
  associatedtype SequenceParameterSet: SequenceParameterSetSyntax
  /// The parameter sets received so far.
  associatedtype ParameterSets: ParameterSetStore where ParameterSets.SequenceParameterSet == SequenceParameterSet
  /// The slice header, or slice segment header.
  associatedtype SliceHeader: SliceHeaderSyntax where SliceHeader.ParameterSets == ParameterSets
  /// The configuration record: avcC, hvcC.
  associatedtype ConfigurationRecord: ConfigurationRecordSyntax where ConfigurationRecord.ParameterSets == ParameterSets
  /// `recovery_point()` SEI.
  associatedtype RecoveryPoint: RecoveryPointSyntax
  /// Finds where access units begin.
  associatedtype AccessUnitDetector: AccessUnitDetecting
  where AccessUnitDetector.SliceHeader == SliceHeader, AccessUnitDetector.ParameterSets == ParameterSets
  /// Reads the order of pictures in decoding order.
  associatedtype PictureReader: PictureReading
  where PictureReader.SliceHeader == SliceHeader, PictureReader.SequenceParameterSet == SequenceParameterSet

  /// The description of a stream with these parameter sets.
  ///
  /// - Parameters:
  ///   - sets: all of them go into the description.
  ///   - sequenceParameterSetID: the SPS that is described, nil for the first there is.
  ///   - nalLengthSize: size of the stream's length prefixes; nil for start codes.
  /// - Throws: `.missingParameterSet` when the SPS is not there.
  static func formatDescription(
    _ sets: borrowing ParameterSets, sequenceParameterSetID: SequenceParameterSetID?, nalLengthSize: NALLengthSize?
  ) throws(BitstreamError) -> FormatDescription
  /// The description of a stream with this configuration record.
  ///
  /// - Throws: `.missingParameterSet` when it holds no SPS, or the error of reading its parameter sets.
  static func formatDescription(_ record: ConfigurationRecord) throws(BitstreamError) -> FormatDescription
  /// The configuration record of a description, with lengths of four bytes if the stream has start codes.
  ///
  /// - Throws: `.missingParameterSet` without an SPS, or the error of reading it.
  static func configurationRecord(_ format: FormatDescription) throws(BitstreamError) -> ConfigurationRecord
  /// Whether a slice is of the second field of a frame whose first field, in the picture before, has the slice `first`.
  static func isSecondField(_ slice: SliceHeader, of first: SliceHeader) -> Bool
  /// Returns the start of a slice, counted in the order in which slices are decoded: in H.265 by tile scan
  /// (7.4.2.4.5).
  static func decodingAddress(of slice: SliceHeader, parameterSets: borrowing ParameterSets) -> UInt32
  /// Whether a slice belongs to another picture than the slice before it in decoding order.
  static func isFirstOfPicture(_ slice: SliceHeader, after last: SliceHeader) -> Bool

  // MARK: Types that other modules call

  /// Splits a stream into access units.
  associatedtype Scanner: AccessUnitScanning where Scanner.Codec == Self
  /// Inspects an access unit.
  associatedtype Inspector: AccessUnitInspecting where Inspector.Codec == Self
}

extension VideoCodecSyntax {
  /// The address as it is sent.
  public static func decodingAddress(of slice: SliceHeader, parameterSets: borrowing ParameterSets) -> UInt32 {
    slice.address
  }
  /// All parameter sets.
  public static var typesInConfigurationRecord: NALUnitTypeSet {
    NALUnitTypeSet((0..<64).lazy.filter { NALUnitType(rawValue: $0).isParameterSet })
  }
}

/// `recovery_point()` SEI of a codec: when decoding starts here, a later picture and all after it are correct.
public protocol RecoveryPointSyntax: Sendable, Hashable {
  /// Reads a message of type ``SEIPayloadType/recoveryPoint``.
  ///
  /// - Throws: any ``BitstreamError``.
  init(_ message: borrowing SEIMessages.Message) throws(BitstreamError)
  /// How far behind this picture the first correct one is, in `frame_num` (H.264) or POC (H.265).
  var distance: Int { get }
  /// `exact_match_flag`: since the recovery point, pictures are the same as from a decoder that began earlier.
  var isExactMatch: Bool { get }
  /// `broken_link_flag`: pictures in front of the recovery point may be badly damaged.
  var isBrokenLink: Bool { get }
}

/// Reads the output order of pictures, in decoding order, for ``TimestampGenerator``.
public protocol PictureReading: Sendable {
  /// The slice headers that it reads.
  associatedtype SliceHeader: SliceHeaderSyntax
  /// The SPS that POC depends on.
  associatedtype SequenceParameterSet: SequenceParameterSetSyntax

  /// Creates a reader for the start of a stream.
  init()
  /// Returns the picture that begins with this slice, as the generator needs it.
  ///
  /// - Parameters:
  ///   - slice: the picture's first slice, at depth ``SliceHeaderDepth/referenceMarking`` if it
  ///     ``SliceHeaderSyntax/mayResetPOC``.
  ///   - sps: its SPS.
  mutating func picture(_ slice: SliceHeader, _ sps: borrowing SequenceParameterSet) -> TimestampGenerator.Picture
  /// An end of sequence or stream follows the last picture (``AccessUnitContents/endOfSequence``).
  mutating func endSequence()
}
