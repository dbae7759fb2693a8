// SPDX-License-Identifier: MPL-2.0

/// The slice header of a codec, as far as access units, POC and random access need it. A plain value without
/// references.
public protocol SliceHeaderSyntax: Sendable {
  /// The parameter sets to read it with.
  associatedtype ParameterSets: Sendable
  /// Its syntax about reference pictures.
  associatedtype References: Sendable
  /// Whether every picture sends all references that it and later ones need (H.265's reference picture sets).
  static var sendsReferences: Bool { get }

  /// Reads the header of a slice NAL unit with its syntax about reference pictures; nil if the slice before has it.
  ///
  /// - Throws: `.missingParameterSet` when the PPS or its SPS is not there, or any other ``BitstreamError``.
  static func withReferences(
    nalUnit: Span<UInt8>, parameterSets: borrowing ParameterSets
  ) throws(BitstreamError) -> (header: Self, references: References?)

  /// Reads the header of a slice NAL unit, which may be truncated after the elements that `depth` needs.
  ///
  /// - Throws: `.missingParameterSet` when the PPS or its SPS is not there, or any other ``BitstreamError``.
  init(nalUnit: Span<UInt8>, parameterSets: borrowing ParameterSets, depth: SliceHeaderDepth) throws(BitstreamError)

  /// `pic_parameter_set_id`.
  var pictureParameterSetID: PictureParameterSetID { get }
  /// `seq_parameter_set_id` of that PPS.
  var sequenceParameterSetID: SequenceParameterSetID { get }
  /// The temporal sub-layer of the picture; 0 if the codec has none.
  var temporalID: UInt8 { get }
  /// Whether the picture is an IDR picture.
  var isIDR: Bool { get }
  /// Whether other pictures may refer to the picture.
  var isReference: Bool { get }
  /// Whether the picture is a single field.
  var isField: Bool { get }
  /// Whether it is a bottom field.
  var isBottomField: Bool { get }
  /// Whether the slice repeats a part of the primary picture.
  var isRedundant: Bool { get }
  /// The start of the slice: the address of its first block (`first_mb_in_slice`, `slice_segment_address`).
  var address: UInt32 { get }
  /// Whether the slice begins its picture.
  var isFirstInPicture: Bool { get }
  /// How it may be predicted; nil if it is inherited from the slice segment before (H.265's dependent slice
  /// segments).
  var prediction: SlicePrediction? { get }
  /// Whether POC needs the header read at depth ``SliceHeaderDepth/referenceMarking``.
  var mayResetPOC: Bool { get }
}

/// How far a slice header is read.
public enum SliceHeaderDepth: Sendable {
  /// Up to the elements that distinguish pictures and order them.
  case pictureIdentity
  /// Up to reference marking, where H.264 may reset POC (MMCO 5).
  case referenceMarking
}

/// How the blocks of a slice may be predicted.
public enum SlicePrediction: Sendable, Hashable {
  /// I and SI slices.
  case intra
  /// P and SP slices.
  case forward
  /// B slices.
  case bidirectional
}
