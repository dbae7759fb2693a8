// SPDX-License-Identifier: MPL-2.0

/// How far a slice header is read.
public enum SliceHeaderDepth: Sendable {
  /// All that tells pictures apart and orders them.
  case pictureIdentity
  /// On through reference marking, where H.264 may reset picture order counts.
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

/// The slice header of a codec, as far as access units, order and random access need it. A plain value without
/// references.
public protocol SliceHeaderSyntax: Sendable {
  /// Where it looks up its parameter sets.
  associatedtype ParameterSets: Sendable

  /// Reads the header of a slice NAL unit. A cut-off NAL unit will do if it reaches as far as `depth` asks for.
  ///
  /// - Throws: `.missingParameterSet` when the PPS or its SPS is not there, or any other ``BitstreamError``.
  init(nalUnit: Span<UInt8>, parameterSets: borrowing ParameterSets, depth: SliceHeaderDepth) throws(BitstreamError)

  /// `pic_parameter_set_id`.
  var pictureParameterSetID: UInt8 { get }
  /// `seq_parameter_set_id` of that PPS.
  var sequenceParameterSetID: UInt8 { get }
  /// The temporal sub-layer of the picture; 0 where the codec's NAL units are of none.
  var temporalID: UInt8 { get }
  /// Whether the picture is an IDR picture.
  var isIDR: Bool { get }
  /// Whether other pictures may refer to the picture.
  var isReference: Bool { get }
  /// Whether the picture is a single field.
  var isField: Bool { get }
  /// Whether it is a bottom field.
  var isBottomField: Bool { get }
  /// Whether the slice repeats a part of a picture that is there already.
  var isRedundant: Bool { get }
  /// Whether the slice begins its picture.
  var isFirstInPicture: Bool { get }
  /// How it may be predicted; nil when the slice before says so (H.265's dependent slice segments).
  var prediction: SlicePrediction? { get }
  /// Whether picture order count needs the header read to ``SliceHeaderDepth/referenceMarking``.
  var mayResetPOC: Bool { get }
}

/// `recovery_point()` SEI of a codec: decoding that starts here is right from a later picture on.
public protocol RecoveryPointSyntax: Sendable, Hashable {
  /// Reads a message of type ``SEIPayloadType/recoveryPoint``.
  ///
  /// - Throws: any ``BitstreamError``.
  init(_ message: borrowing SEIMessages.Message) throws(BitstreamError)
}
